import { decimalText, paisaOf } from "../../domain/amount.ts";
import { guarded } from "../../domain/csv-guard.ts";
import { loadStyle } from "./style.ts";
import { clean, cleanLines, safeJson } from "./terminal-text.ts";
import type { TextOptions } from "./text.ts";
import { type Cell, type Column, type Table, text, type View } from "./view.ts";

export const outputFormats = ["table", "json", "ndjson", "csv"] as const;
/** `html` and `hledger` are formats of some commands, whose view is a text then. */
export type OutputFormat = (typeof outputFormats)[number] | "html" | "hledger";
/** What a run prints: `ids` with --quiet, whatever the format is. */
export type Output = OutputFormat | "ids";

export interface RenderOptions extends Pick<TextOptions, "width" | "nowMs" | "widest"> {
  format: OutputFormat;
  /** Only the IDs, one on each line. */
  quiet: boolean;
  color: boolean;
  /** True if an earlier result has printed the header. */
  continues: boolean;
}

/**
 * Turns one result into the text of stdout. JSON is the result itself; the other formats show its view.
 * The shape does not depend on whether stdout is a terminal.
 *
 * @param view called only if it is needed
 */
export async function render(result: unknown, view: () => View, options: RenderOptions) {
  if (options.quiet) return lines(idsOf(view()));
  if (options.format === "json") return lines([safeJson(result, 2)]);
  if (options.format === "ndjson")
    return lines((Array.isArray(result) ? result : [result]).map((one: unknown) => safeJson(one)));
  if (options.format === "csv") return toCsv(view(), options.continues);
  const { toText } = await import("./text.ts");
  return toText(view(), { ...options, style: await loadStyle(options.color) });
}

function idsOf(view: View): string[] {
  if (view.kind === "raw") return [cleanLines(view.text)];
  if (view.kind === "table") return view.rows.map((row) => clean(row.id));
  return view.id === "" ? [] : [clean(view.id)];
}

function lines(texts: string[]): string {
  return texts.map((one) => `${one}\n`).join("");
}

/** RFC 4180: a header, unless an earlier result has printed it, and one line for each record. */
function toCsv(view: View, continues: boolean): string {
  const { columns, rows, csv } = csvTableOf(view);
  const safe = (value: string): string => (csv === "exact" ? clean(value) : guarded(clean(value)));
  const header = columns.map(({ key }) => safe(key));
  const records = rows.map((cells) => columns.map(({ key }) => csvCell(cells[key], safe)));
  return [...(continues ? [] : [header]), ...records]
    .map((record) => `${record.map(quoted).join(",")}\r\n`)
    .join("");
}

interface CsvTable {
  columns: Pick<Column, "key">[];
  rows: Record<string, Cell>[];
  csv?: Table["csv"];
}

function csvTableOf(view: View): CsvTable {
  if (view.kind === "table") return { ...view, rows: view.rows.map(({ cells }) => cells) };
  if (view.kind === "card") {
    const cells = view.fields.map(({ key, cell }) => [key, cell] as const);
    return { columns: view.fields, rows: [Object.fromEntries(cells)] };
  }
  const values =
    view.kind === "step"
      ? { check: view.check, state: view.state, message: view.message, hint: view.hint }
      : { message: view.text };
  const cells = Object.entries(values).map(([key, value]) => [key, text(value)] as const);
  return { columns: cells.map(([key]) => ({ key })), rows: [Object.fromEntries(cells)] };
}

function csvCell(cell: Cell | undefined, safe: (text: string) => string): string {
  if (!cell || cell.value === null) return "";
  return cell.kind === "money" ? amountCell(cell.value, safe) : safe(cell.value);
}

/** An exact amount with two decimals; any other value unchanged. */
function amountCell(value: number | bigint, safe: (text: string) => string): string {
  const amountPaisa = typeof value === "bigint" ? value : paisaOf(value);
  return amountPaisa === undefined ? safe(String(value)) : decimalText(amountPaisa);
}

/** Quoted if RFC 4180 requires it, and if digits with a leading zero are a text. */
function quoted(text: string): string {
  return /[",\r\n]|^0\d+$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
