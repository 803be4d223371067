import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder, todayInDhaka } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import {
  inDatabase,
  type Merchant,
  openMerchant,
  otherMachine,
  paidPayment,
  paidPayout,
  paymentOf,
  payoutNumber,
} from "../support/merchant.ts";

/** The statement of the sandbox, perhaps with fewer columns. */
async function statementOf(merchant: Merchant, columns?: number[]): Promise<string> {
  const { stdout } = await merchant.lenden(["sandbox", "statement"]);
  const file = join(scratchFolder(), "statement.csv");
  const lines = stdout.split("\r\n").filter(Boolean);
  const kept = (line: string) => (columns ? columns.map((at) => line.split(",")[at]) : [line]);
  writeFileSync(file, lines.map((line) => kept(line).join(",")).join("\n"));
  return file;
}

async function reconciled(merchant: Merchant, file: string, ...more: string[]) {
  const args = ["reconcile", file, "--yes", "--json", "--record-fees", ...more];
  const { code, stdout, stderr } = await merchant.lenden(args);
  const lines: { result: string; explained: string | null; id: string }[] = JSON.parse(
    stdout || `[${JSON.stringify(stderr)}]`,
  ).lines;
  return { code, lines: lines.filter(({ result }) => result !== "balance") };
}

/** A payout that was rejected here, and that another machine sent under the same reference. */
async function rejectedAndPaid() {
  const ill: Fault[] = faults("createPayout:status-400");
  const merchant = await openMerchant({ faults: ill });
  expect(await merchant.lenden(payoutNumber(1, "DUP-1"))).toMatchObject({ code: 3 });
  ill.length = 0;
  const env = otherMachine(merchant);
  const { stdout } = await lenden([...payoutNumber(1, "DUP-1"), "-q"], { env });
  await merchant.set("payout", stdout.trim(), "Completed");
  return { merchant, id: stdout.trim() };
}

test.each([
  ["its ID", [0, 1, 4], ["--import"]],
  ["its reference and ID", undefined, []],
])(
  "a payout that was rejected here and sent elsewhere is known by %s, and not paid again",
  async (_, columns, flags) => {
    const { merchant, id } = await rejectedAndPaid();
    const file = await statementOf(merchant, columns);
    await reconciled(merchant, file, ...flags);
    expect(await reconciled(merchant, file)).toMatchObject({
      code: 0,
      lines: [{ result: "matched", id }],
    });
    const again = await merchant.lenden(payoutNumber(1, "DUP-1").slice(0, -2));
    expect(again).toMatchObject({ code: 3 });
    expect(await merchant.json(payoutNumber(1, "DUP-1"))).toMatchObject({ payoutId: id });
    expect(await merchant.books("payouts")).toHaveLength(1);
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
  },
);

test("an imported operation has the time of the API's record", async () => {
  const merchant = await openMerchant();
  const env = otherMachine(merchant);
  await lenden([...payoutNumber(1, "OUT-1"), "-q"], { env });
  await inDatabase(merchant.booksFile, (books) =>
    books.exec("UPDATE records SET createdAt = '2026-10-05T09:00:00.000Z'"),
  );
  const file = join(scratchFolder(), "statement.csv");
  const [record] = await merchant.books("payouts");
  writeFileSync(file, `id,type,date,amount\n${record?.id},payout,2026-10-06,-5\n`);
  await reconciled(merchant, file, "--import");
  const ofDay = ["--since", "2026-10-05", "--until", "2026-10-05"];
  expect(await merchant.json(["payout", "list", ...ofDay])).toMatchObject([
    { merchantRef: "OUT-1" },
  ]);
  expect(await merchant.json(["ledger", "export", ...ofDay])).toMatchObject([
    { createdAt: "2026-10-05T09:00:00.000Z", localTime: "2026-10-05T15:00:00+06:00" },
  ]);
  expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
});

test("an imported payment is not @last", async () => {
  const merchant = await openMerchant();
  const own = await merchant.id(paymentOf("own"));
  const env = otherMachine(merchant);
  await lenden(paymentOf("elsewhere"), { env });
  await reconciled(merchant, await statementOf(merchant), "--import");
  expect(await merchant.json(["pay", "get", "@last"])).toMatchObject({ transactionId: own });
});

