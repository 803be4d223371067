import { expect, test } from "vitest";
import { completedPayment, paymentBody, type Sandbox, start } from "./running.ts";

const refundBody = {
  amount: 250.25,
  accountType: "PERSONAL_ACCOUNT",
  accountNumber: "01812345678",
  note: "damaged",
};

test("all that is wrong with a body is named at once", async () => {
  const reply = await (await start()).post("/payment/create", {
    amount: "1",
    redirect_url: "nowhere",
    callback_url: "ftp://shop.example",
    paymentMethodId: "none",
    currency: "BDT",
    constructor: 1,
  });
  expect(reply.status).toBe(400);
  for (const problem of [
    "amount must be of type number.",
    "description is required.",
    "redirect_url must be a web URL.",
    "callback_url must be a web URL.",
    "paymentMethodId must be the id of one of GET /payment/methods.",
    '"currency" is not a field of this request.',
    '"constructor" is not a field of this request.',
  ]) {
    expect(reply.body.message).toContain(problem);
  }
});

test("a body with ten thousand unknown fields gets a short answer", async () => {
  const fields = Array.from({ length: 10_000 }, (_, index) => [`field${index}`, 1]);
  const reply = await (await start()).post("/payment/create", Object.fromEntries(fields));
  expect(reply.body.message).toMatch(/ And \d+ more\.$/);
  expect(reply.text.length).toBeLessThan(3000);
});

test("a payment is Processing until it is triggered; a second trigger changes nothing", async () => {
  const now = { ms: Date.parse("2026-11-20T04:30:00.000Z") };
  const sandbox = await start({ now: () => now.ms });
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const { transactionId } = body.data;
  now.ms += 1000;
  const first = await sandbox.post("/sandbox/trigger-payment", { transactionId });
  now.ms += 1000;
  const second = await sandbox.post("/sandbox/trigger-payment", { transactionId });
  expect(first.body.data).toMatchObject({
    status: "Completed",
    paymentMethod: "bKash",
    createdAt: "2026-11-20T04:30:00.000Z",
    updatedAt: "2026-11-20T04:30:01.000Z",
  });
  expect(second).toEqual(first);
});

