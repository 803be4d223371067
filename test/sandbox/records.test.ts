import { describe, expect, test } from "vitest";
import { isSignatureOf } from "../../src/sandbox/checks.ts";
import vectors from "../fixtures/signatures.json" with { type: "json" };
import { completedPayment, hmac, paymentBody, payoutBody, type Sandbox, start } from "./running.ts";

const refundBody = {
  amount: 250.25,
  accountType: "PERSONAL_ACCOUNT",
  accountNumber: "01812345678",
  note: "damaged",
};

/** A clock that a test sets. */
function clock() {
  const clock = { ms: Date.parse("2026-11-20T04:30:00.000Z"), now: () => clock.ms };
  return clock;
}

function set(sandbox: Sandbox, kind: string, id: unknown, status: string) {
  return sandbox.post("/local/status", { kind, id, status });
}

describe("the signature of a payout", () => {
  test("all signatures that OpenSSL made are accepted, over the number that JSON carries", () => {
    expect(vectors).toHaveLength(1000);
    for (const { amount, ref, timestamp, secret, signature } of vectors) {
      const body = JSON.parse(`{"amount":${amount}}`);
      const fields = { amount: body.amount, merchantRef: ref, timestamp };
      expect(isSignatureOf(fields, secret, signature), `${amount}:${ref}`).toBe(true);
      expect(isSignatureOf({ ...fields, amount: body.amount + 1 }, secret, signature)).toBe(false);
    }
  });

  test("the trailing zero of 500.50 is not part of what is signed", async () => {
    const sandbox = await start();
    const timestamp = Math.floor(Date.now() / 1000);
    const { amount: _amount, ...rest } = payoutBody();
    const rawBody = `{"amount":500.50,${JSON.stringify({ ...rest, timestamp }).slice(1)}`;
    const post = (signed: string) =>
      sandbox.call("/payout/create-by-server", {
        method: "POST",
        rawBody,
        headers: { "x-payout-signature": hmac(signed, sandbox.payoutSecret) },
      });
    expect((await post(`500.50:INV-7:${timestamp}`)).body.code).toBe("SIGNATURE_WRONG");
    expect((await post(`500.5:INV-7:${timestamp}`)).status).toBe(200);
  });

  test("a wrong one creates nothing, nor does one in capitals or of another secret", async () => {
    const sandbox = await start();
    const timestamp = Math.floor(Date.now() / 1000);
    const signed = `500:INV-7:${timestamp}`;
    const right = hmac(signed, sandbox.payoutSecret);
    for (const signature of ["0".repeat(64), right.toUpperCase(), hmac(signed, "x"), "\u00e9"]) {
      const reply = await sandbox.payout({ timestamp }, { signature });
      expect(reply).toMatchObject({ status: 403, body: { code: "SIGNATURE_WRONG" } });
    }
    expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(0);
  });

  test.each([
    [-301, 403],
    [-300, 200],
    [300, 200],
    [301, 403],
  ])("a timestamp %i s off the server's clock is answered with %i", async (offset, status) => {
    const now = () => Date.parse("2026-11-20T04:30:00.999Z");
    const sandbox = await start({ now });
    const reply = await sandbox.payout({ timestamp: Math.floor(now() / 1000) + offset });
    expect(reply.status).toBe(status);
    if (status === 403) expect(reply.body.code).toBe("TIMESTAMP_OUT_OF_WINDOW");
  });

  test("checks come in this order: key, signature present, body, signature, time", async () => {
    const sandbox = await start();
    const post = async (headers: Record<string, string>, fields: object) => {
      const body = { ...payoutBody(), timestamp: 1, ...fields };
      const sent = { method: "POST", headers, body };
      return (await sandbox.call("/payout/create-by-server", sent)).body.code;
    };
    const signed = { "x-payout-signature": hmac("500:INV-7:1", sandbox.payoutSecret) };
    expect(await post({ "x-api-key": "wrong" }, { amount: 0 })).toBe("KEY_UNKNOWN");
    expect(await post({}, { amount: 0 })).toBe("SIGNATURE_MISSING");
    expect(await post({ "x-payout-signature": "wrong" }, { amount: 0 })).toBe("VALIDATION");
    expect(await post({ "x-payout-signature": "wrong" }, {})).toBe("SIGNATURE_WRONG");
    expect(await post(signed, {})).toBe("TIMESTAMP_OUT_OF_WINDOW");
  });
});

test("a used reference returns the existing payout, even if all else differs", async () => {
  const sandbox = await start();
  const replies = await Promise.all(Array.from({ length: 20 }, () => sandbox.payout()));
  expect(new Set(replies.map(({ body }) => body.data.payoutId)).size).toBe(1);
  const again = await sandbox.payout({ amount: 999, recipientNumber: "01999999999" });
  expect(again.body).toEqual(replies[0]?.body);
  await sandbox.post("/sandbox/trigger-payout", { payoutId: again.body.data.payoutId });
  expect((await sandbox.payout()).body.data.status).toBe("Completed");
  expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(1);
});

test.each([0.01, 0.29, 1.1, 450359962737.05, 999999999999.99])(
  "the amount %d is returned as it was sent",
  async (amount) => {
    expect((await (await start()).payout({ amount })).body.data.amount).toBe(amount);
  },
);

