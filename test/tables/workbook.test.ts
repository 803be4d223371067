import { CFB, utils, type WorkBook, type WorkSheet, write } from "@e965/xlsx";
import { describe, expect, test } from "vitest";
import { odsOf, partsOf, readBytes, stylesOf, xlsxOf, zipOf } from "./workbooks.ts";

/** A workbook that the library wrote. */
function written(
  sheets: Record<string, WorkSheet>,
  bookType: "xlsx" | "xls" | "ods",
  date1904 = false,
) {
  const workbook: WorkBook = utils.book_new();
  workbook.Workbook = { WBProps: { date1904 } };
  for (const [name, sheet] of Object.entries(sheets))
    utils.book_append_sheet(workbook, sheet, name);
  return Buffer.from(write(workbook, { type: "buffer", bookType, compression: true }));
}

const number = (text: string, unit?: string) => ({
  kind: "number",
  text,
  ...(unit ? { unit } : {}),
});
const date = (text: string) => ({ kind: "date", text });

/** The rows of a sheet as each program writes them. */
const sheetRows = `<row r="1" spans="1:4"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="3" hidden="1"><c r="A3" t="s"><v>3</v></c><c r="B3" s="1"><v>12500.009999999998</v></c><c r="D3" s="2"><v>46354</v></c></row>`;
const strings =
  '<sst xmlns="x" count="4" uniqueCount="4"><si><t>ref</t></si><si><t xml:space="preserve">Net &amp; pay </t></si><si/><si><r><rPr><b/></rPr><t>র</t></r><r><t>হিমা</t></r><rPh sb="0" eb="1"><t>no</t></rPh></si></sst>';
const styles = stylesOf(['"$"#,##0.00', "d-mmm-yy", "[$৳-845]#,##0.00"]);

