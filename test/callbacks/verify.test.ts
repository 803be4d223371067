import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ServiceRecord } from "../../src/api/contract/index.ts";
import { readPasted } from "../../src/callbacks/content.ts";
import { verdicts, verify } from "../../src/callbacks/verify.ts";
import { runs } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { paymentOf, refundOf, testAccount } from "../support/merchant.ts";
import { startService } from "../support/server.ts";

const payment = {
  transactionId: "TX1AAAA",
  amount: 100,
  description: "tea",
  status: "Completed",
  paymentMethod: "bKash",
  createdAt: "2026-11-20T06:00:00.000Z",
  updatedAt: "2026-11-20T06:05:00.000Z",
  customer: { name: "Rahim", status: "gold" },
};
const refund = {
  refundRequestId: "RF1AAAA",
  transactionId: "TX1AAAA",
  amount: 40,
  status: "Processing",
};

/** What is decided of a callback, and which records were retrieved. */
async function checked(text: string, record: ServiceRecord | undefined = payment) {
  const looked: string[] = [];
  const { verdict, explanation, records } = await verify(readPasted(text), async (kind, id) => {
    looked.push(`${kind} ${id}`);
    return record;
  });
  return { verdict, explanation, records, looked };
}

const id = "transactionId=TX1AAAA";
const json = (fields: object) => JSON.stringify({ transactionId: "TX1AAAA", ...fields });
const request = (type: string, body: string) =>
  `POST / HTTP/1.1\r\nContent-Type: ${type}\r\n\r\n${body}`;
const asForm = (note: string) => request("application/x-www-form-urlencoded", json({ note }));

