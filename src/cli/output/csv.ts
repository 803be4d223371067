import { paisaOf } from "../../domain/amount.ts";
import { guarded } from "../../domain/csv-guard.ts";
import { clean } from "./terminal-text.ts";
import { type Cell, type Column, type Table, text, type View } from "./view.ts";

/** A view as CSV (RFC 4180): a header line, unless it stands already, then one line a record. */
export function toCsv(view: View, { header: withHeader }: { header: boolean }): string {
  const { columns, rows, style } = tableOf(view);
  const safe = (text: string): string => (style === "exact" ? clean(text) : guarded(clean(text)));
  const header = columns.map(({ key }) => safe(key));
  const records = rows.map((cells) => columns.map(({ key }) => cellText(cells[key], safe)));
  return [...(withHeader ? [header] : []), ...records].reduce(
    (text, record) => `${text}${record.map(quoted).join(",")}\r\n`,
    "",
  );
}

interface CsvTable {
  columns: Column[];
  rows: Record<string, Cell>[];
  style?: Table["csv"];
}

function tableOf(view: View): CsvTable {
  if (view.kind === "table") {
    const { columns, rows, csv: style = "safe" } = view;
    return { columns, rows: rows.map(({ cells }) => cells), style };
  }
  if (view.kind === "step") {
    const { check, state, says: message, todo: hint } = view;
    const cells = Object.entries({ check, state, message, hint });
    return {
      columns: cells.map(([key]) => ({ key, label: "" })),
      rows: [Object.fromEntries(cells.map(([key, value]) => [key, text(value)]))],
    };
  }
  if (view.kind !== "card") {
    return {
      columns: [{ key: "message", label: "" }],
      rows: [{ message: { kind: "text", value: view.text } }],
    };
  }
  return {
    columns: view.fields,
    rows: [Object.fromEntries(view.fields.map(({ key, cell }) => [key, cell]))],
  };
}

function cellText(cell: Cell | undefined, safe: (text: string) => string): string {
  if (!cell || cell.value === null) return "";
  return cell.kind === "money" ? amountCell(cell.value, safe) : safe(cell.value);
}

/** An exact amount with two decimals; anything else as it came. */
function amountCell(value: number | bigint, safe: (text: string) => string): string {
  const amountPaisa = typeof value === "bigint" ? value : paisaOf(value);
  if (amountPaisa === undefined) return safe(String(value));
  return `${amountPaisa / 100n}.${String(amountPaisa % 100n).padStart(2, "0")}`;
}

/** Quoted where RFC 4180 asks for it, and where a leading zero marks digits that are a text. */
function quoted(text: string): string {
  return /[",\r\n]|^0\d+$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
