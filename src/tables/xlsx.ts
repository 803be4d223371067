import { type Archive, createArchive } from "./archive.ts";
import { assertColumn, assertSize, most } from "./limits.ts";
import { attribute, escaped, inParts, isTrue, tagsOf, UnusualXml, xmlOf } from "./xml.ts";

/** A sheet of a workbook by its name. */
export interface NamedSheet<Content> {
  name: string;
  isHidden: boolean;
  hasData: boolean;
  content: Content;
}

/** The places of rows and columns that a spreadsheet does not show, from 0. */
export interface Hidden {
  rows: Set<number>;
  columns: number[];
}

/** The parts of an .xlsx file that are needed to read a sheet. */
export interface XlsxPackage {
  sheets: NamedSheet<string>[];
  date1904: boolean;
  /** True if the program that wrote it computed no formula. */
  isUncomputed: boolean;
  styles: Buffer | undefined;
  strings: Buffer | undefined;
}

/** @returns undefined if the archive is no .xlsx file */
export async function readXlsx(archive: Archive): Promise<XlsxPackage | undefined> {
  const root = await relationsOf(archive, "");
  const path = root.find(({ type }) => type === "officeDocument")?.path ?? "xl/workbook.xml";
  if (path.endsWith(".bin")) throw new UnusualXml("It is a binary workbook (.xlsb).");
  const found = await partOf(archive, path);
  if (!found) return undefined;
  const xml = xmlOf(found);
  if (tagsOf(xml, "workbook").length === 0) return undefined;
  const relations = await relationsOf(archive, path);
  const part = async (type: string) => {
    const target = relations.find((one) => one.type === type);
    return target && partOf(archive, target.path);
  };
  const sheets: NamedSheet<string>[] = [];
  for (const tag of tagsOf(xml, "sheet")) {
    const target = relations.find(({ id }) => id === attribute(tag, "id"));
    // A sheet that is a chart has no cells.
    if (target?.type !== "worksheet") continue;
    const sheet = await partOf(archive, target.path);
    if (!sheet) throw new UnusualXml("One of its sheets is missing.");
    const hasData = /<(?:\w+:)?(?:v|f|t)[\s>]/.test(sheet.toString("latin1"));
    const isHidden = (attribute(tag, "state") ?? "visible") !== "visible";
    sheets.push({ name: attribute(tag, "name") ?? "", isHidden, hasData, content: target.path });
  }
  return {
    sheets,
    date1904: isTrue(attribute(tagsOf(xml, "workbookPr")[0] ?? "", "date1904")),
    isUncomputed: isTrue(attribute(tagsOf(xml, "calcPr")[0] ?? "", "fullCalcOnLoad")),
    styles: await part("styles"),
    strings: await part("sharedStrings"),
  };
}

/**
 * A workbook of one sheet, for the library. It finds parts and cells by patterns that other parts, and unusual
 * forms of XML, would confuse: they are removed, rewritten or rejected.
 */
export async function oneSheet(
  archive: Archive,
  { styles, strings, date1904 }: XlsxPackage,
  { name, content }: NamedSheet<string>,
): Promise<{ bytes: Buffer; hidden: Hidden }> {
  const hidden: Hidden = { rows: new Set(), columns: [] };
  const sheet = plainSheet(xmlOf((await partOf(archive, content)) ?? Buffer.of()), hidden);
  const parts: [path: string, type: string, xml: string][] = [
    ["worksheets/sheet1.xml", "worksheet", sheet],
  ];
  if (styles) parts.push(["styles.xml", "styles", xmlOf(styles)]);
  if (strings) parts.push(["sharedStrings.xml", "sharedStrings", plainStrings(xmlOf(strings))]);
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const packages = "http://schemas.openxmlformats.org/package/2006";
  const types = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const entries = [
    [
      "[Content_Types].xml",
      `<Types xmlns="${packages}/content-types"><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>${parts.map(([path, type]) => `<Override PartName="/xl/${path}" ContentType="${types}.${type}+xml"/>`).join("")}</Types>`,
    ],
    [
      "xl/workbook.xml",
      `<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr date1904="${Number(date1904)}"/><sheets><sheet name="${escaped(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="${packages}/relationships">${parts.map(([path, type], place) => `<Relationship Id="rId${place + 1}" Type="${office}/${type}" Target="${path}"/>`).join("")}</Relationships>`,
    ],
    ...parts.map(([path, , xml]) => [`xl/${path}`, xml]),
  ];
  const bytes = createArchive(
    entries.map(([path = "", xml = ""]) => [path, Buffer.from(xml, "latin1")]),
  );
  return { bytes, hidden };
}

/** Reads what is hidden, and gives the rows of a sheet the form that the library expects. */
function plainSheet(xml: string, hidden: Hidden): string {
  const columns = /<((?:\w+:)?)cols>[\s\S]*?<\/\1cols>/.exec(xml)?.[0] ?? "";
  for (const tag of tagsOf(columns, "col")) {
    if (!isTrue(attribute(tag, "hidden")) && Number(attribute(tag, "width") ?? 1) !== 0) continue;
    const last = Math.min(Number(attribute(tag, "max")), most.columns);
    for (let at = Number(attribute(tag, "min")); at <= last; at += 1) hidden.columns.push(at - 1);
  }
  const data = /<((?:\w+:)?)sheetData>[\s\S]*<\/\1sheetData>/.exec(xml)?.[0] ?? "<sheetData/>";
  return `<worksheet>${inParts(data.replace(/<\/([\w:]+)\s+>/g, "</$1>"), createRowWriter(hidden))}</worksheet>`;
}

