import fc from "fast-check";
import { expect, test } from "vitest";
import { collect } from "../../src/domain/collect.ts";
import { createOperation } from "../../src/ledger/intent.ts";
import type { Operation } from "../../src/ledger/operation.ts";
import { chooseColumns } from "../../src/reconcile/columns.ts";
import { type Line, readLines } from "../../src/reconcile/lines.ts";
import { readTable } from "../../src/reconcile/table.ts";
import type { Cell, TableRow, TableSource } from "../../src/tables/cell.ts";
import { worker } from "../ledger/small-ledger.ts";
import { runs } from "../support/helpers.ts";
import { amountStyles, dateStyles, idStyles } from "../tables/printer.ts";

/*
 * A statement that is printed in any style is read as its lines, or its problem is named. No line gets another amount,
 * direction, date, ID, fee or balance.
 */

/** What moved. Below zero: from the account. */
interface Moved {
  id: string;
  reference: string;
  ms: number;
  paisa: bigint;
  fee: bigint;
}

const headings = {
  date: ["Date", "Txn Date", "তারিখ", "Date &\nTime"],
  id: ["Trx ID", "TrxID", "Transaction ID"],
  reference: ["Reference", "Ref No.", "Merchant\u00a0Ref"],
  narration: ["Narration", "Details", "Remarks", "Nov-26", ""],
  amount: ["Amount", "Amount (BDT)", "Txn Amount"],
  debit: ["Debit", "Withdrawal", "Paid Out", "Dr"],
  credit: ["Credit", "Deposit", "Paid In", "Cr"],
  direction: ["Dr/Cr", "Direction", "Debit/Credit"],
  fee: ["Fee", "Charges"],
  balance: ["Balance", "Running Balance"],
};
const allColumns = [
  ...(["date", "id", "reference", "narration", "amount", "debit"] as const),
  ...(["credit", "direction", "fee", "balance"] as const),
] as const satisfies (keyof typeof headings)[];
type Column = (typeof allColumns)[number];

/** How a statement shows what came and what went. */
const signStyles = ["one column", "two columns", "negative debits", "directions"] as const;

const from = Date.parse("2026-01-01T00:00:00Z");
const moved = fc.record({
  id: fc.stringMatching(/^TX[A-Z0-9]{6}$/),
  reference: fc.stringMatching(/^INV-[1-9]\d{0,4}$/),
  ms: fc.integer({ min: 0, max: 90 * 86_400 }).map((second) => from + second * 1_000),
  paisa: fc
    .oneof(
      fc.bigInt(-10_000_000n, 10_000_000n),
      fc.bigInt(-300_000n, 300_000n).map((one) => one * 100n),
    )
    .filter((one) => one !== 0n),
  fee: fc.bigInt(0n, 5_000n),
});

const layout = fc.record({
  lines: fc.uniqueArray(moved, { minLength: 1, maxLength: 8, selector: ({ id }) => id }),
  signs: fc.constantFrom(...signStyles),
  amounts: fc.constantFrom(...amountStyles),
  others: fc.constantFrom(...amountStyles),
  dates: fc.constantFrom(...dateStyles),
  ids: fc.constantFrom(...idStyles),
  names: fc.record({
    ...{ date: fc.constantFrom(...headings.date), id: fc.constantFrom(...headings.id) },
    reference: fc.constantFrom(...headings.reference),
    narration: fc.constantFrom(...headings.narration),
    amount: fc.constantFrom(...headings.amount),
    debit: fc.constantFrom(...headings.debit),
    credit: fc.constantFrom(...headings.credit),
    direction: fc.constantFrom(...headings.direction),
    fee: fc.constantFrom(...headings.fee),
    balance: fc.constantFrom(...headings.balance),
  }),
  order: fc.shuffledSubarray([...allColumns], { minLength: allColumns.length }),
  titles: fc.integer({ min: 0, max: 2 }),
  repeatAt: fc.option(fc.nat(7)),
  isTotalled: fc.boolean(),
  isMapped: fc.boolean(),
});

type Layout = typeof layout extends fc.Arbitrary<infer Value> ? Value : never;

const opening = 5_000_000n;
const magnitude = (paisa: bigint) => (paisa < 0n ? -paisa : paisa);

/** The lines of a statement, with their balances. */
function meantBy({ lines }: Layout): (Moved & { balance: bigint })[] {
  let balance = opening;
  return lines.map((line) => {
    balance += line.paisa - line.fee;
    return { ...line, balance };
  });
}

/** The columns of a statement, and the amount of a line in them. */
function amountsIn({ signs }: Layout, paisa: bigint): Partial<Record<Column, bigint | string>> {
  const isOut = paisa < 0n;
  if (signs === "one column") return { amount: paisa };
  if (signs === "directions") return { amount: magnitude(paisa), direction: isOut ? "Dr" : "Cr" };
  const debit = signs === "negative debits" ? paisa : magnitude(paisa);
  return isOut ? { debit, credit: "" } : { debit: "", credit: paisa };
}

