import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, deflateRawSync } from "node:zlib";
import { CFB } from "@e965/xlsx";
import type { TableRow } from "../../src/tables/cell.ts";
import { openTable, type TableOptions } from "../../src/tables/source.ts";
import { collect, scratchFolder } from "../support/helpers.ts";

export const options: TableOptions = {
  hints: { missing: "Check the path.", pipe: "Save the rows in a file.", large: "Split the file." },
  limit: { rows: 1_000, message: "At most 1,000 rows." },
};

/** A file with these bytes. */
export function fileWith(bytes: string | Uint8Array, name = "table.csv"): string {
  const path = join(scratchFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

/** Reads a file with these bytes. */
export async function readBytes(bytes: string | Uint8Array, given: Partial<TableOptions> = {}) {
  const source = await openTable(fileWith(bytes), { ...options, ...given });
  const rows: TableRow[] = (await collect(source.pages())).flat();
  return { source, rows, cells: rows.map((row) => row.cells) };
}

/** A zip file, written by another program than the one that is tested. */
export function zipOf(entries: Record<string, string>): Buffer {
  const zip = CFB.utils.cfb_new();
  for (const [name, text] of Object.entries(entries))
    CFB.utils.cfb_add(zip, `/${name}`, Buffer.from(text));
  CFB.utils.cfb_del(zip, "/\u0001Sh33tJ5");
  return Buffer.from(CFB.write(zip, { fileType: "zip", type: "buffer", compression: true }));
}

const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** The parts of an .xlsx file that a test chooses. */
export interface Parts {
  /** What is in `sheetData`, or a whole `worksheet`, of each sheet by its name. */
  sheets: Record<string, string>;
  strings?: string;
  styles?: string;
  workbook?: string;
  sheetTag?: (name: string) => string;
}

/** The entries of an .xlsx file with hand-written XML. */
export function partsOf({ sheets, strings, styles, workbook = "", sheetTag = () => "" }: Parts) {
  const names = Object.keys(sheets);
  const relations = [
    ...names.map((_, at) => ["worksheet", `worksheets/sheet${at + 1}.xml`]),
    ["styles", "styles.xml"],
    ["sharedStrings", "sharedStrings.xml"],
  ].map(
    ([type, to], at) => `<Relationship Id="rId${at + 1}" Type="${office}/${type}" Target="${to}"/>`,
  );
  const listed = names.map(
    (name, at) =>
      `<sheet name="${name}" sheetId="${at + 1}" ${sheetTag(name)} r:id="rId${at + 1}"/>`,
  );
  const entries: Record<string, string> = {
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": `<Relationships><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<?xml version="1.0" encoding="UTF-8"?>\n<workbook>${workbook}<sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${relations.join("")}</Relationships>`,
  };
  for (const [at, name] of names.entries()) {
    const xml = sheets[name] ?? "";
    entries[`xl/worksheets/sheet${at + 1}.xml`] = xml.startsWith("<worksheet")
      ? xml
      : `<worksheet><sheetData>${xml}</sheetData></worksheet>`;
  }
  if (strings) entries["xl/sharedStrings.xml"] = strings;
  if (styles) entries["xl/styles.xml"] = styles;
  return entries;
}

export function xlsxOf(parts: Parts): Buffer {
  return zipOf(partsOf(parts));
}

/** The styles of cells, each with one number format, as Excel writes them. */
export function stylesOf(formats: string[]): string {
  const codes = formats.map((code, at) => {
    const escaped = code.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    return `<numFmt numFmtId="${200 + at}" formatCode="${escaped}"/>`;
  });
  const cells = formats.map((_, at) => `<xf numFmtId="${200 + at}" applyNumberFormat="1"/>`);
  return `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="${codes.length}">${codes.join("")}</numFmts><fills count="1"><fill><patternFill patternType="solid"><fgColor theme="4"/></patternFill></fill></fills><cellXfs count="${cells.length + 1}"><xf numFmtId="0" fillId="0"/>${cells.join("")}</cellXfs></styleSheet>`;
}

const ods = (name: string) => `urn:oasis:names:tc:opendocument:xmlns:${name}:1.0`;

/** An .ods file as LibreOffice writes it, with these tables. */
export function odsOf(tables: string, head = ""): Buffer {
  const names = ["office", "table", "text", "style"].map((one) => `xmlns:${one}="${ods(one)}"`);
  return zipOf({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "META-INF/manifest.xml": "<manifest:manifest/>",
    "content.xml": `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${names.join(" ")}>${head}<office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`,
  });
}

/** An entry of a zip file whose headers say what a test wants. */
export interface RawEntry {
  name: string;
  pieces: Buffer;
  crc: number;
  size: number;
}

/** Bytes that are inflated to this many MB. */
export function deflated(megabytes: number): Buffer {
  const options = { level: 9, finishFlush: constants.Z_FULL_FLUSH };
  const one = deflateRawSync(Buffer.alloc(1_000_000, 32), options);
  const end = deflateRawSync(Buffer.of());
  return Buffer.concat([...Array.from({ length: megabytes }, () => one), end]);
}

/** A zip file, byte for byte. */
export function rawZip(entries: RawEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, pieces, crc, size } of entries) {
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(8, 4);
    header.writeUInt32LE(crc, 10);
    header.writeUInt32LE(pieces.byteLength, 14);
    header.writeUInt32LE(size, 18);
    header.writeUInt16LE(name.length, 22);
    const start = Buffer.alloc(12);
    start.writeUInt32LE(at, 8);
    locals.push(Buffer.from("PK\u0003\u0004"), header, Buffer.from(name), pieces);
    const version = Buffer.from([20, 0]);
    const central = [Buffer.from("PK\u0001\u0002"), version, header, Buffer.alloc(2), start];
    directory.push(Buffer.concat([...central]), Buffer.from(name));
    at += 30 + name.length + pieces.byteLength;
  }
  const size = Buffer.concat(directory).byteLength;
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...directory, end]);
}
