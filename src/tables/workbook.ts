import { Script } from "node:vm";
import type { CellObject, ColInfo, ParsingOptions, RowInfo, WorkBook, WorkSheet } from "@e965/xlsx";
import { errorCode } from "../domain/error-code.ts";
import { Failure, usage } from "../domain/failure.ts";
import { openArchive, UnusableArchive } from "./archive.ts";
import type { Cell, TableRow, TableSource } from "./cell.ts";
import { assertColumn, assertSize, most, TooLarge } from "./limits.ts";
import { dateOf, plainNumber, unitOf } from "./number-format.ts";
import { oneOdsSheet, placeKey, plainTable, readOds } from "./ods.ts";
import { type Hidden, oneSheet, readXlsx } from "./xlsx.ts";
import { UnusualXml } from "./xml.ts";

type Library = typeof import("@e965/xlsx");

/** A sheet of a workbook. */
export interface ReadSheet extends Required<Pick<TableSource, "kind" | "sheet" | "hiddenColumns">> {
  rows: TableRow[];
}

/** A file that is read, and the sheet that the user names. */
interface Wanted {
  path: string;
  bytes: Buffer;
  sheet: string | undefined;
}

/** Loads the library, which other commands do not need. */
const load = (): Promise<Library> => import("@e965/xlsx");

/** What to do about a file that is no table, or a workbook that cannot be read. */
export const saveAsCsv =
  "Open it in a spreadsheet and save the sheet as 'CSV UTF-8 (Comma delimited)'.";

/** @throws Failure `usage` if the archive is no workbook, or one that cannot be read */
export function readArchive(wanted: Wanted): Promise<ReadSheet> {
  return reading(wanted.path, async (library) => {
    const archive = await openArchive(wanted.bytes, most.bytes);
    const xlsx = await readXlsx(archive);
    if (xlsx) {
      const { sheet, names } = chooseSheet(wanted, xlsx.sheets);
      const { bytes, hidden } = await oneSheet(archive, xlsx, sheet);
      const { date1904, isUncomputed } = xlsx;
      const read = onlySheet(library, bytes, { WTF: true });
      return {
        kind: "xlsx",
        sheet: names,
        ...contentsOf(read, { date1904, isUncomputed, hidden }),
      };
    }
    const ods = await readOds(archive);
    if (!ods) throw usage([`${wanted.path} is an archive without a sheet.`], saveAsCsv);
    const manifest = await archive.read("META-INF/manifest.xml");
    if (manifest?.includes("encryption-data")) throw withPassword(wanted.path);
    const { sheet, names } = chooseSheet(wanted, ods.sheets);
    // The texts of the sheet are let go before the library makes its own.
    const { xml, ...known } = plainTable(sheet.content);
    // If it is strict, it fails at any element that it does not know.
    const read = onlySheet(library, oneOdsSheet(ods, xml), { WTF: false });
    return { kind: "ods", sheet: names, ...contentsOf(read, known) };
  });
}

/** Reads an .xls file, or says what another compound file is. */
export function readCompound(wanted: Wanted): Promise<ReadSheet> {
  const { path, bytes } = wanted;
  return reading(path, async (library) => {
    const has = (stream: string) => bytes.includes(Buffer.from(stream, "utf16le"));
    if (has("EncryptedPackage")) throw withPassword(path);
    if (!has("Workbook") && !has("Book")) throw usage([`${path} contains no sheet.`], saveAsCsv);
    // Only with styles are the hidden columns of this format read.
    const { workbook, sheets } = parse(library, bytes, { cellStyles: true });
    const named = sheets.map(([name, content], place) => ({
      name,
      content,
      hasData: (content["!data"] ?? []).some((cells) => cells?.some((cell) => cell.t !== "z")),
      isHidden: (workbook.Workbook?.Sheets?.[place]?.Hidden ?? 0) !== 0,
    }));
    const chosen = chooseSheet(wanted, named);
    const { content } = chosen.sheet;
    const hidden = {
      rows: new Set(placesOfHidden(content["!rows"])),
      columns: placesOfHidden(content["!cols"]),
    };
    const date1904 = workbook.Workbook?.WBProps?.date1904 === true;
    return { kind: "xls", sheet: chosen.names, ...contentsOf(content, { date1904, hidden }) };
  });
}

