import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPayoutFile } from "../../src/batches/payout-file.ts";
import { collect } from "../../src/domain/collect.ts";
import { scratchFolder } from "../support/helpers.ts";
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
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const examine = examiner();
const examineWithMethod = examiner({ method: "Rocket" });

// test/batch/corpus.ts has what people, spreadsheets and editors do to a file.

test.each<[string, string]>([
  ["the largest amount", file(row({ amount: "999999999999.99" }))],
  ["a guarded formula", file(row({ name: "'=A1", description: "=1+1" }))],
  ["a long cell", file(row({ name: "x".repeat(60_000) }))],
])("reads a file with %s", async (_, content) => {
  expect((await examine(content)).findings).toEqual([]);
});

test("rows without a method get that of --method", async () => {
  for (const content of ["amount,to\n5,01712345678", file(row({ method: "" }))]) {
    const { rows, findings } = await examineWithMethod(content);
    expect([findings, rows[0]?.methodId]).toEqual([[], "665f1c2ab8e6"]);
  }
});

test.each<[keyof typeof cells, string, string]>([
  ["amount", "1,25,000.50", "Did you mean 125000.50?"],
  ["amount", "১২৫০", "Did you mean 1250?"],
  ["amount", "1.234", "at most two decimals"],
  ["to", "1712345678", "a leading zero was lost"],
  ["to", "+91 1712345678", "Write 01 and nine digits"],
  ["ref", "x".repeat(65), "1 to 64"],
  ["method", "\ufeffbkash", "invisible character"],
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
  ["very many cells", file(",x".repeat(100_000)), ["2"], "longer than 65536 characters"],
  ["a stray quote", file(last, 'A1,5,01712345678,bkash,6",'), ["3"], '"a ""b"" c"'],
  [
    "a line break in a cell",
    file('A1,5,01712345678,bkash,"a\r\nb\n\nc",', bad),
    ["2 name", "6 amount"],
    "",
  ],
  [
    "a prototype's name as a column",
    `${header},__proto__\n${row()},x`,
    ["1 __proto__"],
    "Rename the column",
  ],
  ["no row", `${header}\r\n,,\r\n`, ["1"], "a header but no rows"],
  ["no content", "\n\r\n", ["1"], "The file is empty."],
  ["semicolons", file(row()).replaceAll(",", ";"), ["1"], "Add --delimiter semicolon"],
  ["commas with --delimiter semicolon", file(last), ["1"], "Add --delimiter comma", ";"],
])("rejects a file with %s where it is", async (_, content, where, advice, delimiter) => {
  const { findings } = await examine(content, delimiter);
  expect(places(findings)).toEqual(where);
  const texts = findings.map((one) => (one.kind === "cell" ? one.problem : one.kind));
  expect(texts.join(" ")).toContain(advice);
});

test("rejects UTF-16 without a mark, and reads it with one", async () => {
  await expect(examine(utf16(file(row())))).rejects.toThrow("UTF-16");
  expect(await examine(utf16(`\ufeff${file(row())}`))).toMatchObject({ findings: [] });
});

test("a file that is changed between two readings is rejected", async () => {
  const path = join(scratchFolder(), "s.csv");
  writeFileSync(path, `${header}\n${row()}`);
  const { mtime } = statSync(path);
  const file = await openPayoutFile(path);
  expect((await collect(file.pieces())).join("")).toBe(`${header}\n${row()}`);
  writeFileSync(path, `${header}\n${row({ amount: "6" })}`);
  utimesSync(path, mtime, mtime);
  await expect(collect(file.pieces())).rejects.toThrow("was changed while it was read");
});