describe("a workbook is read as its program wrote it", () => {
  test("Excel: shared strings, styles, hidden rows and columns", async () => {
    const cols =
      '<cols><col min="1" max="1" width="9"/><col min="2" max="2" width="0" hidden="1" customWidth="1"/><col min="5" max="16384" hidden="1"/></cols>';
    const sheet = `<worksheet xmlns="x"><dimension ref="A1:B1"/>${cols}<sheetData>${sheetRows}</sheetData><mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells><hyperlinks><hyperlink ref="A1:XFD1048576" location="x"/></hyperlinks></worksheet>`;
    const { source, rows } = await readBytes(xlsxOf({ sheets: { Pay: sheet }, strings, styles }));
    expect(source).toMatchObject({ kind: "xlsx", sheet: { name: "Pay", others: [] } });
    expect(source.hiddenColumns).toEqual([1]);
    expect(rows).toEqual([
      { line: 1, cells: ["ref", "Net & pay "] },
      { line: 3, cells: ["রহিমা", number("12500.01", "$"), "", date("2026-11-28")], isHidden: true },
    ]);
  });

  test("Google Sheets and ExcelJS: inline strings, line breaks in tags", async () => {
    const row = `<row\n r="1"><c\n r="A1" t="inlineStr"><is><t>ref</t></is></c ><c r = "C1" t="inlineStr"><is><r><t>a</t></r><r><t> b</t></r></is></c></row ><row r="2"><c r="A2" t="str"><f>"x"&amp;"y"</f><v>xy</v></c><c r="B2" t="d"><v>2026-11-28T22:30:15</v></c></row>`;
    const { cells } = await readBytes(xlsxOf({ sheets: { A: row }, styles }));
    expect(cells[0]).toEqual(["ref", "", "a b"]);
    expect(cells[1]?.[0]).toBe("xy");
  });

  test("a program that names no places: rows and cells follow each other", async () => {
    const sheet =
      "<row><c><v>1</v></c><c/><c t='inlineStr'><is><t>b</t></is></c></row><row/><row><c><v>2</v></c></row>";
    const { rows } = await readBytes(xlsxOf({ sheets: { A: sheet } }));
    expect(rows).toEqual([
      { line: 1, cells: [number("1"), "", "b"] },
      { line: 3, cells: [number("2")] },
    ]);
  });

  test("a program that divides attributes by tabs", async () => {
    const sheet =
      "<row\tr='1'><c><v>1</v></c></row><row\tr='4'\thidden = '1'><c><v>2</v></c></row>";
    const { rows } = await readBytes(xlsxOf({ sheets: { A: sheet } }));
    expect(rows).toEqual([
      { line: 1, cells: [number("1")] },
      { line: 4, cells: [number("2")], isHidden: true },
    ]);
  });

  test("a prefix of namespaces", async () => {
    const sheet = `<worksheet xmlns:x="y"><x:sheetData><x:row r="1"><x:c r="A1"><x:v>7</x:v></x:c></x:row></x:sheetData></worksheet>`;
    expect((await readBytes(xlsxOf({ sheets: { A: sheet } }))).cells).toEqual([[number("7")]]);
  });

  test.each(["xlsx", "xls", "ods"] as const)("the library itself: .%s", async (bookType) => {
    const sheet = utils.aoa_to_sheet([
      ["ref", "amount", "paid"],
      ["A-1", 12500.009999999998, true],
      ["রহিমা", 46354.9376736111],
      ["01712345678"],
    ]);
    sheet.B3 = { t: "n", v: 46354.9376736111, z: "yyyy-mm-dd hh:mm:ss" };
    sheet.C3 = { t: "n", v: 0.5, z: "0%" };
    const { source, rows } = await readBytes(written({ Empty: {}, Pay: sheet }, bookType));
    expect(source).toMatchObject({ kind: bookType, sheet: { name: "Pay", others: [] } });
    expect(rows.map(({ cells }) => cells)).toEqual([
      ["ref", "amount", "paid"],
      ["A-1", number("12500.01"), { kind: "boolean", text: "TRUE" }],
      ["রহিমা", date("2026-11-28T22:30:15"), number("0.5", "%")],
      ["01712345678"],
    ]);
  });

  test.each(["xlsx", "xls"] as const)("the system of dates of 1904: .%s", async (bookType) => {
    const sheet = utils.aoa_to_sheet([["date"]]);
    sheet.A2 = { t: "n", v: 44892, z: "d/m/yyyy" };
    sheet["!ref"] = "A1:A2";
    const { cells } = await readBytes(written({ A: sheet }, bookType, true));
    expect(cells[1]).toEqual([date("2026-11-28")]);
  });

  test.each(["xlsx", "xls"] as const)("hidden rows and columns: .%s", async (bookType) => {
    const sheet = utils.aoa_to_sheet([
      ["a", "b"],
      ["c", "d"],
    ]);
    sheet["!rows"] = [{}, { hidden: true }];
    sheet["!cols"] = [{ wch: 9 }, { hidden: true, wch: 9 }];
    const bytes = written({ A: sheet }, bookType);
    const { source, rows } = await readBytes(bookType === "xls" ? withHiddenRow(bytes, 1) : bytes);
    expect(source.hiddenColumns).toEqual([1]);
    expect(rows.map(({ isHidden }) => isHidden)).toEqual([undefined, true]);
  });
});

/** An .xls file with the record of a hidden row in its last sheet, which the library does not write. */
function withHiddenRow(bytes: Buffer, row: number): Buffer {
  const file = CFB.read(bytes, { type: "buffer" });
  const content = Buffer.from(CFB.find(file, "/Workbook")?.content ?? []);
  const record = Buffer.alloc(20);
  for (const [at, value] of [0x0208, 16, row, 0, 2, 0, 0, 0, 0x20].entries())
    record.writeUInt16LE(value, at * 2);
  const end = content.lastIndexOf(Buffer.from("0a000000", "hex"));
  const changed = Buffer.concat([content.subarray(0, end), record, content.subarray(end)]);
  CFB.utils.cfb_add(file, "/Workbook", changed);
  return Buffer.from(CFB.write(file, { type: "buffer" }));
}

