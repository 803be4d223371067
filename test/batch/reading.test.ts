import { expect, test } from "vitest";
import { recordsOf } from "../../src/batches/csv.ts";
import { totalsOf } from "../../src/batches/rows.ts";
import { amountText } from "../../src/domain/amount.ts";
import { examiner, places } from "./files.ts";

const cells = {
  ref: "A1",
  amount: "5",
  to: "01712345678",
  method: "bkash",
  name: "Mina",
  description: "Salary",
};
const header = Object.keys(cells).join(",");
const row = (changed: Partial<typeof cells> = {}) =>
  Object.values({ ...cells, ...changed })
    .map((cell) => `"${cell.replaceAll('"', '""')}"`)
    .join(",");
const last = "A9,1.5,01912345678,bkash,,";
const file = (...lines: string[]) => [header, ...lines].join("\n");
const named = (name: string) => file(`A1,5,01712345678,bkash,${name},`, last);
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const examine = examiner();
const examineWithMethod = examiner({ method: "Rocket" });

test.each<[string, string | Buffer, string, string?]>([
  ["the smallest amount", file(row({ amount: "0.01" })), "0.01"],
  ["the largest amount", file(row({ amount: "999999999999.99" })), "999999999999.99"],
  ["a number with +880, a space and a hyphen", file(row({ to: "+880 1712-345678" })), "5"],
  ["a number with spaces around it", file(row({ to: " 8801712345678 " })), "5"],
  ["Bangla with its joiners", file(row({ name: "ক্\u200cষ র\u200dয 🎉" })), "5"],
  ["a formula, guarded or not", file(row({ name: "'=A1", description: "=1+1" })), "5"],
  ["doubled quotes and a comma", named('"Das, ""Moon"""'), "6.5"],
  ["CRLF, CR and LF", named("").replace("\n", "\r\n").replace(/\n/, "\r"), "6.5"],
  ["blank lines anywhere", `\n${file("", row(), ",,,,,", "   ", last, "")}\n\n`, "6.5"],
  ["a byte order mark", `\ufeff${file(row())}`, "5"],
  ["a long cell", named("x".repeat(60_000)), "6.5"],
  ["semicolons", named('"a,b"').replace(/,(?!b")/g, ";"), "6.5", ";"],
  ["a tab", named("").replaceAll(",", "\t"), "6.5", "\t"],
  ["columns in another order", "to,amount,method\n01712345678,5,bkash", "5"],
  [
    "the API's own column names",
    "merchantRef,amount,recipientNumber,paymentMethodId\nA,5,01712345678,665f1c2ab8e4",
    "5",
  ],
])("reads a file with %s", async (_, content, total, delimiter) => {
  const { rows, findings } = await examine(content, delimiter);
  expect([findings, amountText(totalsOf(rows).total.sumPaisa)]).toEqual([[], total]);
});

test("rows without a method get that of --method", async () => {
  for (const content of ["amount,to\n5,01712345678", file(row({ method: "" }))]) {
    const { rows, findings } = await examineWithMethod(content);
    expect([findings, rows[0]?.methodId]).toEqual([[], "665f1c2ab8e6"]);
  }
});

test.each<[keyof typeof cells, string, string]>([
  ["amount", "1,25,000.50", "Did you mean 125000.50?"],
  ["amount", "1\u00a0000", "Did you mean 1000?"],
  ["amount", "১২৫০", "Did you mean 1250?"],
  ["amount", "１２５０", "Did you mean 1250?"],
  ["amount", "1E+03", "Did you mean 1000?"],
  ["amount", "'500", "Did you mean 500?"],
  ["amount", "1.234", "at most two decimals"],
  ["amount", "-500", "Example: 1250.50"],
  ["amount", "1000000000000", "below 1000000000000"],
  ["amount", "0", "above zero"],
  ["amount", "", "This cell is empty"],
  ["to", "1712345678", "a leading zero was lost"],
  ["to", "8.80171E+12", "spreadsheet rounded"],
  ["to", "০১৭১২৩৪৫৬৭৮", "ASCII digits"],
  ["to", "01712345678.0", "01XXXXXXXXX"],
  ["to", "+91 1712345678", "01XXXXXXXXX"],
  ["to", "", "This cell is empty"],
  ["ref", "A:1", "colon"],
  ["ref", "x".repeat(65), "1 to 64"],
  ["ref", "", "This cell is empty"],
  ["method", "bikash", "There is no such method."],
  ["method", "\ufeffbkash", "invisible character"],
  ["method", "", "or add --method"],
  ["name", "Mina\u0007", "control character"],
  ["name", "Mina\u202eDas", "invisible character"],
  ["description", "one\ntwo", "line break"],
])("rejects the %s %j at its line and column, with advice", async (column, value, advice) => {
  const { rows, findings } = await examine(file(last, row({ [column]: value })));
  const problem = expect.stringContaining(advice);
  expect(rows).toHaveLength(2);
  expect(findings).toEqual([{ kind: "cell", line: 3, column, value, problem }]);
});

const bad = "B8,bad,01912345678,bkash,,";
const all = { ref: "", amount: "x", to: "x", method: "x", name: "\t", description: "\t" };

test.each<[string, string | Buffer, string[], string, string?]>([
  ["every cell of a row", file(row(all)), Object.keys(cells).map((column) => `2 ${column}`), ""],
  ["a short line", file("A1,5,01712345678,bkash"), ["2"], "This line has 4 cells"],
  ["a long line", file(`${row()},`), ["2"], "This line has 7 cells"],
  ["very many cells", file(",x".repeat(100_000)), ["2"], "longer than 65536 bytes"],
  ["a stray quote", file(last, 'A1,5,01712345678,bkash,6",'), ["3"], '"a ""b"" c"'],
  [
    "a quote that is never closed",
    file(bad, 'A1,5,01712345678,bkash,"x', last),
    ["2 amount", "3"],
    "",
  ],
  [
    "a line break in a cell",
    file('A1,5,01712345678,bkash,"a\r\nb\n\nc",', bad),
    ["2 name", "6 amount"],
    "",
  ],
  ["no method anywhere", "amount,to\n5,01712345678\n6,01712345678", ["2 method", "3 method"], ""],
  ["UTF-16", utf16(file(row())), ["1"], "UTF-16"],
  ["UTF-16 with a mark", utf16(`\ufeff${file(row())}`).swap16(), ["1"], "UTF-16"],
  ["a workbook", Buffer.from("504b030414000600080000002100", "hex"), ["1"], "workbook"],
  [
    "Windows-1252",
    Buffer.from(file(bad, `A1,5,01712345678,bkash,Jos\xe9,`), "latin1"),
    ["2 amount", "3"],
    "",
  ],
  [
    "half a character",
    Buffer.concat([Buffer.from(file("A1,5,01712345678,bkash,")), Buffer.of(0xe0)]),
    ["2"],
    "not UTF-8",
  ],
  ["a zero byte", file(row({ amount: "18\x00500" })), ["2 amount"], ""],
  ["an unknown column", "amount,to,method,phone\nx", ["1 phone"], "Unknown column."],
  ["a prototype's name as a column", "amount,to,__proto__\nx", ["1 __proto__"], "Unknown column"],
  ["a column in capitals", "amount,to,Name\nx", ["1 Name"], "exactly as name."],
  [
    "a column that occurs twice",
    "amount,to,amount\nx",
    ["1 amount"],
    "Column 1 already has the amount",
  ],
  ["two names of one column", "to,amount,recipientNumber\nx", ["1 recipientNumber"], "Column 1"],
  ["no column for the recipient", "ref,amount,method\nx", ["1"], "The column to is missing."],
  ["Excel's own first line", `sep=,\n${file(row())}`, ["1"], "Delete that line."],
  ["no header", "A1,5,01712345678,bkash\n", ["1"], "not a header"],
  ["no row", `${header}\r\n,,\r\n`, ["1"], "a header and no rows"],
  ["no content", "\n\r\n", ["1"], "The file is empty."],
  ["semicolons", file(row()).replaceAll(",", ";"), ["1"], "Add --delimiter semicolon"],
  ["commas with --delimiter semicolon", file(last), ["1"], "Add --delimiter comma", ";"],
  ["pipes", file(last).replaceAll(",", "|"), ["1"], "Save the file with commas"],
])("rejects a file with %s where it is", async (_, content, where, advice, delimiter) => {
  const { findings } = await examine(content, delimiter);
  expect(places(findings)).toEqual(where);
  const texts = findings.map((one) => (one.kind === "cell" ? one.problem : one.kind));
  expect(texts.join(" ")).toContain(advice);
});

test("counts characters and line breaks once that two reads share", async () => {
  const rows = Array.from({ length: 1_500 }, (_, index) => {
    return `A${index},5,017${String(index).padStart(8, "0")},bkash,রহিমা,`;
  });
  for (const shift of ["", "a", "aa"])
    for (const end of ["\n", "\r\n"]) {
      const text = [header, ...rows, bad].join(end).replace("রহিমা", `${shift}রহিমা`);
      const read = await examine(text);
      expect(read.rows).toHaveLength(1_501);
      expect(places(read.findings)).toEqual(["1502 amount"]);
    }
});

test.each([
  ["blank lines", "\r\n", 1],
  ["lines with one cell", "x\n", 50_001],
])("reads %s no slower than rows of the same size, within a wide bound", async (_, line, count) => {
  const whole = (one: string) => `${header}\n${one.repeat(Math.ceil(100_000 / one.length))}`;
  const rows = await timeOf(whole(`${last}\n`));
  const lines = await timeOf(whole(line));
  expect(lines.count).toBe(count);
  expect(lines.ms).toBeLessThan(20 * rows.ms + 5_000);
});

async function timeOf(text: string): Promise<{ count: number; ms: number }> {
  const startMs = performance.now();
  let count = 0;
  for await (const records of recordsOf(inPieces(text), ",")) count += records.length;
  return { count, ms: performance.now() - startMs };
}

async function* inPieces(text: string): AsyncIterable<string> {
  for (let start = 0; start < text.length; start += 32_768) yield text.slice(start, start + 32_768);
}
