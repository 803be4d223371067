import { type Archive, createArchive } from "./archive.ts";
import { assertColumn, assertSize, most } from "./limits.ts";
import { unitOf } from "./number-format.ts";
import type { Hidden, NamedSheet } from "./xlsx.ts";
import { attribute, inParts, tagsOf, UnusualXml, xmlOf } from "./xml.ts";

/** What the library does not say about a sheet. Places are from 0. */
export interface OdsSheet {
  /** The XML of the table, in the form that the library expects. */
  xml: string;
  hidden: Hidden;
  /** The currency of a cell, or `%`, by its row and column. */
  units: Map<string, string>;
}

/** The parts of an .ods file that are needed to read a sheet. */
export interface OdsPackage {
  sheets: NamedSheet<string>[];
  /** What is before the sheets: the formats. */
  head: string;
  styles: Buffer | undefined;
}

/** @returns undefined if the archive is no .ods file */
export async function readOds(archive: Archive): Promise<OdsPackage | undefined> {
  const content = await archive.read("content.xml");
  if (!content) return undefined;
  const xml = xmlOf(content);
  const body = xml.indexOf("<office:body");
  if (body < 0 || !xml.includes("<office:spreadsheet", body)) return undefined;
  // A deleted cell of tracked changes is in no table.
  const sheets = (xml.slice(body).match(table) ?? []).map((one): NamedSheet<string> => {
    const [tag = ""] = tagsOf(one, "table");
    if (tagsOf(one, "table").length > 1) throw new UnusualXml("A table is inside a table.");
    const hasData = /<(?:text:p|table:table-cell\s[^<>]*(?:value-type|formula)=)/.test(one);
    return { name: attribute(tag, "name") ?? "", isHidden: false, hasData, content: one };
  });
  const hiddenStyles = namesOfHidden(xml.slice(0, body));
  for (const sheet of sheets) {
    const [tag = ""] = tagsOf(sheet.content, "table");
    sheet.isHidden = hiddenStyles.has(attribute(tag, "style-name") ?? "");
  }
  return { sheets, head: xml.slice(0, body), styles: await archive.read("styles.xml") };
}

const table = /<table:table\s[^<>]*[^/<>]>[\s\S]*?<\/table:table>/g;

/** A sheet is hidden by its style. */
function namesOfHidden(head: string): Set<string> {
  const styles = head.match(/<style:style\s[^<>]*>\s*<style:table-properties\s[^<>]*>/g) ?? [];
  return new Set(
    styles
      .filter((style) => /\stable:display=["']false/.test(style))
      .map((style) => attribute(style, "name") ?? ""),
  );
}

/** A file of one sheet, for the library. */
export function oneOdsSheet({ head, styles }: OdsPackage, xml: string): Buffer {
  const root = /<office:document-content/.test(head);
  if (!root) throw new UnusualXml("Its contents have an unusual form.");
  // Which part of a format applies decides nothing, and the library writes to the console about it.
  const plain = (formats: string) => formats.replace(/<style:map\s[^<>]*>/g, "");
  const none = "<office:document-styles/>";
  const content = `${plain(head)}<office:body><office:spreadsheet>${xml}</office:spreadsheet></office:body></office:document-content>`;
  return createArchive([
    ["META-INF/manifest.xml", Buffer.from("<manifest:manifest/>")],
    ["styles.xml", Buffer.from(styles ? plain(xmlOf(styles)) : none, "latin1")],
    ["content.xml", Buffer.from(content, "latin1")],
  ]);
}

/** Reads what is hidden, and gives empty elements an end: the library reads them as no cell or row. */
export function plainTable(xml: string): OdsSheet {
  const sheet: Omit<OdsSheet, "xml"> = {
    hidden: { rows: new Set(), columns: [] },
    units: new Map(),
  };
  let [row, rowTimes, column, columns] = [0, 1, 0, 0];
  let [rows, cells, isRowHidden, isRowEmpty, hiddenGroups] = [0, 0, false, true, 0];
  const startRow = (tag: string) => {
    rowTimes = repeated(tag, "number-rows-repeated");
    isRowHidden = hiddenGroups > 0 || isHidden(tag);
    [column, isRowEmpty] = [0, true];
  };
  const endRow = () => {
    if (!isRowEmpty) {
      rows += rowTimes;
      assertSize(rows, cells);
      if (isRowHidden) for (let at = 0; at < rowTimes; at += 1) sheet.hidden.rows.add(row + at);
    }
    row += rowTimes;
  };
  const addCell = (tag: string, isContent: boolean) => {
    const times = repeated(tag, "number-columns-repeated");
    if (isContent) {
      isRowEmpty = false;
      cells += times * rowTimes;
      assertSize(rows + rowTimes, cells);
      assertColumn(column + times - 1);
      const unit = / office:value-type=["']percentage/.test(tag) ? "%" : currencyOf(tag);
      for (let at = 0; unit !== undefined && at < times * rowTimes; at += 1)
        sheet.units.set(placeKey(row + Math.floor(at / times), column + (at % times)), unit);
    }
    column += times;
  };
  const rewrite = (tag: string, end: string, name: string, rest: string, close: string) => {
    if (name === "table-row-group") hiddenGroups += groupStep(tag, end, hiddenGroups);
    if (name === "table-column" && end === "") {
      const times = repeated(tag, "number-columns-repeated");
      if (isHidden(tag))
        for (let at = columns; at < Math.min(columns + times, most.columns); at += 1)
          sheet.hidden.columns.push(at);
      columns += times;
    }
    if (name === "table-row" && end === "") startRow(tag);
    if (name === "table-row" && (end !== "" || close !== "")) endRow();
    if (!name.endsWith("cell") || end !== "")
      return close !== "" && name === "table-row"
        ? `<table:table-row${rest}></table:table-row>`
        : tag;
    const hasValue = /\s(?:[\w.]+:)?(?:value-type|formula)\s*=/.test(rest);
    addCell(tag, close === "" || hasValue);
    return close !== "" && hasValue ? `<table:${name}${rest}></table:${name}>` : tag;
  };
  const tags =
    /<(\/?)table:(table-column|table-row|table-row-group|table-cell|covered-table-cell)((?:\s[^<>]*?)?)(\/?)>/g;
  // The library reads _x0041_ as the letter A, as in .xlsx files.
  const plain = inParts(xml, (part) =>
    part.replace(tags, rewrite).replace(/_(x[\da-f]{4}_)/gi, "_x005F_$1"),
  );
  return { xml: plain, ...sheet };
}

function currencyOf(tag: string): string | undefined {
  const currency = attribute(tag, "currency");
  return currency && unitOf(`"${currency}"`, 1);
}

/** A group inside of a hidden one is counted, to find where the hidden one ends. */
function groupStep(tag: string, end: string, hidden: number): number {
  if (end !== "") return hidden > 0 ? -1 : 0;
  return hidden > 0 || /\stable:display=["']false/.test(tag) ? 1 : 0;
}

export function placeKey(row: number, column: number): string {
  return `${row}:${column}`;
}

function repeated(tag: string, name: string): number {
  const times = Number(attribute(tag, name) ?? 1);
  if (!(Number.isInteger(times) && times >= 1)) throw new UnusualXml(`A ${name} is invalid.`);
  return times;
}

function isHidden(tag: string): boolean {
  return ["collapse", "filter"].includes(attribute(tag, "visibility") ?? "");
}