/** Checks and rewrites the tags of one part of the rows after the other. */
function createRowWriter(hidden: Hidden) {
  const places = createPlaces();
  /** Of the current cell. */
  let type = "n";
  let isPlaced = true;
  const row = (prefix: string, attributes: string, close: string): string => {
    const place = attributeOf(attributes, "r");
    const number = places.startRow(place);
    if (/\s(?:hidden=["'](?:1|true)|ht=["']0+(?:\.0*)?["'])/.test(attributes))
      hidden.rows.add(number - 1);
    if (close === "") return `<${prefix}row${attributes}>`;
    return place === undefined ? `<${prefix}row></${prefix}row>` : "";
  };
  const cell = (prefix: string, attributes: string, close: string): string => {
    const place = attributeOf(attributes, "r");
    isPlaced &&= place !== undefined;
    // A cell with nothing but a style.
    if (close !== "" && place !== undefined) return "";
    places.addCell(place);
    type = attributeOf(attributes, "t") ?? "n";
    // The library finds a cell by the space behind its name.
    return `<${prefix}c ${attributes.trimStart()}${close}>`;
  };
  return (part: string): string => {
    const plain = part.replace(
      /<((?:\w+:)?)(?:(row|c)((?:\s[^<>]*?)?)(\/?)|v(?:\s[^<>]*)?)>([^<]*)/g,
      (whole, prefix: string, name: string | undefined, rest = "", close = "", text = "") => {
        if (name === undefined)
          return `<${prefix}v${whole.endsWith("/>") ? "/" : ""}>${plainValue(type, text)}`;
        const attributes = /[\t\r\n]|\s=|=\s/.test(rest) ? tidy(rest) : rest;
        return (name === "row" ? row : cell)(prefix, attributes, close) + text;
      },
    );
    // The library takes the place of a cell that names none from its text.
    if (!isPlaced && />[^<]*r=["']/.test(plain))
      throw new UnusualXml("A text in it may change the place of a cell.");
    return plain;
  };
}

function attributeOf(attributes: string, name: "r" | "t"): string | undefined {
  const [, value] = (name === "r" ? /\sr=["']([^"']*)/ : /\st=["']([^"']*)/).exec(attributes) ?? [];
  return value;
}

/** The library replaces the entities in the text of a formula twice, and reads 1250 of the number `1250,50`. */
function plainValue(type: string, text: string): string {
  if (type === "str") return text.replaceAll("&", "&amp;").replace(/_(x)/gi, "_x005F_$1");
  if (type === "n" && !/^\s*(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*)?$/i.test(text))
    throw new UnusualXml("A number in it is written in an unusual way.");
  return text;
}

/** Counts rows and cells. Their places increase in what spreadsheets write; otherwise one may hide another. */
function createPlaces() {
  let [rows, cells, row, column, isRowEmpty] = [0, 0, 0, -1, true];
  const assertPlace = (isRight: boolean) => {
    if (!isRight) throw new UnusualXml("A row or a cell has an invalid place.");
  };
  return {
    startRow(place: string | undefined): number {
      const next = place === undefined ? row + 1 : Number(place);
      assertPlace(Number.isInteger(next) && next > row && next <= 1_048_576);
      [row, column, isRowEmpty] = [next, -1, true];
      return row;
    },
    addCell(place: string | undefined): void {
      const [, letters = "", digits = ""] = /^([A-Z]{1,3})(\d+)$/.exec(place ?? "") ?? [];
      const next = place === undefined ? column + 1 : columnOf(letters);
      assertPlace(next > column && (place === undefined || Number(digits) === row));
      column = next;
      cells += 1;
      rows += Number(isRowEmpty);
      isRowEmpty = false;
      assertSize(rows, cells);
      assertColumn(column);
    },
  };
}

function tidy(attributes: string): string {
  return attributes.replace(/[\t\r\n]+/g, " ").replace(/\s*=\s*/g, "=");
}

/** The place of a column such as `AB`, from 0. */
function columnOf(letters: string): number {
  let place = 0;
  for (const letter of letters) place = place * 26 + letter.charCodeAt(0) - 64;
  return place - 1;
}

/** The library does not count `<si/>`, and takes what is behind `<t/>` for its text. */
function plainStrings(xml: string): string {
  return xml
    .replace(/<\/([\w:]+)\s+>/g, "</$1>")
    .replace(
      /<((?:\w+:)?)(si|t)(?:\s[^<>]*?)?(\/?)>/g,
      (_, prefix: string, name: string, close) => {
        const [open, end] = [`<${prefix}${name}>`, `</${prefix}${name}>`];
        if (close === "") return open;
        return name === "t" ? `${open}${end}` : `${open}<${prefix}t></${prefix}t>${end}`;
      },
    );
}

interface Relation {
  id: string;
  /** The last part of its type. */
  type: string;
  path: string;
}

async function relationsOf(archive: Archive, path: string): Promise<Relation[]> {
  const directory = path.slice(0, path.lastIndexOf("/") + 1);
  const found = await partOf(archive, `${directory}_rels/${path.slice(directory.length)}.rels`);
  if (!found) return [];
  return tagsOf(xmlOf(found), "Relationship").map((tag) => ({
    id: attribute(tag, "Id") ?? "",
    type: attribute(tag, "Type")?.split("/").at(-1) ?? "",
    path: resolved(attribute(tag, "Target") ?? "", directory),
  }));
}

function resolved(target: string, directory: string): string {
  return new URL(target, `file:///${directory}`).pathname.slice(1);
}

/** An entry by its name in any case, as Excel finds it. */
async function partOf(archive: Archive, path: string): Promise<Buffer | undefined> {
  const wanted = decodeURIComponent(path).toLowerCase();
  const name = archive.names.find((one) => one.toLowerCase() === wanted);
  return name === undefined ? undefined : archive.read(name);
}
