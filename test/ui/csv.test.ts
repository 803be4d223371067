import fc from "fast-check";
import { expect, test } from "vitest";
import { toCsv } from "../../src/cli/output/csv.ts";
import { clean } from "../../src/cli/output/terminal-text.ts";
import { card, field, money, text, time, type View } from "../../src/cli/output/view.ts";
import { runs } from "../runs.ts";

test("a card is a header and one record, a table a header and its records", () => {
  const fields = [field("id", "Id", text("TX1")), field("amount", "Amount", money(1250.5))];
  expect(toCsv(card("Payment", "TX1", fields), { header: true })).toBe(
    "id,amount\r\nTX1,1250.50\r\n",
  );
  expect(toCsv(table(["a", "b"]), { header: true })).toBe("value\r\na\r\nb\r\n");
  expect(toCsv(table([]), { header: true })).toBe("value\r\n");
  expect(toCsv({ kind: "line", text: "done, all", id: "1" }, { header: true })).toBe(
    'message\r\n"done, all"\r\n',
  );
});

test.each([
  ["=1+1", "'=1+1"],
  ["+8801712345678", "'+8801712345678"],
  ["-5", "'-5"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\u200b=1+1", "'=1+1"],
  ["\u202e=1+1", "'=1+1"],
  ['=HYPERLINK("http://evil.example","x")', `"'=HYPERLINK(""http://evil.example"",""x"")"`],
  ["'=1+1", "''=1+1"],
  ["''-5", "'''-5"],
  ["'Mina", "'Mina"],
  ["'01712345678", "'01712345678"],
  ["a=b", "a=b"],
  ["01712345678", '"01712345678"'],
  ["0", "0"],
  ["1712345678", "1712345678"],
  ['say "hi"', '"say ""hi"""'],
  ["a,b", '"a,b"'],
  ["a\r\nb", "a b"],
  ["", ""],
])("the cell %j stands as %s", (value, stands) => {
  expect(toCsv(table([value]), { header: true })).toBe(`value\r\n${stands}\r\n`);
});

test("an amount has two decimals; one that is none is harmless", () => {
  const cell = (value: number) =>
    toCsv(card("", "", [field("a", "A", money(value))]), { header: true }).slice(3, -2);
  expect([500, 0.1, 1250.5, 999_999_999_999.99].map(cell)).toEqual([
    "500.00",
    "0.10",
    "1250.50",
    "999999999999.99",
  ]);
  expect([500.005, -5, 1e21].map(cell)).toEqual(["500.005", "'-5", "1e+21"]);
});

test("what is absent is an empty cell", () => {
  const fields = [field("a", "A", text(null)), field("b", "B", time(null))];
  expect(toCsv(card("", "", fields), { header: true })).toBe("a,b\r\n,\r\n");
});

test("any cells come back as they are shown, and none of them is a formula", () => {
  const cell = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.stringMatching(/^[=+@\t\r\n",' 0-9a-]{0,12}$/),
  );
  const records = fc.array(fc.tuple(cell, cell), { maxLength: 6 });
  fc.assert(
    fc.property(records, (rows) => {
      const view: View = {
        kind: "table",
        columns: [
          { key: "one", label: "" },
          { key: "two", label: "" },
        ],
        rows: rows.map(([one, two]) => ({ id: "", cells: { one: text(one), two: text(two) } })),
        empty: "",
      };
      const [header, ...read] = parsed(toCsv(view, { header: true }));
      expect(header).toEqual(["one", "two"]);
      expect(read).toEqual(rows.map((row) => row.map(defused)));
      for (const one of read.flat()) expect(one).not.toMatch(/^[=+\-@\t\r]/);
    }),
    { numRuns: runs(300, 100_000) },
  );
});

function table(values: string[]): View {
  return {
    kind: "table",
    columns: [{ key: "value", label: "VALUE" }],
    rows: values.map((value) => ({ id: value, cells: { value: text(value) } })),
    empty: "",
  };
}

function defused(value: string): string {
  const shown = clean(value);
  return /^'*[=+\-@]/.test(shown) ? `'${shown}` : shown;
}

/** RFC 4180, in as few lines as it takes. */
function parsed(csv: string): string[][] {
  const records: string[][] = [];
  const record: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < csv.length; at += 1) {
    const character = csv.charAt(at);
    if (quoted && character === '"' && csv[at + 1] === '"') at += 1;
    else if (character === '"') {
      quoted = !quoted;
      continue;
    }
    if (!quoted && character === "\r") continue;
    if (!quoted && (character === "," || character === "\n")) {
      record.push(cell);
      cell = "";
      if (character === "\n") records.push(record.splice(0));
    } else cell += character;
  }
  return records;
}