describe("a callback", () => {
  test.each<[string, string]>([
    ["JSON", json({ status: "Completed", amount: 100 })],
    ["the record itself", JSON.stringify(payment)],
    ["the API's envelope", JSON.stringify({ success: true, data: payment })],
    ["a form", `${id}&status=Completed&amount=100.00`],
    ["a query", `?${id}&status=Completed`],
    ["a URL", `https://shop.example/back?${id}&status=Completed#top`],
    [
      "other spellings of names",
      JSON.stringify({ Transaction_ID: "TX1AAAA", STATUS: "Completed" }),
    ],
    ["a time in another form", json({ updatedAt: "2026-11-20T12:05:00+06:00" })],
    ["an ID alone", json({})],
    ["fields that the record does not have", json({ event: "payment.completed", id: "evt_1" })],
    ["JSON sent as a form", asForm("https://shop.example/?order=7&item=2")],
    ["a text/plain body", request("text/plain", json({ status: "Completed" }))],
  ])("is verified as %s", async (_, text) => {
    expect(await checked(text)).toMatchObject({ verdict: "verified", explanation: null });
  });

  test.each<[string, string]>([
    ["amount", json({ amount: 1 })],
    ["amount", json({ amount: "100,0" })],
    ["amount", json({ amount: { value: 100 } })],
    ["amount", `${id}&amount=100&amount=1`],
    ["status", json({ status: "Cancelled" })],
    ["status", json({ status: ["Completed", "Cancelled"] })],
    ["status", json({ STATUS: "success" })],
    ["status", JSON.stringify({ status: "ok", data: payment })],
    ["description", json({ description: "coffee" })],
    ["updatedat", json({ updatedAt: "2099-12-31T23:59:59.000Z" })],
    ["amount", json({ order: { items: [{ amount: 7 }] } })],
    ["customer", json({ customer: { name: "Karim" } })],
  ])("is mismatched if it has another %s: %s", async (name, text) => {
    const { verdict, explanation } = await checked(text);
    expect([verdict, explanation]).toEqual(["mismatched", `The API's record differs in: ${name}.`]);
  });

  test.each([
    ["at the top", json({ status: "Completed" })],
    ["in other case", json({ status: "COMPLETED" })],
    ["deep inside", json({ a: { b: [{ status: "Completed" }] } })],
    ["in a form", `${id}&status=Processing&status=Completed`],
    ["as a form in JSON", asForm("&status=Completed&")],
    ["in its query", `POST /?status=Completed HTTP/1.1\r\n\r\n${json({})}`],
  ])("is forged if it claims Completed %s and the API does not", async (_, text) => {
    for (const status of ["Processing", "Cancelled"])
      expect((await checked(text, { ...payment, status })).verdict).toBe("forged");
    // An undocumented status may mean that it is completed.
    for (const status of ["Held", "completed"])
      expect((await checked(text, { ...payment, status })).verdict).toBe("mismatched");
  });

  test.each<[string, string, string]>([
    ["neither JSON nor a form", "hello", "The body is neither"],
    ["nothing", "", "The callback contains no"],
    ["an ID in an unknown field", '{"id":"TX1AAAA"}', "The callback contains no"],
    [
      "an ID that is a number",
      '{"transactionId":12345678901234567890}',
      "The callback contains no",
    ],
    [
      "an ID that leads elsewhere",
      '{"transactionId":"../methods"}',
      "The ID in the callback is not valid.",
    ],
    ["two payments", `${id}&transactionId=TX2BBBB`, "The callback names more than one record."],
    [
      "another payment in its query",
      `POST /?${id}X HTTP/1.1\r\n\r\n${json({})}`,
      "The callback names more",
    ],
    [
      "a payment and a payout",
      json({ payoutId: "PO1" }),
      "The callback names more than one record.",
    ],
    [
      "a name twice",
      '{"transactionId":"TX1AAAA","transactionId":"TX2"}',
      "The body contains a field twice",
    ],
    [
      "a nested name twice",
      `{"a":{"b":1,"\\u0062":2},"transactionId":"TX1"}`,
      "The body contains a field twice",
    ],
    ["a list", `[${json({})}]`, "The body is neither"],
    [
      "JSON that names another payment as a form",
      asForm("&transactionId=TX2&"),
      "The callback names more",
    ],
    ["a form sent as JSON", request("application/json", id), "The body is neither"],
    ["a compressed body", `POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n${id}`, "The body is"],
    ["another charset", request("application/json; charset=utf-16", json({})), "The body is not"],
    ["a body of parts", request("multipart/form-data; boundary=b", `--b\r\n\r\n${id}`), "The body"],
  ])("is unknown without a request if it has %s", async (_, text, why) => {
    const { verdict, explanation, looked } = await checked(text);
    expect([verdict, looked]).toEqual(["unknown", []]);
    expect(explanation).toContain(why);
  });

  test("about a refund is compared with the refund, which names its payment", async () => {
    for (const amount of [40, 100]) {
      const text = JSON.stringify({ ...refund, amount });
      expect(await checked(text, refund)).toMatchObject({
        verdict: amount === 40 ? "verified" : "mismatched",
        looked: ["refund RF1AAAA"],
      });
    }
    const other = await checked(JSON.stringify({ ...refund, transactionId: "TX2" }), refund);
    expect(other.verdict).toBe("mismatched");
  });
});

const value = fc.oneof(
  fc.constantFrom("TX1AAAA", "RF2BBBB", "Completed", "Cancelled", "100", "1e3", "__proto__"),
  fc.string({ unit: "binary" }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const name = fc.constantFrom("transactionId", "refundRequestId", "status", "amount", "data", "x");
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    value,
    fc.array(tie("tree"), { maxLength: 6 }),
    fc.dictionary(name, tie("tree"), { maxKeys: 6 }),
  ),
}));
const form = fc
  .array(fc.tuple(name, value.map(String)), { maxLength: 12 })
  .map((pairs) => new URLSearchParams(pairs).toString());
const text = fc.oneof(
  tree.map((one) => JSON.stringify(one)),
  form,
  fc.string({ unit: "binary" }),
);
const body = fc.oneof(fc.uint8Array({ maxLength: 4_096 }), text.map(Buffer.from));
const record = fc.record({
  status: fc.constantFrom("Processing", "Completed", "Cancelled", "Held"),
  amount: fc.oneof(fc.constant(100), fc.double()),
  description: fc.option(fc.string()),
  transactionId: fc.constantFrom("TX1AAAA", "TX3CCCC"),
});

