import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TableRow } from "../../src/tables/cell.ts";
import { csvPages, detectDelimiter, Unreadable } from "../../src/tables/csv.ts";
import { createCsvParser } from "../../src/tables/csv-parser.ts";
import { runs } from "../support/helpers.ts";

/** Reads a text up to its problem. */
async function read(pieces: string[], delimiter = ",") {
  const rows: TableRow[] = [];
  async function* text() {
    yield* pieces;
  }
  try {
    for await (const page of csvPages(text(), delimiter)) rows.push(...page);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { rows, problem: { line: error.line, message: error.message } };
  }
  return { rows, problem: undefined };
}

/** A text, cut into pieces at any places. */
function inPieces(text: string, cuts: number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length];
  const sorted = places.sort((one, other) => one - other);
  return sorted.slice(1).map((to, index) => text.slice(sorted[index], to));
}

/** The cells by the strict parser of a library; undefined if the text is not CSV. */
function oracle(text: string, delimiter: string): string[][] | undefined {
  try {
    const options = { delimiter, record_delimiter: ["\r\n", "\n", "\r"] };
    return parse(text, { ...options, relax_column_count: true, skip_empty_lines: true });
  } catch {
    return undefined;
  }
}

const texts = fc
  .array(fc.constantFrom("a", "b1", " ", ",", ";", '"', '""', '","', "\n", "\r", "\r\n", "é", "ক"))
  .map((parts) => parts.join(""));

test("CSV in pieces is read as a strict parser reads the whole text", () => {
  const anyCuts = fc.array(fc.nat(), { maxLength: 4 });
  const property = fc.property(
    texts,
    anyCuts,
    fc.constantFrom(",", ";"),
    (text, cuts, delimiter) => {
      const parser = createCsvParser(delimiter, 1_000);
      const rows = inPieces(text, cuts).flatMap((piece) => parser.read(piece));
      rows.push(...parser.end());
      const cells = rows.map((row) => row.cells);
      const expected = oracle(text, delimiter);
      expect(parser.problem() === undefined).toBe(expected !== undefined);
      if (expected) expect(cells).toEqual(expected);
    },
  );
  fc.assert(property, { numRuns: runs(500, 100_000) });
});

test("each row of a CSV file has the line on which it begins", () => {
  const anyCell = fc.constantFrom("a", "", "x y", "two\nlines", "three\r\nlines\rhere", 'a "b"');
  const anyTable = fc.array(fc.array(anyCell, { minLength: 2, maxLength: 4 }), { maxLength: 8 });
  const [anyEnd, anyCuts] = [fc.constantFrom("\n", "\r\n", "\r"), fc.array(fc.nat())];
  const property = fc.property(anyTable, anyEnd, anyCuts, (table, end, cuts) => {
    let line = 1;
    const lines: number[] = [];
    let text = "";
    for (const cells of table) {
      lines.push(line);
      const record = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",");
      text += record + end;
      line += record.split(/\r\n|[\r\n]/).length;
    }
    const parser = createCsvParser(",", 1_000);
    const rows = inPieces(text, cuts).flatMap((piece) => parser.read(piece));
    rows.push(...parser.end());
    expect(rows.map((row) => row.line)).toEqual(lines);
    expect(rows.map((row) => row.cells)).toEqual(table);
  });
  fc.assert(property, { numRuns: runs(300, 10_000) });
});

describe("a CSV file", () => {
  test("is read without blank rows and without a first line sep=", async () => {
    const { rows } = await read(["sep=;\r\nref;amount\r\n;\r\n\r\nA;5\r\n"], ";");
    expect(rows).toEqual([
      { line: 2, cells: ["ref", "amount"] },
      { line: 5, cells: ["A", "5"] },
    ]);
  });

  test.each([
    ["a,b\nc,d\u{fffd}e\n", { line: 2 }, "not UTF-8"],
    ['a,b\nc,"two\nlines\u{fffd}', { line: 3 }, "not UTF-8"],
    ['a,b\nc,x "y"\n', { line: 2 }, "quote inside a cell"],
    ['a,b\nc,"x"y\n', { line: 2 }, "quote inside a cell"],
    ['a,b\nc,"x\nd,e\n', { line: 2 }, "never closed"],
    ['"a,b\nc,d\n', { line: 1 }, "add --delimiter"],
    [`a,b\n"${"x".repeat(70_000)}`, { line: 2 }, "never closed"],
    [`a,b\n${"x".repeat(70_000)}`, { line: 2 }, "longer than 65536"],
  ])("%j is read up to its problem", async (text, where, message) => {
    const { rows, problem } = await read([text]);
    expect(problem).toMatchObject(where);
    expect(problem?.message).toContain(message);
    expect(rows.map(({ line }) => line)).toEqual(where.line === 1 ? [] : [1]);
  });
});

test.each([
  ["a,b,c\n1,2,3\n", ","],
  ["a;b\n1;2,5\n3;4,5\n", ";"],
  ["a;b\n1,250.50;x\n2,250.50;y\n", ";"],
  ["a\tb, c\n1\t2\n", "\t"],
  ['a;b\n"x;y";"1,2"\n', ";"],
  ["Statement, of Rahima; Dhaka\nDate;Ref;Amount\n1;2;3\n4;5;6", ";"],
  ["one\ntwo\n", ","],
  ["sep=;\na,b;c,d\n", ";"],
  ["sep=|\na|b\n", "|"],
  ["1,2\n3,4\n", ","],
  ["", ","],
])("the delimiter of %j is found", (text, delimiter) => {
  expect(detectDelimiter(text)).toBe(delimiter);
});