function placesOfHidden(all: (RowInfo | ColInfo | undefined)[] = []): number[] {
  const places: number[] = [];
  // Many are missing in the list.
  all.forEach((one, place) => {
    if (one?.hidden) places.push(place);
  });
  return places;
}

async function reading(
  path: string,
  read: (library: Library) => Promise<ReadSheet>,
): Promise<ReadSheet> {
  const library = await load();
  try {
    return await read(library);
  } catch (error) {
    throw asFailure(path, error);
  }
}

function asFailure(path: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof UnusableArchive && error.kind === "password") return withPassword(path);
  if (error instanceof UnusableArchive || error instanceof TooLarge || error instanceof UnusualXml)
    return usage([`${path} cannot be read. ${error.message}`], saveAsCsv);
  // The library also throws what is no error.
  if (/password|encrypt/i.test(String(error))) return withPassword(path);
  return usage([`${path} is damaged, or a workbook of an unusual form.`], saveAsCsv);
}

function withPassword(path: string): Failure {
  return usage([`${path} has a password.`], `Remove the password, or: ${saveAsCsv}`);
}

function onlySheet(library: Library, bytes: Buffer, options: ParsingOptions): WorkSheet {
  const [[, sheet] = []] = parse(library, bytes, options).sheets;
  if (!sheet) throw new UnusualXml("Its sheet cannot be read.");
  return sheet;
}

function parse(library: Library, bytes: Buffer, options: ParsingOptions) {
  const read: WorkBook[] = [];
  const settings: ParsingOptions = {
    type: "buffer",
    dense: true,
    // Formats, and formulas without a value.
    cellNF: true,
    sheetStubs: true,
    cellText: false,
    cellHTML: false,
    ...options,
  };
  silently(() => inTime(bytes, () => void read.push(library.read(bytes, settings))));
  const [workbook] = read;
  if (!workbook) throw new UnusualXml("It has no sheets.");
  const sheets = workbook.SheetNames.map((name): [string, WorkSheet] => {
    const sheet = workbook.Sheets[name];
    if (!sheet) throw new UnusualXml(`Its sheet ${name} cannot be read.`);
    return [name, sheet];
  });
  return { workbook, sheets };
}

