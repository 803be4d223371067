import CliTable from "cli-table3";
import visibleWidth from "string-width";
import { formatAmount } from "./money.ts";
import type { Style } from "./style.ts";
import { clean, cleanLines } from "./terminal-text.ts";
import { formatTime } from "./time.ts";
import type { Card, Cell, Table, View } from "./view.ts";

interface TextOptions {
  style: Style;
  width: number | undefined;
}

/** A view as people read it: a card for one record, a table for many. */
export function toText(view: View, options: TextOptions): string {
  if (view.kind === "line") return `${clean(view.text)}\n`;
  if (view.kind === "raw") return `${cleanLines(view.text)}\n`;
  return view.kind === "card" ? cardText(view, options) : tableText(view, options);
}

function cardText({ title, command, fields }: Card, { style }: TextOptions): string {
  const widest = Math.max(...fields.map(({ label }) => label.length));
  const head = command
    ? [style.bold(clean(title)), `  ${style.dim("$")} ${clean(command)}`]
    : [style.bold(clean(title))];
  const lines = fields
    .filter(({ cell }) => cell.value !== null)
    .map(
      ({ label, cell }) => `  ${style.dim(clean(label).padEnd(widest))}  ${cellText(cell, style)}`,
    );
  return [...head, ...lines, ...(command ? ["", ""] : [""])].join("\n");
}

function tableText({ columns, rows, empty }: Table, { style, width }: TextOptions): string {
  if (rows.length === 0) return `${clean(empty)}\n`;
  const texts = rows.map(({ cells }) => columns.map(({ key }) => cellText(cells[key], style)));
  const table = new CliTable({
    head: columns.map(({ label }) => style.dim(label)),
    chars: noBorders,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
    colWidths: fitted(
      columns.map((_, index) => widest(columns, texts, index)),
      width,
    ),
  });
  table.push(...texts);
  return `${table.toString().replace(/ +$/gm, "")}\n`;
}

const noBorders = Object.fromEntries(
  [
    ...[
      "top",
      "top-mid",
      "top-left",
      "top-right",
      "bottom",
      "bottom-mid",
      "bottom-left",
      "bottom-right",
    ],
    ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"],
  ].map((name) => [name, ""]),
);

function widest(columns: Table["columns"], texts: string[][], index: number): number {
  const label = columns[index]?.label ?? "";
  return Math.max(...[label, ...texts.map((row) => row[index] ?? "")].map(visibleWidth)) + 2;
}

/** Takes what is too much from the widest columns, so that a row stays on one line. */
function fitted(wanted: number[], width: number | undefined): number[] {
  const widths = [...wanted];
  const least = 8;
  for (let over = sum(widths) - (width ?? Number.POSITIVE_INFINITY); over > 0; over -= 1) {
    const most = Math.max(...widths);
    if (most <= least) break;
    widths[widths.indexOf(most)] = most - 1;
  }
  return widths;
}

function cellText(cell: Cell | undefined, style: Style): string {
  if (!cell || cell.value === null) return style.dim("-");
  if (cell.kind === "money") return formatAmount(cell.value);
  if (cell.kind === "time") return formatTime(clean(cell.value));
  const text = clean(cell.value);
  return cell.kind === "status" ? statusText(text, style) : text;
}

function statusText(status: string, style: Style): string {
  if (status === "Completed") return style.green(status);
  if (status === "Cancelled") return style.red(status);
  return status === "Processing" ? style.yellow(status) : status;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
