import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { render } from "../../src/cli/output/render.ts";
import { clean } from "../../src/cli/output/terminal-text.ts";
import { card, field, money, text, time, type View } from "../../src/cli/output/view.ts";
import { runs } from "../support/helpers.ts";

const options = { quiet: false, color: false, continues: false, width: 80, nowMs: undefined };
const csvOf = (view: View) => render({}, () => view, { ...options, format: "csv" });

function table(...rows: string[][]): View {
  const columns = (rows[0] ?? []).map((_, index) => ({ key: `c${index}`, label: "" }));
  return {
    kind: "table",
    columns,
    rows: rows.map((values) => ({
      id: "",
      cells: Object.fromEntries(values.map((value, index) => [`c${index}`, text(value)])),
    })),
    empty: "",
  };
}

test("CSV has a header and a line for each record, with empty cells for absent values", async () => {
  const fields = [
    field("id", "Id", text("TX1")),
    field("amount", "Amount", money(1250.5)),
    field("at", "At", time(null)),
  ];
  expect(await csvOf(card("Payment", "TX1", fields))).toBe("id,amount,at\r\nTX1,1250.50,\r\n");
  expect(await csvOf(table(["a"], ["b"]))).toBe("c0\r\na\r\nb\r\n");
  expect(await csvOf({ kind: "line", text: "done, all", id: "1" })).toBe(
    'message\r\n"done, all"\r\n',
  );
});

test.each([
  ["=1+1", "'=1+1"],
  ["+8801712345678", "'+8801712345678"],
  ["-5", "'-5"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\u200b=1+1", "'=1+1"],
  ['=HYPERLINK("http://evil.example","x")', `"'=HYPERLINK(""http://evil.example"",""x"")"`],
  ["'=1+1", "''=1+1"],
  ["'Mina", "'Mina"],
  ["01712345678", '"01712345678"'],
  ["0", "0"],
  ["a,b", '"a,b"'],
  ["a\r\nb", "a b"],
])("the cell %j is written as %s", async (value, written) => {
  expect(await csvOf(table([value]))).toBe(`c0\r\n${written}\r\n`);
});

test("an amount has two decimals, and a value that is not an amount is harmless", async () => {
  const cells = [500, 0.1, 999_999_999_999.99, 500.005, -5, 1e21].map(async (value) =>
    (await csvOf(card("", "", [field("a", "A", money(value))]))).slice(3, -2),
  );
  expect(await Promise.all(cells)).toEqual([
    ...["500.00", "0.10", "999999999999.99", "500.005", "'-5", "1e+21"],
  ]);
});

test("every cell can be read back, and none is a formula", async () => {
  const cell = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.stringMatching(/^[=+@\t\r\n",' 0-9a-]{0,12}$/),
  );
  const guarded = (value: string) => clean(value).replace(/^'*[=+\-@]/, "'$&");
  const records = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(records, async (rows) => {
      const read: string[][] = parse(await csvOf(table(...rows)), { relax_column_count: true });
      expect(read.slice(1)).toEqual(rows.map((row) => row.map(guarded)));
      for (const one of read.flat()) expect(one).not.toMatch(/^[=+\-@\t\r]/);
    }),
    { numRuns: runs(300, 30_000) },
  );
});
