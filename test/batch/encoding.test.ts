import { expect, test } from "vitest";
import { testAccount } from "../commands/account.ts";
import { built } from "../run.ts";
import { check, fileOf, places } from "./files.ts";

const account = testAccount();

const header = "ref,amount,to,method,name";
const rahima = "A1,18500,01712345678,bkash,রহিমা বেগম";
const jose = "A2,21250.50,01812345678,bkash,José";
const good = `${header}\n${rahima}\n${jose}\n`;

function utf16(text: string, { swapped = false, marked = false }): Buffer {
  const bytes = Buffer.from(marked ? `\ufeff${text}` : text, "utf16le");
  return swapped ? bytes.swap16() : bytes;
}

test.each([
  ["without a mark", good],
  ["with a byte order mark", `\ufeff${good}`],
])("UTF-8 %s is read", async (_, text) => {
  expect(await check(account, text)).toMatchObject({ code: 0, rows: 2, total: "39750.5" });
});

test("a second byte order mark is part of the header's first name", async () => {
  const seen = await check(account, `\ufeff\ufeff${good}`);
  expect(seen).toMatchObject({ code: 2, problems: [{ line: 1, column: "\ufeffref" }] });
  expect(seen.problems[0]?.problem).toBe("Write the column as ref, exactly.");
});

test.each([
  ["little endian, marked", utf16(good, { marked: true })],
  ["big endian, marked", utf16(good, { marked: true, swapped: true })],
  ["little endian", utf16(good, {})],
  ["big endian", utf16(good, { swapped: true })],
  ["little endian with tabs, as Excel's 'Unicode Text'", utf16(good.replaceAll(",", "\t"), {})],
])("UTF-16 is refused by name: %s", async (_, bytes) => {
  const seen = await check(account, bytes);
  expect(seen).toMatchObject({ code: 2, rows: 0, problemCount: 1, problems: [{ line: 1 }] });
  expect(seen.problems[0]?.problem).toContain("UTF-16");
  expect(seen.problems[0]?.problem).toContain("CSV UTF-8");
});

test.each([
  ["xlsx or ods", "504b030414000600080000002100"],
  ["xls", "d0cf11e0a1b11ae1000000000000"],
])("a workbook is refused by name: %s", async (_, start) => {
  const seen = await check(account, Buffer.from(`${start}fffe00c8`, "hex"));
  expect(seen).toMatchObject({ code: 2, rows: 0, problemCount: 1, problems: [{ line: 1 }] });
  expect(seen.problems[0]?.problem).toContain("workbook");
  expect(seen.problems[0]?.problem).toContain("CSV UTF-8");
});

const lineEnds: [string, string][] = [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
];

test.each(lineEnds)("Windows-1252 is refused on its line, with %s", async (_, end) => {
  const rows = [header, "A1,5,01712345678,bkash,Ana", "A2,6,01712345678,bkash,Jos\u00e9", "A3,bad"];
  const seen = await check(account, Buffer.from(rows.join(end), "latin1"));
  expect(seen).toMatchObject({ code: 2, rows: 1, problemCount: 1, problems: [{ line: 3 }] });
  expect(seen.problems[0]?.problem).toContain("not UTF-8");
});

test("what is wrong before a byte that cannot be read is told as well", async () => {
  const rows = [header, "A1,bad,01712345678,bkash,Ana", "A2,5,01712345678,bkash,Jos\u00e9", ""];
  const seen = await check(account, Buffer.from(rows.join("\n"), "latin1"));
  expect(places(seen)).toEqual(["2 amount", "3"]);
});

test.each([
  ["a character that is cut off at the end", [0xe0, 0xa6], 2],
  ["a character in too many bytes", [0xc0, 0xaf], 2],
  ["half of a surrogate pair", [0xed, 0xa0, 0x80], 2],
  ["a byte that begins no character", [0x80], 2],
  ["the mark of an earlier program that could not read it", [0xef, 0xbf, 0xbd], 2],
])("%s is refused on its line", async (_, bytes, line) => {
  const start = Buffer.from(`${header}\nA1,5,01712345678,bkash,`);
  const seen = await check(account, Buffer.concat([start, Buffer.from(bytes)]));
  expect(seen).toMatchObject({ code: 2, problemCount: 1, problems: [{ line }] });
});

test("the line of a bad byte is right after a line break that two reads share", async () => {
  const pieceLength = 256 * 1024;
  const row = (index: number, length = 64) =>
    `A${index},${index + 1},01712345678,bkash,`.padEnd(length - 2, "x");
  const rows = Array.from({ length: pieceLength / 64 - 1 }, (_, index) => row(index + 1));
  const text = [header, row(0, 64 + 1 - header.length - 2), ...rows].join("\r\n");
  expect(text.length + 1).toBe(pieceLength); // so that the first piece ends with CR
  const bytes = Buffer.concat([Buffer.from(`${text}\r\n`), Buffer.from([0xe9])]);
  const seen = await check(account, bytes);
  expect(places(seen)).toEqual([String(rows.length + 3)]);
});

test("a character that two reads share is one character", async () => {
  const row = (index: number) => `A${index},5,017${String(index).padStart(8, "0")},bkash,রহিমা`;
  const rows = Array.from({ length: 8_000 }, (_, index) => row(index));
  for (const shift of ["", "a", "aa"]) {
    const seen = await check(account, [header, ...rows].join("\n").replace("রহিমা", `${shift}রহিমা`));
    expect(seen).toMatchObject({ code: 0, rows: 8_000, total: "40000" });
  }
});

test("the built tool says the same", async () => {
  const seen = await Promise.all(
    [good, utf16(good, {})].map((bytes) =>
      built(["payout", "batch", "check", fileOf(bytes)], { env: account.env() }),
    ),
  );
  expect(seen.map(({ code }) => code)).toEqual([0, 2]);
  expect(seen[0]?.stdout).toContain("BDT 39,750.50");
  expect(seen[1]?.stdout).toContain("UTF-16");
});

test("a stray zero byte is no UTF-16: it is told where it stands", async () => {
  const seen = await check(account, good.replace("18500", "18\x00500"));
  expect(places(seen)).toEqual(["2 amount"]);
});