test("a record that the API lost hides no contradiction", async () => {
  const merchant = await openMerchant();
  await paidPayment(merchant);
  const file = await statementOf(merchant);
  const gone = await merchant.id(paymentOf("gone"));
  await inDatabase(merchant.booksFile, (books) =>
    books.prepare("DELETE FROM records WHERE id = ?").run(gone),
  );
  expect(await reconciled(merchant, file)).toMatchObject({ code: 0 });
  const wrong = readFileSync(file, "utf8").replace(",100,", ",100.01,");
  writeFileSync(file, wrong);
  expect(await reconciled(merchant, file)).toMatchObject({ code: 5 });
});

test.each([
  ["gross", "-5", "-5.1", "-5.1"],
  ["net", "-5.1", "-5", "-5 without its fee of 0.1"],
])(
  "a line of a statement of %s amounts that is wrong by its fee differs from the ledger",
  async (_, usual, wrong, statement) => {
    const merchant = await openMerchant();
    const lines = ["id,type,date,amount,fee"];
    for (const at of [1, 2, 3]) {
      const id = await paidPayout(merchant, payoutNumber(at, `INV-${at}`));
      lines.push(`${id},payout,${todayInDhaka()},${at === 1 ? wrong : usual},0.1`);
    }
    const file = join(scratchFolder(), "fees.csv");
    writeFileSync(file, lines.join("\n"));
    const { code, lines: found } = await reconciled(merchant, file);
    expect({ code, found }).toMatchObject({
      code: 5,
      found: [
        {
          result: "differs",
          differences: [{ field: "amount", statement, ledger: "-5" }],
        },
        { result: "matched" },
        { result: "matched" },
      ],
    });
  },
);

test("a fee and a return may be far above the payouts that they belong to", async () => {
  const merchant = await openMerchant();
  const ids = [];
  for (const [at, status] of ["Completed", "Cancelled"].entries()) {
    const id = await merchant.id(payoutNumber(at, `INV-${at}`));
    await merchant.set("payout", id, status);
    ids.push(id);
  }
  const [paid, cancelled] = ids;
  const today = todayInDhaka();
  // More than is read at once.
  const note = "x".repeat(2_000);
  const fees = Array.from({ length: 300 }, () => `,charge,${today},-1,${note}`);
  const lines = [
    "id,type,date,amount,note",
    ...[`${cancelled},payout,${today},5,`, `${paid},charge,${today},-2,`],
    ...fees,
    ...[`${paid},payout,${today},-5,`, `${cancelled},payout,${today},-5,`],
  ];
  const file = join(scratchFolder(), "newest-first.csv");
  writeFileSync(file, lines.join("\n"));
  const found = await merchant.lenden(["reconcile", file, "--yes", "--record-fees"]);
  expect(found).toMatchObject({ code: 0, stdout: "Every line matches the ledger.\n" });
  expect(found.stderr).toContain("Fees: BDT 302.00.\nmatched: 3\nfee: 301\n");
});

test("a table shows contradictions first, also of a long statement", async () => {
  const merchant = await openMerchant();
  const id = await paidPayout(merchant, payoutNumber(1, "INV-1"));
  const today = todayInDhaka();
  const unknown = Array.from({ length: 60 }, (_, at) => `U${at},payout,${today},-1`);
  const file = join(scratchFolder(), "long.csv");
  const lines = ["id,type,date,amount", ...unknown, `${id},payout,${today},-6`];
  writeFileSync(file, lines.join("\n"));
  const table = (await merchant.lenden(["reconcile", file, "--yes"])).stdout.split("\n");
  expect(table[1]).toMatch(/^differs +62 /);
  expect(table[2]).toMatch(/^only-in-statement +2 /);
  const csv = (await merchant.lenden(["reconcile", file, "--yes", "-o", "csv"])).stdout;
  expect(csv.trim().split("\n").at(-1)).toMatch(/^differs,62,/);
});

const ownLine = "ID,payout,TODAY,-5,";

