import { expect, test } from "vitest";
import { testAccount } from "../commands/account.ts";
import { paymentOf, refundOf, startService } from "../merchant.ts";
import { lenden } from "../run.ts";

const account = testAccount();
const amount = 100;

async function payment(status: "Processing" | "Completed" | "Cancelled", description = "tea") {
  const id = await account.id(paymentOf(description, "--again"));
  if (status !== "Processing") await account.run(["sandbox", "set", "payment", id, status]);
  return id;
}

async function refundOfPaid() {
  const paid = await payment("Completed");
  return { paid, refund: await account.id(refundOf(paid, "40")) };
}

async function verdictOf(text: string, ...flags: string[]) {
  const { code, stdout } = await account.run(["callback", "verify", ...flags, "--json"], {
    stdin: text,
  });
  const { verdict, because, records } = JSON.parse(stdout);
  return { code, verdict, because, records };
}

const genuine = { code: 0, verdict: "verified", because: null };

test.each<[string, (id: string) => string]>([
  ["JSON", (id) => JSON.stringify({ transactionId: id, status: "Completed", amount })],
  ["a form", (id) => `transactionId=${id}&status=Completed&amount=100.00`],
  ["a query string", (id) => `?transaction_id=${id}&status=success`],
  ["an address", (id) => `https://shop.example/back?trxID=${id}&status=Completed`],
  ["an id alone in the path", (id) => `POST /callbacks/${id} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ["an envelope", (id) => JSON.stringify({ status: "ok", data: { id, status: "Completed" } })],
  [
    "JSON in a form",
    (id) => `payload=${encodeURIComponent(JSON.stringify({ transactionId: id }))}`,
  ],
  [
    "an HTTP request, with the wrong content type",
    (id) => `POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\n{"transactionId":"${id}"}`,
  ],
  [
    "an event with an id of its own",
    (id) => JSON.stringify({ id: "evt_1", transactionId: id, status: "Completed" }),
  ],
])("a true word is genuine as %s", async (_, write) => {
  expect(await verdictOf(write(await payment("Completed")))).toMatchObject(genuine);
});

test("Completed that is not is forged, in whatever word", async () => {
  for (const word of ["Completed", "COMPLETED", "success", "paid"]) {
    for (const status of ["Processing", "Cancelled"] as const) {
      const id = await payment(status);
      const said = JSON.stringify({ transactionId: id, status: word, amount });
      const { code, verdict, records } = await verdictOf(said);
      expect([code, verdict]).toEqual([11, "forged"]);
      expect(records).toMatchObject([{ id, claimed: { status: word }, verified: { status } }]);
    }
  }
});

test.each<[string, object]>([
  ["amount", { amount: 1 }],
  ["status", { status: "Cancelled" }],
  ["description", { description: "coffee" }],
])("another %s than the service has is mismatched", async (name, claim) => {
  const id = await payment("Completed");
  const { code, verdict, because } = await verdictOf(JSON.stringify({ id, ...claim }));
  expect([code, verdict]).toEqual([11, "mismatched"]);
  expect(because).toContain(name);
});

test("what is expected counts, whatever is claimed", async () => {
  const id = await payment("Completed", "Order 41");
  const said = `transactionId=${id}&status=Completed`;
  expect(await verdictOf(said, "--expect-amount", "100", "--expect-ref", "Order 41")).toMatchObject(
    genuine,
  );
  for (const flags of [
    ["--expect-amount", "100.01"],
    ["--expect-ref", "Order 42"],
  ]) {
    expect(await verdictOf(said, ...flags)).toMatchObject({ code: 11, verdict: "mismatched" });
  }
});

test("a refund's status and amount are held against the refund, not against its payment", async () => {
  const { paid, refund } = await refundOfPaid();
  const own = { status: "Processing", amount: 40 };
  for (const name of ["refundRequestId", "id"]) {
    const said = JSON.stringify({ [name]: refund, transactionId: paid, ...own });
    expect(await verdictOf(said)).toMatchObject(genuine);
  }
  const other = await payment("Completed");
  const said = JSON.stringify({ refundRequestId: refund, transactionId: other, ...own });
  expect(await verdictOf(said)).toMatchObject({ code: 11, verdict: "mismatched" });
});

test.each([
  ["no id at all", "hello"],
  ["nothing", ""],
  ["an id of nobody's", '{"transactionId":"TXNOBODY1"}'],
  ["an id that leads elsewhere", '{"transactionId":"../methods"}'],
  ["bytes", "\u0000\u001b[2J\ufffd"],
  ["more ids than one callback is about", JSON.stringify([..."abcdefgh"].map((id) => ({ id })))],
])("%s is unknown", async (_, said) => {
  expect(await verdictOf(said)).toMatchObject({ code: 11, verdict: "unknown" });
});

test("thousands of ids are no reason to ask the service anything", async () => {
  const ids = Array.from({ length: 3000 }, (_, index) => ({ transactionId: `TX${index}AAAA` }));
  const before = await account.asked();
  expect(await verdictOf(JSON.stringify(ids))).toMatchObject({ code: 11, verdict: "unknown" });
  const since = (await account.asked()).slice(before.length);
  expect(since.filter((one) => one.includes("retrieve"))).toEqual([]);
});

test("what stands twice could be read in two ways: it is never genuine", async () => {
  const [paid, open] = [await payment("Completed"), await payment("Processing")];
  for (const said of [
    `{"transactionId":"${open}","transactionId":"${paid}"}`,
    `{"transactionId":"${paid}","status":"Completed","status":"Completed"}`,
    `transactionId=${open}&transactionId=${paid}&status=Completed`,
    `{"transactionId":"${paid}","id":"${open}","status":"Completed"}`,
  ]) {
    const { code, verdict } = await verdictOf(said);
    expect({ said, code, verdict }).toEqual({
      said,
      code: 11,
      verdict: expect.stringMatching(/mismatched|forged/),
    });
  }
});

test("a service that does not answer decides nothing: exit 69", async () => {
  const env = { LENDEN_BASE_URL: "http://127.0.0.1:1/cp/api/v1" };
  const { code, stdout } = await account.run(["callback", "verify", "--timeout", "2s"], {
    env,
    stdin: "id=TX1AAAAAAA",
  });
  expect([code, stdout]).toEqual([69, ""]);
});

test.each<[string, { status: number; text: string }, string, number]>([
  ["a page that says 404", { status: 404, text: "<html>No such place</html>" }, "", 69],
  ["a page that says 400", { status: 400, text: "Bad Request" }, "", 69],
  ["404 in JSON", { status: 404, text: '{"message":"No such id."}' }, "unknown", 11],
  ["400 in JSON", { status: 400, text: '{"message":"No id looks like this."}' }, "unknown", 11],
])("%s is told from what the service itself says", async (_, answer, verdict, code) => {
  const { env } = await startService(() => answer);
  const line = ["callback", "verify", "--json"];
  const ended = await lenden(line, { env, stdin: "transactionId=TX1AAAAA&status=Completed" });
  expect(ended.code).toBe(code);
  expect(ended.stdout === "" ? "" : JSON.parse(ended.stdout).verdict).toBe(verdict);
});

test("a problem names what it is about: the number, the file, or standard input", async () => {
  const wrong = await account.run(["callback", "show", "x"]);
  expect(wrong.stderr).toContain("<number>: This is not a whole number");
  const missing = await account.run(["callback", "verify", "no-such-file.json"]);
  expect(missing.stderr).toContain(
    "error: no-such-file.json cannot be read: file not found (ENOENT).",
  );
  const huge = await account.run(["callback", "verify"], { stdin: "x".repeat(1024 * 1024 + 1) });
  expect(huge.stderr).toContain("standard input: this holds more than 1 MiB");
});

test("the card shows claim beside fact, and nothing that a terminal would act on", async () => {
  const id = await payment("Processing");
  const { stdout } = await account.run(["callback", "verify"], {
    stdin: JSON.stringify({ transactionId: id, status: "Completed\u001b[31m", amount: "1\u202e" }),
  });
  expect(stdout).toContain("It claims");
  expect(stdout).toContain("Processing, BDT 100.00, tea");
  expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
});
