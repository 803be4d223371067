import { expect, test } from "vitest";
import { isSignatureOf } from "../../src/sandbox/access.ts";
import vectors from "../fixtures/signatures.json" with { type: "json" };
import { hmac, payoutBody, start } from "./running.ts";

test("all the signatures that OpenSSL made are accepted, over the number that JSON carries", () => {
  expect(vectors).toHaveLength(1000);
  for (const { amount, ref, timestamp, secret, signature } of vectors) {
    const body = JSON.parse(`{"amount":${amount}}`);
    const fields = { amount: body.amount, merchantRef: ref, timestamp };
    expect(isSignatureOf(fields, secret, signature), `${amount}:${ref}`).toBe(true);
    expect(isSignatureOf({ ...fields, amount: body.amount + 1 }, secret, signature)).toBe(false);
  }
});

test("two hundred of their amounts, as written and freshly signed, are accepted over the wire", async () => {
  const now = { s: 0 };
  const sandbox = await start({ now: () => now.s * 1000 });
  for (const { amount, ref, timestamp } of vectors.slice(0, 200)) {
    now.s = timestamp;
    const rest = { ...payoutBody(), amount: undefined, merchantRef: ref, timestamp };
    const rawBody = `{"amount":${amount},${JSON.stringify(rest).slice(1)}`;
    const signature = hmac(`${amount}:${ref}:${timestamp}`, sandbox.payoutSecret);
    const sent = { method: "POST", rawBody, headers: { "x-payout-signature": signature } };
    expect((await sandbox.call("/payout/create-by-server", sent)).status, rawBody).toBe(200);
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

test("a used reference answers with the payout that exists, even where all else differs", async () => {
  const sandbox = await start();
  const first = await sandbox.payout();
  const again = await sandbox.payout({ amount: 999, recipientNumber: "01999999999" });
  expect(again.status).toBe(200);
  expect(again.body).toEqual(first.body);
  await sandbox.post("/sandbox/trigger-payout", { payoutId: first.body.data.payoutId });
  expect((await sandbox.payout()).body.data.status).toBe("Completed");
  expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(1);
});

test("twenty at once with one reference make one payout", async () => {
  const sandbox = await start();
  const replies = await Promise.all(Array.from({ length: 20 }, () => sandbox.payout()));
  expect(new Set(replies.map(({ body }) => body.data.payoutId)).size).toBe(1);
  expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(1);
});

test.each([
  [-301, 403],
  [-300, 200],
  [0, 200],
  [300, 200],
  [301, 403],
])("a timestamp %i s off the server's clock answers %i", async (offset, status) => {
  const now = () => Date.parse("2026-11-20T04:30:00.999Z");
  const sandbox = await start({ now });
  const reply = await sandbox.payout({ timestamp: Math.floor(now() / 1000) + offset });
  expect(reply.status).toBe(status);
  if (status === 403) expect(reply.body.code).toBe("TIMESTAMP_OUT_OF_WINDOW");
});

test("a wrong signature creates nothing, nor does one in capitals or of another secret", async () => {
  const sandbox = await start();
  const timestamp = Math.floor(Date.now() / 1000);
  const right = hmac(`500:INV-7:${timestamp}`, sandbox.payoutSecret);
  for (const signature of [
    "0".repeat(64),
    right.toUpperCase(),
    hmac(`500:INV-7:${timestamp}`, "x"),
    "é",
  ]) {
    const sent = Buffer.from(signature).toString("latin1");
    const reply = await sandbox.payout({ timestamp }, { signature: sent });
    expect(reply).toMatchObject({ status: 403, body: { code: "SIGNATURE_WRONG" } });
  }
  expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(0);
});

test("the checks come in their order: key, signature present, body, signature, time, reference", async () => {
  const sandbox = await start();
  await sandbox.payout();
  const post = async (headers: Record<string, string>, fields: object) => {
    const body = { ...payoutBody(), timestamp: 1, ...fields };
    const reply = await sandbox.call("/payout/create-by-server", { method: "POST", headers, body });
    return reply.body.code;
  };
  const signed = { "x-payout-signature": hmac("500:INV-7:1", sandbox.payoutSecret) };
  expect(await post({ "x-api-key": "wrong" }, { amount: 0 })).toBe("KEY_UNKNOWN");
  expect(await post({}, { amount: 0 })).toBe("SIGNATURE_MISSING");
  expect(await post({ "x-payout-signature": "wrong" }, { amount: 0 })).toBe("VALIDATION");
  expect(await post({ "x-payout-signature": "wrong" }, {})).toBe("SIGNATURE_WRONG");
  expect(await post(signed, {})).toBe("TIMESTAMP_OUT_OF_WINDOW");
});

test.each([0, -1, 0.001, 1.234, 1e12, 1e300, 1e-7, "500", null])(
  "the amount %s is refused",
  async (amount) => {
    const reply = await (await start()).payout({ amount });
    expect(reply).toMatchObject({ status: 400, body: { code: "VALIDATION" } });
    expect(reply.body.message).toMatch(/^amount must be/);
  },
);

test.each([0.01, 0.29, 1.1, 4503599627370.5 / 10, 999999999999.99])(
  "the amount %d comes back as it was sent",
  async (amount) => {
    const sandbox = await start();
    const { body } = await sandbox.payout({ amount });
    expect(body.data.amount).toBe(amount);
  },
);

test.each([
  [{ merchantRef: "" }, "merchantRef must not be empty."],
  [{ recipientNumber: " " }, "recipientNumber must not be empty."],
  [{ paymentMethodId: "bkash" }, "paymentMethodId must be the id of one of GET /payment/methods."],
  [{ timestamp: 1.5 }, "timestamp must be of type int."],
  [{ extra: 1 }, '"extra" is not a field of this request.'],
])("a payout with %o is refused", async (fields, message) => {
  const reply = await (await start()).payout(fields);
  expect(reply).toMatchObject({ status: 400, body: { success: false, message } });
});