/** The rows of a file, and its columns. */
function printed(one: Layout): { source: TableSource; columns: Column[] } {
  const used = ["date", "id", "reference", "narration", "fee", "balance"];
  const all = [...used, ...Object.keys(amountsIn(one, 1n))];
  const columns = one.order.filter((name) => all.includes(name));
  const [, amount] = one.amounts;
  const [, other] = one.others;
  const row = (cells: Partial<Record<Column, Cell>>) => columns.map((name) => cells[name] ?? "");
  const money = (values: Partial<Record<Column, bigint | string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]): [string, Cell] => [
        name,
        typeof value === "bigint" ? amount(value) : value,
      ]),
    );
  const header = columns.map((name) => one.names[name]);
  const titles = ["Acme Ltd", "Statement of account"].slice(0, one.titles);
  const rows: Cell[][] = [...titles.map((title) => [title]), header];
  const sums = { amount: 0n, debit: 0n, credit: 0n };
  for (const [at, { id, reference, ms, paisa, fee, balance }] of meantBy(one).entries()) {
    if (one.repeatAt === at) rows.push(header);
    const values = amountsIn(one, paisa);
    for (const name of ["amount", "debit", "credit"] as const)
      if (typeof values[name] === "bigint") sums[name] += values[name];
    const [, date] = one.dates;
    const [, named] = one.ids;
    rows.push(
      row({
        ...{ date: date(ms), id: named(id), reference: named(reference), narration: "TRF salary" },
        ...{ ...money(values), fee: other(fee), balance: other(balance) },
      }),
    );
  }
  const { amount: sum, ...sides } = sums;
  const total = one.signs === "one column" ? { amount: sum } : sides;
  if (one.isTotalled && one.signs !== "directions")
    rows.push(row({ narration: "Total", ...money(total) }));
  async function* pages() {
    yield rows.map((cells, at): TableRow => ({ line: at + 1, cells }));
  }
  return { source: { path: "p", kind: "xlsx", hiddenColumns: [], pages }, columns };
}

function operationsOf({ lines }: Layout): Operation[] {
  return lines.map(({ id, reference, paisa }, at) => {
    const asked = { recipientNumber: "01712345678" };
    const what = { kind: "payout" as const, reference, target: null, asked };
    const account = { number: 1n, name: "a" };
    const stored = { target: null, account, holder: null, at: "2026-01-01T00:00:00Z" };
    const intent = { ...what, amountPaisa: magnitude(paisa) };
    const created = createOperation(intent, { ...stored, number: BigInt(at + 1) }, worker());
    return { ...created.operation, remoteId: id };
  });
}

/** A problem in words, or the lines, and whether the order of the dates is decided. */
async function linesIn(one: Layout): Promise<{ lines: Line[]; isDated: boolean } | string> {
  const { source, columns } = printed(one);
  const given = columns.flatMap((field) =>
    one.names[field] === "" ? [] : [{ column: one.names[field], field }],
  );
  const operations = operationsOf(one);
  const ofNames = async (names: string[]) =>
    operations.filter(
      ({ remoteId, reference }) =>
        names.includes(remoteId ?? "") || names.includes(reference ?? ""),
    );
  try {
    const statement = await readTable(source, one.isMapped ? given : []);
    const opened = { statement, given: one.isMapped ? given : [] };
    const chosen = await chooseColumns(opened, true, { ofNames });
    const lines = await readLines(statement, chosen.columns, "Asia/Dhaka");
    const isDated = !chosen.columns.some(({ why = "" }) => / is read \w+ first\./.test(why));
    return { lines: (await collect(lines.pages())).flat(), isDated };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What a line has, where it has something. */
function shownOf(line: Line, isDated: boolean, meant: ReturnType<typeof meantBy>[number]) {
  const { span, currency, movementPaisa, amountPaisa } = line;
  const isThen = !span || !isDated || (span.fromMs <= meant.ms && meant.ms <= span.toMs);
  const moved =
    movementPaisa ?? (amountPaisa === magnitude(meant.paisa) ? meant.paisa : amountPaisa);
  return {
    id: line.id ?? meant.id,
    reference: line.reference ?? meant.reference,
    ms: isThen ? meant.ms : span.fromMs,
    paisa: currency === null ? moved : meant.paisa,
    fee: line.feePaisa ?? meant.fee,
    balance: currency === null ? (line.balancePaisa ?? meant.balance) : meant.balance,
  };
}

test("a statement in any style is read as its lines, or its problem is named", async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(layout, async (one) => {
      const found = await linesIn(one);
      if (typeof found === "string") {
        expect(found).toMatch(/^\S.{15,}\.$/s);
        return;
      }
      whole += 1;
      const meant = meantBy(one);
      expect(found.lines).toHaveLength(meant.length);
      const shown = meant.flatMap((each, at) => {
        const line = found.lines[at];
        return line ? [shownOf(line, found.isDated, each)] : [];
      });
      expect(shown).toEqual(meant);
    }),
    { numRuns: runs(100, 30_000) },
  );
  expect(whole).toBeGreaterThan(runs(100, 30_000) / 10);
});
