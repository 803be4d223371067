import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { Unreadable } from "../../src/tables/csv.ts";
import { openTable } from "../../src/tables/source.ts";
import { collect } from "../support/helpers.ts";
import { fileWith, options, readBytes, zipOf } from "./workbooks.ts";

const text = "ref,amount\nA-1,১২৫০.৫০\nরহিমা,5\n";
const rows = [
  { line: 1, cells: ["ref", "amount"] },
  { line: 2, cells: ["A-1", "১২৫০.৫০"] },
  { line: 3, cells: ["রহিমা", "5"] },
];

function utf16(content: string, isBigEndian: boolean): Buffer {
  const bytes = Buffer.from(`\ufeff${content}`, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
}

describe("a CSV file is read by its bytes", () => {
  test.each([
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${text}`)],
    ["UTF-16 LE with a byte order mark", utf16(text, false)],
    ["UTF-16 BE with a byte order mark", utf16(text, true)],
    ["semicolons", Buffer.from(text.replaceAll(",", ";"))],
    ["tabs and CRLF", Buffer.from(text.replaceAll(",", "\t").replaceAll("\n", "\r\n"))],
  ])("%s", async (_, bytes) => {
    const read = await readBytes(bytes);
    expect(read.source.kind).toBe("csv");
    expect(read.rows).toEqual(rows);
  });

  test("with the delimiter that is given", async () => {
    const { source, cells } = await readBytes("a,b;c\n", { delimiter: ";" });
    expect(source.delimiter).toBe(";");
    expect(cells).toEqual([["a,b", "c"]]);
  });

  test("in several pieces, and again from the disk", async () => {
    const line = `A-1,রহিমা ${"x".repeat(90)}\n`;
    const source = await openTable(fileWith(line.repeat(9_000)), {
      ...options,
      limit: { rows: 9_000, message: "" },
    });
    const [first, again] = [await collect(source.pages()), await collect(source.pages())];
    expect(first.length).toBeGreaterThan(2);
    expect(first.flat()).toHaveLength(9_000);
    expect(first.flat().every(({ cells }) => cells[1] === `রহিমা ${"x".repeat(90)}`)).toBe(true);
    expect(again.flat()).toEqual(first.flat());
  });

  test("up to the most rows, and the row that is too many is named", async () => {
    const source = await openTable(fileWith("a,b\n".repeat(1_001)), options);
    const pages: unknown[] = [];
    const reading = (async () => {
      for await (const page of source.pages()) pages.push(...page);
    })();
    await expect(reading).rejects.toThrow(Unreadable);
    await expect(reading).rejects.toMatchObject({ line: 1_001, message: "At most 1,000 rows." });
    expect(pages).toHaveLength(1_000);
  });

  test("and rejected if it was changed since it was opened", async () => {
    const path = fileWith("a,b\n1,2\n");
    const source = await openTable(path, options);
    await collect(source.pages());
    appendFileSync(path, "3,4\n");
    await expect(collect(source.pages())).rejects.toThrow("was changed while it was read");
  });
});

const portal = readFileSync(new URL("../fixtures/portal.xls", import.meta.url));

describe("a file that is no table is rejected with advice", () => {
  test.each([
    [
      "the web page of a bank's portal",
      portal,
      "is a web page, as portals of banks deliver tables",
    ],
    ["an HTML table", "\n<!-- x -->\n<TABLE border=1><tr><td>1", "is a web page"],
    ["a document type", "\ufeff<!DOCTYPE html><html>", "is a web page"],
    ["XHTML", '<?xml version="1.0"?><!DOCTYPE html><html>', "is a web page"],
    ["a web page in UTF-16", utf16("<html><table>", false), "is a web page"],
    ["MHTML", "MIME-Version: 1.0\nContent-Type: multipart/related;\n", "MHTML"],
    ["XML of a spreadsheet", '<?xml version="1.0"?><Workbook>', "is XML"],
    ["a PDF document", "%PDF-1.7\n%âãÏÓ\n1 0 obj", "is a PDF document"],
    ["RTF", "{\\rtf1 a,b}", "RTF"],
    [
      "UTF-16 without a mark",
      Buffer.from("ref,amount\nA,5\n", "utf16le"),
      "without a byte order mark",
    ],
    [
      "an image",
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]),
      "neither a CSV",
    ],
    ["an archive without a sheet", zipOf({ "letter.txt": "Hello" }), "archive without a sheet"],
    ["a text document in a zip", zipOf({ "word/document.xml": "<w/>" }), "archive without a sheet"],
  ])("%s", async (_, bytes, message) => {
    await expect(readBytes(bytes)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining(message),
      details: { hint: expect.stringMatching(/CSV/) },
    });
  });

  test("text that is not UTF-8, at its line", async () => {
    const bytes = Buffer.concat([
      Buffer.from("ref,name\nA-1,Ren"),
      Buffer.of(0xe9),
      Buffer.from("\n"),
    ]);
    await expect(readBytes(bytes)).rejects.toMatchObject({
      line: 2,
      message: expect.stringContaining("not UTF-8"),
    });
  });

  test.each([
    ["a file that does not exist", "/nowhere/table.csv", "does not exist"],
    ["a directory", tmpdir(), "is a directory"],
    ["a device", "/dev/null", "is not a regular file"],
  ])("%s", async (_, path, message) => {
    await expect(openTable(path, options)).rejects.toThrow(message);
  });

  test("--sheet of a CSV file", async () => {
    await expect(readBytes("a,b\n", { sheet: "Payroll" })).rejects.toThrow("is not a workbook");
  });
});

describe("standard input", () => {
  async function* input() {
    yield "ref,amo";
    yield Buffer.from("unt\nA-1,5\n");
  }

  test("is read several times, and leaves no file", async () => {
    const before = readdirSync(tmpdir());
    const source = await openTable("-", { ...options, standardInput: input() });
    expect(source.path).toBe("standard input");
    for (let time = 0; time < 2; time += 1)
      expect((await collect(source.pages())).flat().map(({ cells }) => cells)).toEqual([
        ["ref", "amount"],
        ["A-1", "5"],
      ]);
    const left = readdirSync(tmpdir()).filter((name) => !before.includes(name));
    expect(left.filter((name) => name.startsWith("lenden-input-"))).toEqual([]);
  });

  test("is not read if the command takes only files", async () => {
    expect(existsSync("-")).toBe(false);
    await expect(openTable("-", options)).rejects.toThrow("The file - does not exist.");
  });
});
