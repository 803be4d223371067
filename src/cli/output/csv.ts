import { decimalText, paisaOf } from "../../domain/amount.ts";
import { guarded } from "../../domain/csv-guard.ts";
import { clean } from "./terminal-text.ts";
import { type Cell, type Column, type Table, text, type View } from "./view.ts";

/** RFC 4180: a header, unless an earlier result has printed it, and one line for each record. */
export function toCsv(view: View, continues: boolean): string {
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