describe("validation", () => {
  test("reports all problems of a body together", async () => {
    const reply = await (await start()).post("/payment/create", {
      amount: "1",
      redirect_url: "nowhere",
      callback_url: "ftp://shop.example",
      paymentMethodId: "none",
      currency: "BDT",
      constructor: 1,
    });
    expect(reply).toMatchObject({ status: 400, body: { success: false, code: "VALIDATION" } });
    for (const problem of [
      "amount must be of type number.",
      "description is required.",
      "redirect_url must be a web URL.",
      "callback_url must be a web URL.",
      "paymentMethodId must be the id of one of GET /payment/methods.",
      '"currency" is not a field of this request.',
      '"constructor" is not a field of this request.',
    ])
      expect(reply.body.message).toContain(problem);
  });
});

test("a payment is Processing until it is triggered; a second trigger changes nothing", async () => {
  const time = clock();
  const sandbox = await start({ now: time.now });
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const { transactionId } = body.data;
  time.ms += 1000;
  const first = await sandbox.post("/sandbox/trigger-payment", { transactionId });
  time.ms += 1000;
  const second = await sandbox.post("/sandbox/trigger-payment", { transactionId });
  expect(first.body.data).toMatchObject({
    status: "Completed",
    paymentMethod: "bKash",
    createdAt: "2026-11-20T04:30:00.000Z",
    updatedAt: "2026-11-20T04:30:01.000Z",
  });
  expect(second.body).toEqual(first.body);
  const other = (await sandbox.post("/payment/create", paymentBody)).body.data.transactionId;
  await set(sandbox, "payment", other, "Cancelled");
  const late = await sandbox.post("/sandbox/trigger-payment", { transactionId: other });
  expect(late).toMatchObject({ status: 409, body: { code: "ALREADY_ENDED" } });
});

describe("refunds", () => {
  test("need a completed payment", async () => {
    const sandbox = await start();
    const { body } = await sandbox.post("/payment/create", paymentBody);
    const { transactionId } = body.data;
    const refund = (fields: object) =>
      sandbox.post("/refund/create-a-request", { ...refundBody, ...fields });
    const early = await refund({ transactionId });
    expect(early).toMatchObject({ status: 409, body: { code: "PAYMENT_NOT_COMPLETED" } });
    expect((await refund({ transactionId: "TX0" })).status).toBe(404);
  });

  test("never exceed the payment; a cancelled one no longer counts", async () => {
    const sandbox = await start();
    const transactionId = await completedPayment(sandbox);
    const refund = (amount: number) =>
      sandbox.post("/refund/create-a-request", { ...refundBody, transactionId, amount });
    expect((await refund(1250.51)).status).toBe(422);
    const first = await refund(1000.25);
    expect((await refund(250.26)).body).toMatchObject({
      code: "REFUND_EXCEEDS_PAYMENT",
      message: "Of this payment, 250.25 is left to refund.",
    });
    const second = await refund(250.25);
    await set(sandbox, "refund", second.body.data.refundRequestId, "Completed");
    expect((await refund(0.01)).status).toBe(422);
    await cancel(sandbox, first.body.data.refundRequestId);
    expect((await refund(1000.25)).status).toBe(200);
  });

  test("are cancelled once, and keep their note unless another is given", async () => {
    const sandbox = await start();
    const transactionId = await completedPayment(sandbox);
    const create = async () =>
      (await sandbox.post("/refund/create-a-request", { ...refundBody, transactionId })).body.data
        .refundRequestId;
    const [one, other] = [await create(), await create()];
    const cancelled = { status: "Cancelled", note: "damaged" };
    expect((await cancel(sandbox, one)).body.data).toMatchObject(cancelled);
    expect((await cancel(sandbox, other, "kept")).body.data).toMatchObject({ note: "kept" });
    expect((await sandbox.get(`/refund/retrieve/${other}`)).body.data.note).toBe("kept");
    expect((await cancel(sandbox, one)).body.code).toBe("ALREADY_ENDED");
  });
});

test("records complete themselves when they are due, and stay completed", async () => {
  const time = clock();
  const sandbox = await start({ now: time.now, autoCompleteMs: 5000 });
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const { transactionId } = body.data;
  const path = `/payment/retrieve/${transactionId}`;
  time.ms += 4999;
  expect((await sandbox.get(path)).body.data.status).toBe("Processing");
  time.ms += 60_000;
  const expected = { status: "Completed", updatedAt: "2026-11-20T04:30:05.000Z" };
  const triggered = await sandbox.post("/sandbox/trigger-payment", { transactionId });
  expect(triggered.body.data).toMatchObject(expected);
  expect((await sandbox.get(path)).body.data).toMatchObject(expected);
  const { body: payout } = await sandbox.payout();
  time.ms += 5000;
  expect((await set(sandbox, "payout", payout.data.payoutId, "Cancelled")).status).toBe(409);
});

test("a record is set to Completed or Cancelled once, and to nothing else", async () => {
  const sandbox = await start();
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const id = body.data.transactionId;
  expect((await set(sandbox, "payment", id, "Processing")).status).toBe(400);
  expect((await set(sandbox, "payment", id, "Lost")).status).toBe(400);
  expect((await set(sandbox, "order", id, "Completed")).status).toBe(400);
  expect((await set(sandbox, "payout", id, "Completed")).status).toBe(404);
  const done = await set(sandbox, "payment", id, "Cancelled");
  expect(done.body.data).toEqual({ kind: "payment", id, status: "Cancelled" });
  expect((await set(sandbox, "payment", id, "Completed")).status).toBe(409);
});

function cancel(sandbox: Sandbox, id: unknown, note?: string) {
  const body = note === undefined ? {} : { note };
  return sandbox.call(`/refund/cancel-by-platform/${id}`, { method: "PATCH", body });
}
