import { expect, test } from "vitest";
import { recordsOf } from "../../src/batches/csv.ts";
import { testAccount } from "../commands/account.ts";
import { check, places } from "./files.ts";

const account = testAccount();

const header = "ref,amount,to,method,name,description";
const named = (name: string, description = "") =>
  `A1,18500,01712345678,bkash,${name},${description}`;
const last = "A9,1.5,01912345678,bkash,,";
const bad = "A9,bad,01912345678,bkash,,";

test.each([
  ["a comma", '"Das, Mina"'],
  ["doubled quotes", '"Mina ""Moon"" Das"'],
  ["nothing but doubled quotes", '""""""'],
  ["an empty text", '""'],
  ["a delimiter of other files", '"a;b"'],
  ["an apostrophe", "O'Neil"],
])("a cell may hold %s", async (_, name) => {
  const seen = await check(account, [header, named(name), last].join("\n"));
  expect(seen).toMatchObject({ code: 0, rows: 2, total: "18501.5" });
});

test("every cell may be quoted", async () => {
  const text = [header, named("Mina"), last].join("\n").replace(/[^,\n]+/g, '"$&"');
  expect(await check(account, text)).toMatchObject({ code: 0, rows: 2, total: "18501.5" });
});

test.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
])("a line break inside quotes belongs to the cell, and lines count on: %s", async (_, end) => {
  const text = [header, named(`"a${end}b${end}${end}c"`), bad, ""].join(end);
  const seen = await check(account, text);
  expect(seen).toMatchObject({ code: 2, rows: 2 });
  expect(places(seen)).toEqual(["2 name", "6 amount"]);
  expect(seen.problems[0]?.problem).toContain("line break");
});

test.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
])("a file may end its lines with %s, the last one too or not", async (_, end) => {
  const text = [header, named(""), last].join(end);
  for (const whole of [text, text + end])
    expect(await check(account, whole)).toMatchObject({ code: 0, rows: 2, total: "18501.5" });
});

test("line ends may be mixed, and each counts as one line", async () => {
  const text = `${header}\r\n${named("")}\r${last}\n\r\nA7,x,01712345678,bkash,,`;
  expect(places(await check(account, text))).toEqual(["5 amount"]);
});

test.each([
  ["empty", ""],
  ["of spaces", "   "],
  ["of delimiters alone", ",,,,,"],
  ["of quoted nothing", '"","","","","",""'],
])("lines that are %s are left out, wherever they stand", async (_, blank) => {
  const seen = await check(
    account,
    [blank, header, blank, named(""), blank, blank, bad].join("\n"),
  );
  expect(seen).toMatchObject({ rows: 2 });
  expect(places(seen)).toEqual(["7 amount"]);
});

test.each([
  ["blank lines", "\n", 1],
  ["blank lines that end in CRLF", "\r\n", 1],
  ["lines with one cell", "x\n", 150_001],
])("%s take no longer than rows of the same size, within a wide bound", async (_, line, count) => {
  const whole = (row: string, many: number) => `${header}\n${row.repeat(many)}`;
  const row = `${named("Rahima Begum")}\n`;
  const rows = await timeOf(whole(row, Math.ceil(300_000 / row.length)));
  const lines = await timeOf(whole(line, Math.ceil(300_000 / line.length)));
  expect(lines.count).toBe(count);
  expect(lines.ms).toBeLessThan(20 * rows.ms + 5_000);
});

test.each([
  ["in the middle of a cell", named('Mina "Moon" Das')],
  ["at the end of a cell", named('6"')],
  ["doubled in a cell without quotes", named('Mina ""Moon""')],
  ["after the closing quote", named('"Mina"Das')],
  ["before a space after the closing quote", named('"Mina" ')],
])("a stray quote is refused on its line: %s", async (_, row) => {
  const seen = await check(account, [header, bad, row, last].join("\n"));
  expect(seen).toMatchObject({ code: 2, rows: 1 });
  expect(places(seen)).toEqual(["2 amount", "3"]);
  expect(seen.problems[1]?.problem).toContain('"a ""b"" c"');
});