describe("LibreOffice", () => {
  const cell = (attributes: string, text = "") =>
    `<table:table-cell ${attributes}>${text && `<text:p>${text}</text:p>`}</table:table-cell>`;
  const table = (rows: string, columns = "") =>
    `<table:table table:name="Pay">${columns}${rows}</table:table>`;
  const row = (cells: string, attributes = "") =>
    `<table:table-row ${attributes}>${cells}</table:table-row>`;

  test("hidden and filtered rows, groups, repeated rows and columns are found", async () => {
    const columns =
      '<table:table-column table:number-columns-repeated="2"/><table:table-column table:visibility="collapse"/>';
    const text = cell('office:value-type="string"', "a");
    const three = cell('table:number-columns-repeated="3" office:value-type="string"', "x");
    const rows = [
      row(three),
      row(text, 'table:visibility="collapse"'),
      row(text, 'table:visibility="filter" table:number-rows-repeated="2"'),
      row(
        '<table:table-cell table:number-columns-repeated="16384"/>',
        'table:number-rows-repeated="4"',
      ),
      `<table:table-row-group table:display="false">${row(text)}<table:table-row-group>${row(text)}</table:table-row-group></table:table-row-group>`,
      row(text),
    ];
    const read = await readBytes(odsOf(table(rows.join(""), columns)));
    expect(read.source.hiddenColumns).toEqual([2]);
    expect(read.rows.map(({ line, isHidden }) => [line, isHidden])).toEqual([
      [1, undefined],
      [2, true],
      [3, true],
      [4, true],
      [9, true],
      [10, true],
      [11, undefined],
    ]);
  });

  test("cells have their currency, and cells without text are read", async () => {
    const cells = [
      '<table:table-cell office:value-type="float" office:value="5.5"/>',
      cell('office:value-type="currency" office:currency="USD" office:value="500"', "$500"),
      cell('office:value-type="currency" office:currency="BDT" office:value="500"', "৳500"),
      cell('office:value-type="percentage" office:value="0.5"', "50%"),
      cell('office:value-type="date" office:date-value="2026-11-28T22:30:15"', "x"),
      cell('office:value-type="date" office:date-value="2026-11-28"', "x"),
      cell('office:value-type="string"', 'two<text:s text:c="2"/>spaces</text:p><text:p>more'),
      cell('table:formula="of:=1+1"'),
      cell(
        'table:formula="of:=[.X1]" office:value-type="string" office:string-value="" calcext:value-type="error"',
        "Err:502",
      ),
      cell(
        'table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"',
        "#DIV/0!",
      ),
    ];
    const read = await readBytes(odsOf(table(row(cells.join("")))));
    expect(read.cells[0]).toEqual([
      number("5.5"),
      number("500", "USD"),
      number("500", "BDT"),
      number("0.5", "%"),
      date("2026-11-28T22:30:15"),
      date("2026-11-28"),
      "two  spaces\nmore",
      { kind: "unknown", text: "=1+1" },
      { kind: "error", text: "Err:502" },
      { kind: "error", text: "#DIV/0!" },
    ]);
  });

  test("deleted cells of tracked changes are not read, hidden sheets are not the default", async () => {
    const changes = `<table:tracked-changes><table:deletion>${cell('office:value-type="string"', "gone")}</table:deletion></table:tracked-changes>`;
    const head =
      '<office:automatic-styles><style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>';
    const hidden = `<table:table table:name="Old" table:style-name="ta2">${row(cell('office:value-type="string"', "old"))}</table:table>`;
    const shown = table(row(cell('office:value-type="string"', "new")));
    const read = await readBytes(odsOf(`${changes}${hidden}${shown}`, head));
    expect(read.cells).toEqual([["new"]]);
    expect(read.source.sheet).toEqual({ name: "Pay", others: ["Old"] });
  });

  test("rows that are repeated too often are rejected", async () => {
    const repeated = 'table:number-rows-repeated="100001"';
    const bytes = odsOf(table(row(cell('office:value-type="string"', "a"), repeated)));
    await expect(readBytes(bytes)).rejects.toThrow("more than 100,000 rows");
  });

  test("a password is named", async () => {
    const bytes = zipOf({
      "META-INF/manifest.xml": "<manifest:encryption-data/>",
      "content.xml": "<office:document-content><office:body><office:spreadsheet/>",
    });
    await expect(readBytes(bytes)).rejects.toThrow("has a password");
  });
});

