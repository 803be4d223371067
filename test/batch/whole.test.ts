import { expect, test } from "vitest";
import { findingsAmong } from "../../src/batches/check.ts";
import { totalsOf } from "../../src/batches/rows.ts";
import { plannedRow } from "../ledger/small-ledger.ts";
import { faults } from "../sandbox/running.ts";
import { type Merchant, openMerchant, payoutOf, testAccount } from "../support/merchant.ts";
import { checkPath, fileOf, places } from "./files.ts";

const account = testAccount();

const header = "ref,amount,to,method";
const lines = (...rows: string[]) => `${[header, ...rows].join("\n")}\n`;
const send = (merchant: Merchant, path: string, ...flags: string[]) =>
  merchant.lenden(["payout", "batch", "send", path, ...flags, "--json"]);

test("rejects the same recipient and amount twice without --allow-duplicates", async () => {
  const text = lines(
    "A1,5,01712345678,bkash",
    "A2,5.00,+8801712-345678,nagad",
    "A3,6,01712345678,bkash",
    "A4,5,8801712345678,bkash",
  );
  const seen = await checkPath(account.run, fileOf(text));
  expect(seen).toMatchObject({ code: 2, problemCount: 2 });
  expect(seen.problems).toMatchObject([
    {
      kind: "repeats-row",
      line: 3,
      column: "to",
      problem: "Same recipient and amount as on line 2.",
    },
    {
      kind: "repeats-row",
      line: 5,
      column: "to",
      problem: "Same recipient and amount as on line 2.",
    },
  ]);
  expect(await checkPath(account.run, fileOf(text), ["--allow-duplicates"])).toMatchObject({
    code: 0,
    rows: 4,
    allowedDuplicates: 2,
  });
});

test("rejects the same reference twice, also with --allow-duplicates", async () => {
  const text = lines("A1,5,01712345678,bkash", "A2,5,01812345678,bkash", "A1,7,01912345678,bkash");
  const seen = await checkPath(account.run, fileOf(text), ["--allow-duplicates"]);
  expect(seen).toMatchObject({ code: 2, problemCount: 1 });
  expect(seen.problems[0]).toMatchObject({
    kind: "invalid",
    line: 4,
    column: "ref",
    value: "A1",
    problem: "Duplicate reference: also used on line 2.",
  });
});

test("reports no duplicate of a row that was already sent", async () => {
  const merchant = await openMerchant();
  const first = fileOf(lines("A1,5,01712345678,bkash", "A2,6,01812345678,bkash"));
  expect(await send(merchant, first)).toMatchObject({ code: 0 });
  await merchant.json(payoutOf("Z1"));
  const next = fileOf(lines("A1,5,01712345678,bkash", "A3,5,01712345678,bkash"));
  const seen = await checkPath(merchant.lenden, next, []);
  expect(seen.problems).toMatchObject([
    { kind: "repeats-row", line: 3 },
    { kind: "repeats-payout", line: 3 },
  ]);
});

test("the same references under another --name are not sent again, nor in another case", async () => {
  const merchant = await openMerchant();
  const rows = ["inv-1,5,01712345678,bkash", "inv-2,6,01712345678,bkash"];
  const path = fileOf(lines(...rows));
  expect(await send(merchant, path)).toMatchObject({ code: 0 });
  expect(await send(merchant, path, "--name", "again")).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toHaveLength(2);
  const upper = fileOf(lines(...rows.map((row) => row.replace("inv", "INV"))), "upper.csv");
  const seen = await checkPath(merchant.lenden, upper);
  expect(seen.problems).toMatchObject([
    { kind: "repeats-payout", line: 2 },
    { kind: "repeats-payout", line: 3 },
  ]);
  expect(await send(merchant, upper, "--allow-duplicates")).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toHaveLength(4);
});

test("a used reference whose replacement another batch will send names that batch", async () => {
  const ill = faults("createPayout:status-422");
  const merchant = await openMerchant({ faults: ill });
  const path = fileOf(lines("A1,5,01712345678,bkash"));
  expect(await send(merchant, path)).toMatchObject({ code: 6 });
  ill.splice(0, 1, ...faults("createPayout:status-401"));
  const next = fileOf(lines("A1-lenden2,5,01712345678,bkash"), "next.csv");
  expect(await send(merchant, next)).toMatchObject({ code: 4 });
  const { problems } = await checkPath(merchant.lenden, fileOf(lines("A1,6,01812345678,bkash")), [
    "--name",
    "again",
  ]);
  expect(problems).toMatchObject([
    {
      problem: expect.stringMatching(
        /Batch B\w+ will resend it with the new reference A1-lenden2\.$/,
      ),
    },
  ]);
});

test("one bad row means that nothing is sent, and nothing is planned", async () => {
  const merchant = await openMerchant();
  const good = Array.from({ length: 30 }, (_, index) => `A${index},${index + 1},01712345678,bkash`);
  const path = fileOf(lines(...good, "B1,1000,1712345678,bkash"));
  const { code, stdout, stderr } = await send(merchant, path);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("line 32, to");
  expect(await merchant.books("payouts")).toEqual([]);
  expect(await merchant.moneyRequests()).toEqual([]);
  expect(
    await merchant.inLedger((ledger) => ledger.prepare("SELECT * FROM batches").all()),
  ).toEqual([]);
});

test("problems are in the order of lines and columns, the first thousand, and all are counted", async () => {
  const rows = Array.from({ length: 600 }, (_, index) => `x,A${index % 500},0171,bkash`);
  const path = fileOf(`amount,ref,to,method\n${rows.join("\n")}`);
  const seen = await checkPath(account.run, path);
  expect(seen).toMatchObject({ code: 2, rows: 600, problemCount: 600 + 600 + 100 });
  expect(seen.problems).toHaveLength(1_000);
  expect(places(seen.problems).slice(0, 4)).toEqual(["2 amount", "2 to", "3 amount", "3 to"]);
});

test.each([
  ["--delimiter", "pipe"],
  ["--delimiter", "__proto__"],
  ["--method", "bikash"],
])("%s %j is rejected", async (...flags) => {
  const seen = await checkPath(account.run, fileOf("amount,to\n5,01712345678"), flags);
  expect([seen.code, seen.stderr]).toEqual([2, expect.stringContaining(flags[0])]);
});

test("a total that no 64 bits can store is a problem of the file", () => {
  const amountPaisa = 2n ** 62n;
  const rows = [1, 2, 3].map((row) => ({ ...plannedRow(row, { amountPaisa }), wasSent: false }));
  const totalPaisa = amountPaisa * 3n;
  const [last] = findingsAmong(rows).slice(-1);
  expect(last).toMatchObject({ kind: "total-too-large" });
  const sum = { count: 3, sumPaisa: totalPaisa };
  expect(totalsOf(rows)).toMatchObject({ total: sum, methods: [{ method: "bkash", ...sum }] });
});

test("check keeps nothing and sends nothing", async () => {
  const merchant = await openMerchant();
  const path = fileOf(lines("A1,5,01712345678,bkash"));
  expect(await checkPath(merchant.lenden, path)).toMatchObject({ code: 0 });
  expect(await merchant.moneyRequests()).toEqual([]);
  const kept = await merchant.inLedger((ledger) => [
    ledger.prepare("SELECT * FROM batches").all(),
    ledger.prepare("SELECT * FROM operations").all(),
  ]);
  expect(kept).toEqual([[], []]);
});