/** A damaged file may keep the library busy without end: a whole one takes about a second for each megabyte. */
function inTime(bytes: Buffer, work: () => void): void {
  const timeout = 5_000 + Math.ceil(bytes.byteLength / 100);
  try {
    new Script("work()").runInNewContext({ work }, { timeout });
  } catch (error) {
    if (errorCode(error) !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new TooLarge("It takes too long to read.");
  }
}

/**
 * Keeps the library from writing about records that it does not know. Nothing else writes while it reads, because the
 * call is synchronous.
 */
function silently(work: () => void): void {
  const { error, warn, log } = console;
  const ignore = () => {};
  Object.assign(console, { error: ignore, warn: ignore, log: ignore });
  try {
    work();
  } finally {
    Object.assign(console, { error, warn, log });
  }
}

/** The sheet with the given name; otherwise the first visible one with data. */
function chooseSheet<Sheet extends { name: string; hasData: boolean; isHidden: boolean }>(
  { path, sheet: wanted }: Wanted,
  sheets: Sheet[],
): { sheet: Sheet; names: NonNullable<TableSource["sheet"]> } {
  const filled = sheets.filter(({ hasData }) => hasData);
  const isNamed = ({ name }: Sheet) => plainName(name) === plainName(wanted ?? "");
  const chosen =
    wanted === undefined
      ? (filled.find(({ isHidden }) => !isHidden) ?? filled[0])
      : (sheets.find(({ name }) => name === wanted) ?? sheets.find(isNamed));
  const names = sheets.map(({ name }) => name).join(", ");
  if (!chosen && wanted !== undefined)
    throw usage([`--sheet: ${path} has no sheet ${wanted}.`], `Its sheets are: ${names}.`);
  if (!chosen) throw usage([`${path} has no sheet with data.`], "Name a workbook with a table.");
  const others = filled.filter((one) => one !== chosen).map(({ name }) => name);
  return { sheet: chosen, names: { name: chosen.name, others } };
}

/** Excel has no two sheets whose names differ in case only. */
function plainName(name: string): string {
  return name.trim().normalize("NFC").toLowerCase();
}

/** What the library does not say, or not of each kind of workbook. */
interface Knowledge {
  hidden: Hidden;
  date1904?: boolean;
  isUncomputed?: boolean;
  units?: Map<string, string>;
}

function contentsOf(sheet: WorkSheet, knowledge: Knowledge) {
  const rows: TableRow[] = [];
  let [cells, width] = [0, 0];
  // A row of the list may be missing, and far behind the others.
  (sheet["!data"] ?? []).forEach((found, row) => {
    const read: Cell[] = [];
    found?.forEach((cell, column) => {
      const value = cellOf(cell, knowledge, knowledge.units?.get(placeKey(row, column)));
      if (value === "") return;
      assertColumn(column);
      while (read.length < column) read.push("");
      read.push(value);
    });
    if (read.length === 0) return;
    cells += read.length;
    width = Math.max(width, read.length);
    assertSize(rows.length + 1, cells);
    const isHidden = knowledge.hidden.rows.has(row);
    rows.push({ line: row + 1, cells: read, ...(isHidden ? { isHidden } : {}) });
  });
  return { rows, hiddenColumns: knowledge.hidden.columns.filter((place) => place < width) };
}

function cellOf(cell: CellObject, knowledge: Knowledge, unit: string | undefined): Cell {
  const { t: type, v: value, z: format } = cell;
  const formula = cell.f ?? cell.F;
  const unknown: Cell = { kind: "unknown", text: formula === undefined ? "" : `=${formula}` };
  if (type === "s" && typeof value === "string") {
    // LibreOffice knows errors that the library does not.
    const isError = formula !== undefined && /^(?:#[A-Z/0]+[!?]?|Err:\d+)$/.test(value);
    return isError ? { kind: "error", text: value } : value;
  }
  if (type === "n" && typeof value === "number" && Number.isFinite(value)) {
    // The zero that a program writes because it computes no formulas.
    if (knowledge.isUncomputed && formula !== undefined && value === 0) return unknown;
    return numberCell(value, typeof format === "string" ? format : "", knowledge, unit);
  }
  if (type === "b") return { kind: "boolean", text: value ? "TRUE" : "FALSE" };
  if (type === "e") return { kind: "error", text: errorNames.get(Number(value)) ?? "#ERROR!" };
  return type === "z" && formula === undefined ? "" : unknown;
}

function numberCell(
  value: number,
  format: string,
  { date1904 = false }: Knowledge,
  unit: string | undefined,
): Cell {
  const date = isDateFormat(format) ? dateOf(value, date1904) : undefined;
  if (date !== undefined) return { kind: "date", text: date };
  const shown = unit ?? (isDuration(format) ? "time" : unitOf(format, value));
  return {
    kind: "number",
    text: plainNumber(value),
    ...(shown === undefined ? {} : { unit: shown }),
  };
}

/** True if the first part of a format has letters of a date outside of texts. */
function isDateFormat(format: string): boolean {
  if (isDuration(format)) return false;
  const [first = ""] = format.replace(/"[^"]*"|\\.|[_*].|\[[^\]]*\]/gsu, "").split(";");
  return !/General/i.test(first) && /[ymdhs]/i.test(first);
}

/** A format such as [h]:mm. */
function isDuration(format: string): boolean {
  return /\[[hms]+\]/i.test(format);
}

const errorNames = new Map([
  [0x00, "#NULL!"],
  [0x07, "#DIV/0!"],
  [0x0f, "#VALUE!"],
  [0x17, "#REF!"],
  [0x1d, "#NAME?"],
  [0x24, "#NUM!"],
  [0x2a, "#N/A"],
  [0x2b, "#GETTING_DATA"],
]);