test("any bytes have a verdict, at most one request, and no false claim that is verified", async () => {
  const target = fc.oneof(
    fc.constant("/"),
    text.map((one) => `/a?${one}`),
  );
  const property = fc.asyncProperty(
    target,
    body,
    fc.option(record),
    async (target, body, found) => {
      const looked: string[] = [];
      const received = { target, headers: {}, body };
      const { verdict, explanation, records } = await verify(received, async (_, one) => {
        looked.push(one);
        return found ?? undefined;
      });
      expect(verdicts).toContain(verdict);
      expect(looked.length).toBeLessThanOrEqual(1);
      for (const one of looked) expect(one).toMatch(/^(?!\.{1,2}$)[^\s/\\\p{C}]{1,256}$/u);
      expect(explanation === null).toBe(verdict === "verified");
      if (verdict !== "verified") return;
      expect(found).not.toBeNull();
      for (const { claimed, verified } of records)
        if (claimed.status !== null) expect(claimed.status).toBe(verified?.status);
    },
  );
  await fc.assert(property, { numRuns: runs(1_000, 50_000) });
});

describe("callback verify", () => {
  const account = testAccount();

  async function verdictOf(stdin: string, ...flags: string[]) {
    const line = ["callback", "verify", ...flags, "--json"];
    const { code, stdout } = await account.run(line, { stdin });
    return { code, ...JSON.parse(stdout) };
  }

  test("ends with 0 if the record agrees, and with 11 otherwise", async () => {
    const transactionId = await account.id(paymentOf("Order 41"));
    const completed = JSON.stringify({ transactionId, status: "Completed" });
    expect(await verdictOf(completed)).toMatchObject({ code: 11, verdict: "forged" });
    await account.run(["sandbox", "set", "payment", transactionId, "Completed"]);
    const flags = ["--expect-amount", "100", "--expect-ref", "Order 41"];
    expect(await verdictOf(completed, ...flags)).toMatchObject({ code: 0, verdict: "verified" });
    for (const flag of [
      ["--expect-amount", "100.01"],
      ["--expect-ref", "Order 42"],
    ])
      expect(await verdictOf(completed, ...flag)).toMatchObject({
        code: 11,
        verdict: "mismatched",
      });
    const id = await account.id(refundOf(transactionId, "40"));
    expect(await verdictOf(`refundRequestId=${id}&amount=40`)).toMatchObject({ code: 0 });
    const nobody = await verdictOf('{"transactionId":"TXNOBODY1"}');
    expect(nobody).toMatchObject({ code: 11, verdict: "unknown" });
  });

  test("shows the claim beside the record, and nothing that a terminal would act on", async () => {
    const transactionId = await account.id(paymentOf("tea"));
    const { stdout } = await account.run(["callback", "verify"], {
      stdin: JSON.stringify({ transactionId, status: "Completed\u001b[31m", amount: "1\u202e" }),
    });
    expect(stdout).toContain("Claimed");
    expect(stdout).toContain("Processing, BDT 100.00, tea");
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test("decides nothing without a response: exit 69", async () => {
    const env = { LENDEN_BASE_URL: "http://127.0.0.1:1/cp/api/v1" };
    const line = ["callback", "verify", "--timeout", "2s"];
    const { code, stdout } = await account.run(line, { env, stdin: id });
    expect([code, stdout]).toEqual([69, ""]);
  });

  test.each([
    [404, "<html>No such place</html>", 69, ""],
    [400, "Bad Request", 69, ""],
    [404, '{"message":"No such id."}', 11, "unknown"],
    [400, '{"message":"No id looks like this."}', 11, "unknown"],
  ])(
    "takes status %s with %s for an unknown ID only as JSON",
    async (status, text, code, verdict) => {
      const { env } = await startService(() => ({ status, text }));
      const ended = await lenden(["callback", "verify", "--json"], { env, stdin: id });
      expect(ended.code).toBe(code);
      expect(ended.stdout === "" ? "" : JSON.parse(ended.stdout).verdict).toBe(verdict);
    },
  );

  test("rejects a text over 1 MiB, and a callback that is not stored", async () => {
    const huge = await account.run(["callback", "verify"], { stdin: "x".repeat(1024 * 1024 + 1) });
    expect([huge.code, huge.stderr]).toEqual([2, expect.stringContaining("larger than 1 MiB")]);
    const absent = await account.run(["callback", "show", "999", "--json"]);
    expect([absent.code, JSON.parse(absent.stderr).error.reason]).toEqual([
      9,
      "callback.not-found",
    ]);
  });
});
