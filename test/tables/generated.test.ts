import { utils, write } from "@e965/xlsx";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { Failure } from "../../src/domain/failure.ts";
import { runs } from "../support/helpers.ts";
import { odsOf, readBytes, xlsxOf } from "./workbooks.ts";

/** Texts that the patterns of a library may take for markup, or for the place of a cell. */
const anyText = fc
  .array(
    fc.constantFrom(
      ...['r="B9"', "t='s'", 'ref="A1:B2"', "<c>", "</row>", "&lt;", "&amp;", "&#65;", "]]>", "="],
      ...[
        "A-1",
        "রহিমা",
        "é",
        " ",
        "\n",
        "_x",
        '"',
        "'",
        ">",
        "/>",
        "<!--",
        "-->",
        "0171",
        "1,250.50",
      ],
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(""))
  .filter((text) => text.trim() !== "");

const anyTable = tableOf(anyText);
/** The library omits an empty first line of a cell. */
const anyOdsTable = tableOf(anyText.filter((text) => !text.startsWith("\n")));

function tableOf(text: fc.Arbitrary<string>) {
  return fc.array(fc.array(fc.option(text), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 5,
  });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("]]>", "]]&gt;");
}

/** In .xlsx files, _x0041_ is the letter A. */
function escapedXlsx(text: string): string {
  return escaped(text.replace(/_(x[\da-f]{4}_)/g, "_x005F_$1"));
}

/** The rows that a table has in a file. */
function expected(table: (string | null)[][]) {
  return table.flatMap((row, at) => {
    const cells = row.map((cell) => cell ?? "");
    while (cells.at(-1) === "") cells.pop();
    return cells.length > 0 ? [{ line: at + 1, cells }] : [];
  });
}

/** Reads a file; undefined if it is rejected. */
async function readOrReject(bytes: Buffer) {
  try {
    return (await readBytes(bytes)).rows;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

test("an .xlsx file of any form has the texts that were written, or is rejected", async () => {
  const anyForm = fc.record({
    kind: fc.constantFrom("shared", "inline", "formula"),
    isPlaced: fc.boolean(),
    isIndented: fc.boolean(),
  });
  const property = fc.asyncProperty(anyTable, anyForm, async (table, form) => {
    const strings: string[] = [];
    const cell = (text: string | null, row: number, column: number) => {
      const place = form.isPlaced ? ` r="${"ABCD"[column]}${row + 1}"` : "";
      if (text === null) return form.isPlaced ? "" : "<c/>";
      if (form.kind === "inline")
        return `<c${place} t="inlineStr"><is><t xml:space="preserve">${escapedXlsx(text)}</t></is></c>`;
      if (form.kind === "formula")
        return `<c${place} t="str"><f>A1</f><v>${escapedXlsx(text)}</v></c>`;
      strings.push(`<si><t xml:space="preserve">${escapedXlsx(text)}</t></si>`);
      return `<c${place} t="s"><v>${strings.length - 1}</v></c>`;
    };
    const space = form.isIndented ? "\n  " : "";
    const rows = table.map(
      (cells, row) =>
        `<row${form.isPlaced ? ` r="${row + 1}"` : ""}>${cells.map((text, column) => cell(text, row, column)).join(space)}</row>`,
    );
    const bytes = xlsxOf({
      sheets: { A: rows.join(space) },
      strings: `<sst>${space}${strings.join(space)}${space}</sst>`,
    });
    const found = await readOrReject(bytes);
    const isEmpty = expected(table).length === 0;
    const isOdd = !form.isPlaced && rows.some((row) => />[^<]*r=["']/.test(row));
    if (isEmpty || isOdd) expect(found).toBeUndefined();
    else expect(found).toEqual(expected(table));
  });
  await fc.assert(property, { numRuns: runs(30, 20_000) });
});

test("an .ods file has the texts that were written", async () => {
  const property = fc.asyncProperty(anyOdsTable, async (table) => {
    const cell = (text: string | null) => {
      if (text === null) return "<table:table-cell/>";
      const lines = text.split("\n").map((line) => {
        const spaced = escaped(line).replace(/ /g, "<text:s/>");
        return `<text:p>${spaced}</text:p>`;
      });
      return `<table:table-cell office:value-type="string">${lines.join("")}</table:table-cell>`;
    };
    const rows = table.map(
      (cells) => `<table:table-row>${cells.map(cell).join("")}</table:table-row>`,
    );
    const bytes = odsOf(`<table:table table:name="A">${rows.join("")}</table:table>`);
    const found = await readOrReject(bytes);
    expect(found ?? []).toEqual(expected(table));
  });
  await fc.assert(property, { numRuns: runs(30, 20_000) });
});

test("a damaged .xls file is read or rejected, without an internal error or text of the library", async () => {
  const written = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => written.mockRestore());
  const workbook = utils.book_new();
  const sheet = utils.aoa_to_sheet([["ref", "amount"], ...Array(30).fill(["A-1", 1250.5])]);
  utils.book_append_sheet(workbook, sheet, "A");
  const whole = Buffer.from(write(workbook, { type: "buffer", bookType: "xls" }));
  const anyChange = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  const property = fc.asyncProperty(fc.array(anyChange, { minLength: 1 }), async (changes) => {
    const bytes = Buffer.from(whole);
    for (const [at, value] of changes) bytes[at] = value;
    const start = [0, 1, 2, 3, 4, 5, 6, 7];
    for (const at of start) bytes[at] = whole[at] ?? 0;
    const opened = readBytes(bytes).then(
      () => "read",
      (error: unknown) => (error instanceof Failure ? error.kind : error),
    );
    expect(["read", "usage"]).toContain(await opened);
  });
  await fc.assert(property, { numRuns: runs(50, 10_000) });
  expect(written).not.toHaveBeenCalled();
  const { error } = console;
  expect(error).toBe(written);
});
