import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanPayroll } from "../../src/batches/clean.ts";
import { namesRocket } from "../../src/domain/mobile.ts";
import type { Cell, TableRow, TableSource } from "../../src/tables/cell.ts";
import { readPayroll } from "../../src/tables/payroll.ts";
import { runs } from "../support/helpers.ts";
import { amountStyles, numberStyles, type Style } from "../tables/printer.ts";

/*
 * A payroll that is printed in any style comes back with the same rows, or with a named problem. No one gets another
 * amount, and no amount goes to another number.
 */

/** A person who is paid. */
interface Payee {
  id: string;
  number: string;
  paisa: bigint;
}

const headings = {
  id: ["Employee ID", "কর্মচারী আইডি", "Code"],
  number: ["Mobile No.", "bKash\nNumber", "মোবাইল নম্বর", "Account No"],
  amount: ["Net Payable", "Amount (BDT)", "টাকা", "Net Salary Nov-26", "AMOUNT\u00a0"],
  other: ["50% Basic", "Nov-26", "", "Remarks"],
};

const payee = fc.record({
  number: fc.stringMatching(/^01[3-9]\d{8}$/),
  paisa: fc.oneof(
    fc.bigInt(1n, 10_000_000n),
    fc.bigInt(1n, 300_000n).map((one) => one * 100n),
  ),
});

const layout = fc.record({
  payees: fc.uniqueArray(payee, { minLength: 1, maxLength: 10, selector: ({ number }) => number }),
  amounts: fc.tuple(fc.constantFrom(...amountStyles), fc.constantFrom(...amountStyles)),
  numbers: fc.tuple(fc.constantFrom(...numberStyles), fc.constantFrom(...numberStyles)),
  mixed: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
  columns: fc.shuffledSubarray(["id", "number", "amount", "other"] as const, { minLength: 4 }),
  names: fc.record({
    id: fc.constantFrom(...headings.id),
    number: fc.constantFrom(...headings.number),
    amount: fc.constantFrom(...headings.amount),
    other: fc.constantFrom(...headings.other),
  }),
  titles: fc.integer({ min: 0, max: 3 }),
  repeatAt: fc.option(fc.integer({ min: 0, max: 9 })),
  total: fc.constantFrom("none", "right", "wrong", "without a name"),
  footer: fc.boolean(),
  kind: fc.constantFrom("csv", "xlsx"),
});

type Layout = typeof layout extends fc.Arbitrary<infer Value> ? Value : never;

/** The rows of a file, and who is to be paid by it. */
function printed(one: Layout): { source: TableSource; payees: Payee[] } {
  const payees = one.payees.map((payee, at): Payee => ({ ...payee, id: `E-${at}` }));
  const pick = <Value>([first, other]: [Style<Value>, Style<Value>], at: number) =>
    (one.mixed[at] ? other : first)[1];
  const cellsOf = (cells: Record<keyof typeof headings, Cell>) =>
    one.columns.map((column) => cells[column]);
  const sum = payees.reduce((total, { paisa }) => total + paisa, 0n);
  const rows: Cell[][] = ["Acme Garments Ltd", "Salaries", "Month: November 2026"]
    .slice(0, one.titles)
    .map((title) => [title, "", "", ""]);
  rows.push(cellsOf(one.names));
  for (const [at, { id, number, paisa }] of payees.entries()) {
    if (one.repeatAt === at) rows.push(cellsOf(one.names));
    rows.push(
      cellsOf({
        id,
        number: pick(one.numbers, at)(number),
        amount: pick(one.amounts, at)(paisa),
        other: "",
      }),
    );
  }
  const total = pick(one.amounts, 0)(one.total === "wrong" ? sum + 100n : sum);
  const label = one.total === "without a name" ? "" : "Grand Total";
  if (one.total !== "none") rows.push(cellsOf({ id: label, number: "", amount: total, other: "" }));
  if (one.footer)
    rows.push(cellsOf({ id: "Prepared by", number: "", amount: "Checked by", other: "" }));
  async function* pages() {
    yield rows.map((cells, at): TableRow => ({ line: at + 1, cells }));
  }
  const kind = one.kind === "csv" ? "csv" : "xlsx";
  return { source: { path: "p", kind, hiddenColumns: [], pages }, payees };
}

/** A problem in words, or the rows that would be paid. */
async function cleanedRows(source: TableSource): Promise<Payee[] | string> {
  try {
    const cleaned = await cleanPayroll(await readPayroll(source, [], []), {
      method: "bkash",
      writesMethod: false,
      isRocket: namesRocket,
      asIs: false,
      hidden: undefined,
      namesPaid: async () => new Map(),
    });
    const [first] = cleaned.problems;
    if (first) return first.problem;
    const place = (name: string) => cleaned.columns.indexOf(name);
    const id = cleaned.columns.findIndex((name) =>
      headings.id.includes(name.replace(" (in the file)", "")),
    );
    return cleaned.rows.map((cells) => ({
      id: cells[id] ?? "",
      number: cells[place("to")] ?? "",
      paisa: paisaIn(cells[place("amount")] ?? ""),
    }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function paisaIn(text: string): bigint {
  const [taka = "", decimals = ""] = text.split(".");
  return BigInt(taka + decimals.padEnd(2, "0"));
}

test("a payroll in any style comes back as its rows, or with a named problem", async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(layout, async (one) => {
      const { source, payees } = printed(one);
      const found = await cleanedRows(source);
      if (typeof found === "string") {
        expect(found).toMatch(/^\S.{15,}\.$/s);
        return;
      }
      whole += 1;
      expect(one.total === "wrong").toBe(false);
      expect(found).toEqual(payees);
    }),
    { numRuns: runs(300, 100_000) },
  );
  expect(whole).toBeGreaterThan(runs(300, 100_000) / 10);
});