describe("what a cell is", () => {
  const sheet = (cells: string, workbook = "") =>
    readBytes(xlsxOf({ sheets: { A: `<row r="1">${cells}</row>` }, styles, workbook }));

  test("a formula without a value is unknown, whatever its form", async () => {
    const { cells } = await sheet(
      '<c r="A1"><f>1+1</f></c><c r="B1"><f>B2*2</f><v></v></c><c r="C1"><f>C2*2</f><v/></c><c r="D1" t="n"><f>D2</f></c><c r="E1"><f>1+1</f><v>0</v></c>',
    );
    const unknown = ["=1+1", "=B2*2", "=C2*2", "=D2"].map((text) => ({ kind: "unknown", text }));
    expect(cells).toEqual([[...unknown, number("0")]]);
  });

  test("a zero of a program that computes no formulas is unknown", async () => {
    const cells =
      '<c r="A1"><f>1+1</f><v>0</v></c><c r="B1"><f>1+1</f><v>2</v></c><c r="C1"><v>0</v></c>';
    const read = await sheet(cells, '<calcPr calcId="124519" fullCalcOnLoad="1"/>');
    expect(read.cells).toEqual([[{ kind: "unknown", text: "=1+1" }, number("2"), number("0")]]);
  });

  test("errors are named, also new ones", async () => {
    const { cells } = await sheet(
      '<c r="A1" t="e"><v>#REF!</v></c><c r="B1" t="e"><v>#N/A</v></c><c r="C1" t="e"><v>#SPILL!</v></c><c r="D1" t="inlineStr"><is><t>#REF!</t></is></c>',
    );
    const errors = ["#REF!", "#N/A", "#ERROR!"].map((text) => ({ kind: "error", text }));
    expect(cells).toEqual([[...errors, "#REF!"]]);
  });

  test("a number has the unit that its format shows", async () => {
    const { cells } = await sheet(
      '<c r="A1" s="1"><v>500</v></c><c r="B1" s="3"><v>500</v></c><c r="C1"><v>1E3</v></c><c r="D1" t="b"><v>0</v></c>',
    );
    const no = { kind: "boolean", text: "FALSE" };
    expect(cells).toEqual([[number("500", "$"), number("500", "BDT"), number("1000"), no]]);
  });

  test.each([
    ["a decimal comma", '<c r="A1"><v>1250,50</v></c>'],
    ["a text for a number", '<c r="A1"><v>12abc</v></c>'],
    ["a cell of another row", '<c r="A2"><v>1</v></c>'],
    ["two cells in one place", '<c r="B1"><v>1</v></c><c r="B1"><v>2</v></c>'],
    ["a text that is missing", '<c r="A1" t="s"><v>99</v></c>'],
    ["CDATA", '<c r="A1" t="inlineStr"><is><t><![CDATA[<c r="B1"><v>1</v></c>]]></t></is></c>'],
    ["a text with a place, in a cell without", `<c t="inlineStr"><is><t>see r="B9"</t></is></c>`],
    ["a column far away", '<c r="XFD1"><v>1</v></c>'],
  ])("%s is rejected with advice", async (_, cells) => {
    await expect(sheet(cells)).rejects.toMatchObject({
      kind: "usage",
      details: { hint: expect.stringContaining("CSV UTF-8") },
    });
  });

  test("a text with a place changes nothing in a cell that has one", async () => {
    const text = 'r="B9" ref="C3" t="s" &lt;c r="D1">';
    const { cells } = await sheet(`<c r="A1" t="inlineStr"><is><t>${text}</t></is></c>`);
    expect(cells).toEqual([['r="B9" ref="C3" t="s" <c r="D1">']]);
  });

  test("a comment in the XML is no cell", async () => {
    const { cells } = await sheet('<!-- <c r="A1"><v>9</v></c> --><c r="B1"><v>1</v></c>');
    expect(cells).toEqual([["", number("1")]]);
  });
});