test.each([
  ["at the end of the file", [named('"Mina')]],
  ["before many rows", [named('"Mina'), ...Array.from({ length: 5_000 }, () => last)]],
])("a quote that is never closed is refused where its row begins: %s", async (_, rows) => {
  const seen = await check(account, [header, bad, ...rows].join("\r\n"));
  expect(seen).toMatchObject({ code: 2, rows: 1 });
  expect(places(seen)).toEqual(["2 amount", "3"]);
  expect(seen.problems[1]?.problem).toContain("opened here and never closed");
});

test.each([
  ["a long cell", named("x".repeat(60_000)), 0],
  ["a cell that is too long", named("x".repeat(70_000)), 2],
  ["too many cells", ",x".repeat(100_000), 2],
])("%s", async (_, row, code) => {
  const seen = await check(account, [header, last, row].join("\n"));
  expect(seen.code).toBe(code);
  expect(places(seen)).toEqual(code === 0 ? [] : ["3"]);
  if (code !== 0) expect(seen.problems[0]?.problem).toContain("longer than 65536 bytes");
});

test("many cells in a short line are a line of the wrong length", async () => {
  const seen = await check(account, [header, last, ",x".repeat(1_000)].join("\n"));
  expect(seen.problems[0]).toMatchObject({
    line: 3,
    column: "",
    problem: "This line has 1001 cells, the header has 6.",
  });
});

test.each([
  ["semicolon", ";"],
  ["tab", "\t"],
  [";", ";"],
  ["\t", "\t"],
  ["comma", ","],
])("--delimiter %j parts the cells", async (flag, character) => {
  const text = [header, named("Mina", '"a,b;c"'), last].join("\n").replace(/,(?!b;)/g, character);
  const seen = await check(account, text, ["--delimiter", flag]);
  expect(seen).toMatchObject({ code: 0, rows: 2, total: "18501.5" });
});

test.each(["constructor", "pipe", "|", "", "__proto__", ",,"])(
  "--delimiter %j is refused",
  async (flag) => {
    const seen = await check(account, [header, last].join("\n"), ["--delimiter", flag]);
    expect(seen.code).toBe(2);
    expect(seen.stderr).toContain("--delimiter");
  },
);

test.each([
  [";", [], "Add --delimiter semicolon"],
  ["\t", [], "Add --delimiter tab"],
  [",", ["--delimiter", "semicolon"], "Add --delimiter comma"],
  ["|", [], "Save it with commas"],
])("a header that %j parts, and we do not, says what to do", async (character, flags, hint) => {
  const seen = await check(account, [header, last].join("\n").replaceAll(",", character), flags);
  expect(seen).toMatchObject({ code: 2, problemCount: 1, problems: [{ line: 1, column: "" }] });
  expect(seen.problems[0]?.problem).toContain(hint);
});

test.each([
  ["all quoted", '"ref";"amount";"to"'],
  ["some quoted", 'ref;"amount";to'],
])("the same where the header is quoted: %s", async (_, text) => {
  const seen = await check(account, `${text}\nA1;5;01712345678\n`);
  expect(seen).toMatchObject({ code: 2, problemCount: 1, problems: [{ line: 1 }] });
  expect(seen.problems[0]?.problem).toContain("--delimiter");
});

/** How many records a text has that are not blank, and how long reading them takes. */
async function timeOf(text: string): Promise<{ count: number; ms: number }> {
  const startMs = performance.now();
  let count = 0;
  for await (const records of recordsOf(inPieces(text), ",")) count += records.length;
  return { count, ms: performance.now() - startMs };
}

async function* inPieces(text: string): AsyncIterable<string> {
  for (let start = 0; start < text.length; start += 32_768) yield text.slice(start, start + 32_768);
}
