import { usage } from "../domain/failure.ts";
import type { TableSource } from "./cell.ts";
import { csvPages, detectDelimiter, Unreadable } from "./csv.ts";
import { type FileBytes, type FileHints, openFile, spool } from "./file-bytes.ts";
import { most } from "./limits.ts";
import { type ReadSheet, readArchive, readCompound, saveAsCsv } from "./workbook.ts";

/** How a table is read. */
interface ReadOptions {
  /** Of a CSV file; detected if absent. */
  delimiter?: string | undefined;
  /** Of a workbook; the first visible one with data if absent. */
  sheet?: string | undefined;
  limit: RowLimit;
}

/** Which file is read, and what a user is told who names one that cannot be read. */
export interface TableOptions extends ReadOptions {
  hints: FileHints;
  /** What the path `-` names; it is a file's name if absent. */
  standardInput?: AsyncIterable<string | Uint8Array> | undefined;
}

/** The most rows of a CSV file, and what a file with more is told. */
interface RowLimit {
  rows: number;
  message: string;
}

/** Opens the table of a file as `tableIn` does. */
export async function openTable(path: string, options: TableOptions): Promise<TableSource> {
  const isStandardInput = path === "-" && options.standardInput !== undefined;
  const file =
    isStandardInput && options.standardInput
      ? await spool(options.standardInput, options.hints)
      : await openFile(path, options.hints);
  return tableIn(file, options);
}

/**
 * Opens a table by what the first bytes of its file are, whatever its name is.
 *
 * @throws Failure `usage` if the file is neither CSV nor a workbook; its pages also throw Unreadable
 */
export async function tableIn(file: FileBytes, options: ReadOptions): Promise<TableSource> {
  const start = await startOf(file);
  if (isZip(start)) return workbookSource(file, await readArchive(await whole(file, options)));
  if (isCompound(start))
    return workbookSource(file, await readCompound(await whole(file, options)));
  if (options.sheet !== undefined)
    throw usage([`--sheet: ${file.path} is not a workbook.`], "Run the command without --sheet.");
  return csvSource(file, start, options);
}

/** The first bytes, enough to find a delimiter. */
async function startOf(file: FileBytes): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of file.pieces()) {
    pieces.push(piece);
    size += piece.byteLength;
    if (size >= 64 * 1024) break;
  }
  return Buffer.concat(pieces);
}

function isZip(start: Buffer): boolean {
  return ["504b0304", "504b0506"].includes(start.toString("hex", 0, 4));
}

function isCompound(start: Buffer): boolean {
  return start.toString("hex", 0, 8) === "d0cf11e0a1b11ae1";
}

async function whole(file: FileBytes, { sheet }: ReadOptions) {
  const { path } = file;
  if (file.size > most.bytes)
    throw usage([`${path} is a workbook of more than 100 MB.`], saveAsCsv);
  const pieces: Uint8Array[] = [];
  for await (const piece of file.pieces()) pieces.push(piece);
  return { path, bytes: Buffer.concat(pieces), sheet };
}

function workbookSource({ path }: FileBytes, { rows, ...sheet }: ReadSheet): TableSource {
  return {
    path,
    ...sheet,
    async *pages() {
      for (let at = 0; at < rows.length; at += pageLength) yield rows.slice(at, at + pageLength);
    },
  };
}

const pageLength = 5_000;

function csvSource(
  file: FileBytes,
  start: Buffer,
  { delimiter: given, limit }: ReadOptions,
): TableSource {
  const encoding = encodingOf(file.path, start);
  // An incomplete character at the end is not decoded.
  const beginning = new TextDecoder(encoding).decode(start, { stream: true });
  rejectOtherText(file.path, beginning);
  const delimiter = given ?? detectDelimiter(beginning);
  async function* text() {
    const decoder = new TextDecoder(encoding);
    for await (const piece of file.pieces()) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  }
  async function* pages() {
    let left = limit.rows;
    for await (const page of csvPages(text(), delimiter)) {
      yield page.slice(0, left);
      const tooMany = page[left];
      if (tooMany) throw new Unreadable(tooMany.line, limit.message);
      left -= page.length;
    }
  }
  return { path: file.path, kind: "csv", delimiter, hiddenColumns: [], pages };
}

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** @throws Failure `usage` if the bytes are no text that can be read without guessing */
function encodingOf(path: string, start: Buffer): Encoding {
  if (start.toString("latin1", 0, 1024).trimStart().startsWith("%PDF-"))
    throw usage(
      [`${path} is a PDF document, which has no cells.`],
      "Get the file as CSV or as a workbook, then run the command with that file.",
    );
  const mark = start.toString("hex", 0, 2);
  const isUtf32 = start.toString("hex", 0, 4) === "fffe0000";
  if (mark === "fffe" && !isUtf32) return "utf-16le";
  if (mark === "feff") return "utf-16be";
  if (!start.includes(0)) return "utf-8";
  const beginning = start.subarray(0, 64);
  const isWide = beginning.filter((byte) => byte === 0).length > beginning.length / 3;
  throw usage(
    [
      isWide
        ? `${path} is UTF-16 without a byte order mark, or UTF-32.`
        : `${path} is neither a CSV file nor a workbook (.xlsx, .xls, .ods).`,
    ],
    saveAsCsv,
  );
}

function rejectOtherText(path: string, beginning: string): void {
  const text = beginning
    .slice(0, 4096)
    .replace(/<!--[\s\S]*?-->/g, "")
    .trimStart();
  const isPage = /^(?:<!doctype\s+html|<(?:html|head|body|meta|title|style|table|div|center)\b)/i;
  if (isPage.test(text) || /^<\?xml[^>]*>\s*<(?:!doctype\s+)?html/i.test(text))
    throw usage([`${path} is a web page, as portals of banks deliver tables.`], openAndSave);
  if (/^(?:mime-version|content-type|from|subject|date):[\s\S]*multipart\/related/i.test(text))
    throw usage([`${path} is a web page in one file (MHTML).`], openAndSave);
  if (/^<(?:\?xml|[\w.-]+:?[\w.-]*[\s>])/i.test(text))
    throw usage([`${path} is XML, not a CSV file.`], openAndSave);
  if (text.startsWith("{\\rtf"))
    throw usage([`${path} is a text document (RTF), not a CSV file.`], openAndSave);
}

const openAndSave = "Open it in a spreadsheet and save it as CSV UTF-8, then use that file.";