describe("the sheet of a workbook", () => {
  const one = (value: number) => `<row r="1"><c r="A1"><v>${value}</v></c></row>`;
  const sheets = { Notes: "", Old: one(1), "Pay &amp; Co": one(2), Bonus: one(3) };
  const sheetTag = (name: string) => (name === "Old" ? 'state="hidden"' : "");
  const bytes = xlsxOf({ sheets, sheetTag });

  test("is the first visible one with data", async () => {
    const { source, cells } = await readBytes(bytes);
    expect(source.sheet).toEqual({ name: "Pay & Co", others: ["Old", "Bonus"] });
    expect(cells).toEqual([[number("2")]]);
  });

  test("is the one that is named, in any case", async () => {
    expect((await readBytes(bytes, { sheet: "bonus" })).cells).toEqual([[number("3")]]);
    expect((await readBytes(bytes, { sheet: "Old" })).cells).toEqual([[number("1")]]);
    expect((await readBytes(bytes, { sheet: "Notes" })).cells).toEqual([]);
  });

  test("is not found under another name: the names are shown", async () => {
    await expect(readBytes(bytes, { sheet: "Payroll" })).rejects.toMatchObject({
      message: expect.stringContaining("has no sheet Payroll"),
      details: { hint: "Its sheets are: Notes, Old, Pay & Co, Bonus." },
    });
  });

  test("must exist, and must have data", async () => {
    await expect(readBytes(xlsxOf({ sheets: { A: "" } }))).rejects.toThrow("no sheet with data");
    const parts = partsOf({ sheets: { A: one(1) } });
    delete parts["xl/worksheets/sheet1.xml"];
    await expect(readBytes(zipOf(parts))).rejects.toThrow("One of its sheets is missing");
  });
});

describe("a compound file", () => {
  const compound = (streams: Record<string, Buffer>) => {
    const file = CFB.utils.cfb_new();
    for (const [name, content] of Object.entries(streams))
      CFB.utils.cfb_add(file, `/${name}`, content);
    return Buffer.from(CFB.write(file, { type: "buffer" }));
  };

  test("with an encrypted workbook has a password", async () => {
    const bytes = compound({
      EncryptedPackage: Buffer.alloc(5_000),
      EncryptionInfo: Buffer.alloc(9),
    });
    await expect(readBytes(bytes)).rejects.toThrow("has a password");
  });

  test("with a password of .xls has a password", async () => {
    const start = Buffer.from("0908100000060500000000000000000000000000", "hex");
    const filePass = Buffer.from("2f00060000000000000000", "hex").subarray(0, 10);
    const bytes = compound({ Workbook: Buffer.concat([start, filePass, Buffer.alloc(5_000)]) });
    await expect(readBytes(bytes)).rejects.toThrow("has a password");
  });

  test("without a workbook contains no sheet; a damaged one is named", async () => {
    await expect(readBytes(compound({ WordDocument: Buffer.alloc(5_000) }))).rejects.toThrow(
      "contains no sheet",
    );
    const whole = written({ A: utils.aoa_to_sheet([["a"]]) }, "xls");
    await expect(readBytes(whole.subarray(0, 700))).rejects.toMatchObject({ kind: "usage" });
  });
});