test.each(["/payment/retrieve/TX0", "/payout/retrieve/PO0", "/refund/retrieve/RF0"])(
  "%s is unknown",
  async (path) => {
    expect(await (await start()).get(path)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
  },
);

test("triggering what is unknown or cancelled is refused", async () => {
  const sandbox = await start();
  const trigger = (transactionId: unknown) =>
    sandbox.post("/sandbox/trigger-payment", { transactionId });
  expect((await trigger("TX0")).status).toBe(404);
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const id = body.data.transactionId;
  await sandbox.post("/local/status", { kind: "payment", id, status: "Cancelled" });
  expect(await trigger(id)).toMatchObject({ status: 409, body: { code: "ALREADY_ENDED" } });
});

test("only a completed payment is refunded", async () => {
  const sandbox = await start();
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const { transactionId } = body.data;
  const early = await sandbox.post("/refund/create-a-request", { ...refundBody, transactionId });
  expect(early).toMatchObject({ status: 409, body: { code: "PAYMENT_NOT_COMPLETED" } });
  const unknown = { ...refundBody, transactionId: "TX0" };
  expect((await sandbox.post("/refund/create-a-request", unknown)).status).toBe(404);
});

test("refunds never give back more than was paid; a cancelled one no longer counts", async () => {
  const sandbox = await start();
  const transactionId = await completedPayment(sandbox);
  const ask = (amount: number) =>
    sandbox.post("/refund/create-a-request", { ...refundBody, transactionId, amount });
  expect((await ask(1250.51)).status).toBe(422);
  const first = await ask(1000.25);
  expect(first.status).toBe(200);
  expect((await ask(250.26)).body).toMatchObject({
    code: "REFUND_EXCEEDS_PAYMENT",
    message: "Of this payment, 250.25 is left to refund.",
  });
  expect((await ask(250.25)).status).toBe(200);
  expect((await ask(0.01)).status).toBe(422);
  await cancel(sandbox, first.body.data.refundRequestId);
  expect((await ask(1000.25)).status).toBe(200);
});

test("a completed refund still counts", async () => {
  const sandbox = await start();
  const transactionId = await completedPayment(sandbox);
  const body = { ...refundBody, transactionId, amount: 1250.5 };
  const { body: first } = await sandbox.post("/refund/create-a-request", body);
  const id = first.data.refundRequestId;
  await sandbox.post("/local/status", { kind: "refund", id, status: "Completed" });
  expect((await sandbox.post("/refund/create-a-request", { ...body, amount: 1 })).status).toBe(422);
});

test.each([
  [{ accountType: "OTHER" }, "accountType must be PERSONAL_ACCOUNT or BUSINESS_ACCOUNT."],
  [{ accountNumber: "" }, "accountNumber must not be empty."],
  [{ amount: 0 }, "amount must be above zero"],
])("a refund with %o is refused", async (fields, problem) => {
  const sandbox = await start();
  const transactionId = await completedPayment(sandbox);
  const body = { ...refundBody, transactionId, ...fields };
  const reply = await sandbox.post("/refund/create-a-request", body);
  expect(reply.status).toBe(400);
  expect(reply.body.message).toContain(problem);
});

test("a refund is cancelled once, and keeps its note unless another is given", async () => {
  const sandbox = await start();
  const transactionId = await completedPayment(sandbox);
  const create = () => sandbox.post("/refund/create-a-request", { ...refundBody, transactionId });
  const [one, other] = [await create(), await create()].map(
    ({ body }) => body.data.refundRequestId,
  );
  expect((await cancel(sandbox, one)).body.data).toMatchObject({
    status: "Cancelled",
    note: "damaged",
  });
  expect((await cancel(sandbox, other, "kept")).body.data).toMatchObject({ note: "kept" });
  expect(await cancel(sandbox, one)).toMatchObject({
    status: 409,
    body: { code: "ALREADY_ENDED" },
  });
  expect((await sandbox.get(`/refund/retrieve/${other}`)).body.data.note).toBe("kept");
  expect((await cancel(sandbox, "RF0")).status).toBe(404);
});

test("records complete themselves when their time has come, and stay so", async () => {
  const now = { ms: Date.parse("2026-11-20T04:30:00.000Z") };
  const sandbox = await start({ now: () => now.ms, autoCompleteMs: 5000 });
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const path = `/payment/retrieve/${body.data.transactionId}`;
  now.ms += 4999;
  expect((await sandbox.get(path)).body.data.status).toBe("Processing");
  now.ms += 60_000;
  const expected = { status: "Completed", updatedAt: "2026-11-20T04:30:05.000Z" };
  expect((await sandbox.get(path)).body.data).toMatchObject(expected);
  const transactionId = body.data.transactionId;
  const { body: refund } = await sandbox.post("/refund/create-a-request", {
    ...refundBody,
    transactionId,
  });
  const { body: payout } = await sandbox.payout();
  now.ms += 5000;
  expect((await cancel(sandbox, refund.data.refundRequestId)).status).toBe(409);
  expect((await sandbox.get(`/payout/retrieve/${payout.data.payoutId}`)).body.data.status).toBe(
    "Completed",
  );
  const local = { kind: "payout", id: payout.data.payoutId, status: "Cancelled" };
  expect((await sandbox.post("/local/status", local)).status).toBe(409);
});

test("a trigger that comes after a record completed itself changes nothing", async () => {
  const now = { ms: Date.parse("2026-11-20T04:30:00.000Z") };
  const sandbox = await start({ now: () => now.ms, autoCompleteMs: 5000 });
  const { body } = await sandbox.post("/payment/create", paymentBody);
  now.ms += 60_000;
  const { transactionId } = body.data;
  const triggered = await sandbox.post("/sandbox/trigger-payment", { transactionId });
  expect(triggered.body.data.updatedAt).toBe("2026-11-20T04:30:05.000Z");
});

function cancel(sandbox: Sandbox, id: unknown, note?: string) {
  const body = note === undefined ? {} : { note };
  return sandbox.call(`/refund/cancel-by-platform/${id}`, { method: "PATCH", body });
}

test("an id holds a digit, so that it is no word", async () => {
  // Each of these seeds draws twelve letters at first.
  for (const seed of [63, 75, 170]) {
    const sandbox = await start({ seed });
    const { body } = await sandbox.post("/payment/create", paymentBody);
    expect(body.data.transactionId).toMatch(/\d/);
  }
});