test.each([
  [2, [ownLine], ["--map", "ids=id"], 'has no column "ids". Its columns are "id"'],
  [2, [ownLine], ["--map", "id=id", "--map", "type=id"], "Two columns are mapped to id"],
  [2, [ownLine], ["--map", "id=id", "--map", "id=reference"], '"id" is mapped twice'],
  [2, [ownLine], ["--since", "2026-02-01", "--until", "2026-01-01"], "is after --until"],
  [2, ["ID,payout,2026-11-20,-5,"], ["--since", "2026-12-01"], "is not a day of the statement"],
  [2, [], [], "has no lines below its header"],
  [5, [`${ownLine}On hold`], [], 'does not know the status "On hold" (line 2)'],
  [6, [ownLine, "U1,payout,TODAY,-5,"], ["--import"], "does not know (line 3, BDT -5.00)"],
  [6, [ownLine, ",payout,TODAY,-5,"], ["--import"], "is not in the ledger (line 3, BDT -5.00)"],
])("ends with %i for the lines %j with %j, and says: %s", async (code, lines, flags, says) => {
  const merchant = await openMerchant();
  const id = await paidPayout(merchant, payoutNumber(1, "INV-1"));
  const file = join(scratchFolder(), "s.csv");
  const text = ["id,type,date,amount,status", ...lines].join("\n");
  writeFileSync(file, text.replaceAll("ID", id).replaceAll("TODAY", todayInDhaka()));
  const ended = await merchant.lenden(["reconcile", file, "--yes", ...flags]);
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(says) });
});

test("an operation with an unknown outcome that the statement lacks is open", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  await paidPayout(merchant, payoutNumber(1, "INV-1"));
  const file = await statementOf(merchant);
  ill.push(...faults("createPayment:lost-reply"));
  expect(await merchant.lenden(paymentOf("lost"))).toMatchObject({ code: 75 });
  ill.length = 0;
  const found = await merchant.lenden(["reconcile", file, "--yes"]);
  expect(found.code).toBe(6);
  expect(found.stderr).toContain("1 operation with an unknown outcome is not in statement.csv (OP");
  await merchant.lenden(["ledger", "resolve", "@last", "--not-created", "--yes"]);
  const [lost] = await merchant.books("payments");
  await merchant.set("payment", String(lost?.id), "Completed");
  const whole = await statementOf(merchant);
  const importing = ["reconcile", whole, "--yes", "--import", "--record-fees"];
  expect(await merchant.lenden(importing)).toMatchObject({ code: 0 });
});

test("a record that the API cannot return does not prevent the import of others", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const env = otherMachine(merchant);
  for (const name of ["one", "two"]) {
    const { stdout } = await lenden([...paymentOf(name), "-q"], { env });
    await merchant.set("payment", stdout.trim(), "Completed");
  }
  const sent = await lenden([...payoutNumber(1, "OUT-1"), "-q"], { env });
  await merchant.set("payout", sent.stdout.trim(), "Completed");
  const file = await statementOf(merchant);
  ill.push(...faults("retrievePayout:status-500"));
  const first = await reconciled(merchant, file, "--import");
  expect({ ...first, lines: first.lines.map(({ explained }) => explained) }).toEqual({
    code: 69,
    lines: ["imported", "imported", null],
  });
  ill.length = 0;
  expect(await reconciled(merchant, file, "--import")).toMatchObject({
    code: 0,
    lines: [{ result: "matched" }, { result: "matched" }, { explained: "imported" }],
  });
});

test("a line whose amount contains the fee resolves an operation with an unknown outcome", async () => {
  const ill: Fault[] = faults("createPayment:lost-reply");
  const merchant = await openMerchant({ faults: ill });
  expect(await merchant.lenden(paymentOf("lost"))).toMatchObject({ code: 75 });
  ill.length = 0;
  const [lost] = await merchant.books("payments");
  await merchant.set("payment", String(lost?.id), "Completed");
  const today = todayInDhaka();
  const file = join(scratchFolder(), "net.csv");
  writeFileSync(file, `id,type,date,amount,fee\n${lost?.id},payment,${today},98.5,1.5\n`);
  expect(await reconciled(merchant, file)).toMatchObject({
    code: 0,
    lines: [{ result: "unknown-here", explained: "resolved" }],
  });
});
