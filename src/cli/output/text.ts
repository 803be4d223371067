import CliTable from "cli-table3";
import { formatDay, formatTime } from "../../domain/local-time.ts";
import { formatAmount, formatPaisa } from "../../domain/money.ts";
import type { Style } from "./style.ts";
import { clean, cleanLines } from "./terminal-text.ts";
import { agoText } from "./time.ts";
import {
  type Card,
  type Cell,
  type Field,
  type Row,
  type Step,
  status,
  type Table,
  type View,
} from "./view.ts";
import { cut, isAscii, sum, widthOf, wrapped, wrappedSentence } from "./width.ts";

export interface TextOptions {
  style: Style;
  /** Columns of the terminal; undefined means that nothing is cut or wrapped. */
  width: number | undefined;
  /** Milliseconds since 1970; undefined if stdout is not a terminal: a file is read later. */
  nowMs: number | undefined;
  /** The zone of times; by default that of the profile. */
  zone?: string | undefined;
  /** True if an earlier page of the same table has its heading. */
  continues?: boolean | undefined;
  /** The widest cells of the table's pages so far, by column. */
  widest?: Map<string, number> | undefined;
}

/** A view as people read it: a card for one record, a table for many. */
export function toText(view: View, options: TextOptions): string {
  return `${linesOf(view, options).join("\n")}\n`;
}

function linesOf(view: View, options: TextOptions): string[] {
  if (view.kind === "line") return wrappedSentence(clean(view.text), columnsOf(options));
  if (view.kind === "raw") return [cleanLines(view.text)];
  if (view.kind === "step") return stepLines(view, options);
  if (view.kind === "card") return cardLines(view, options);
  return tableLines(view, { ...options, zone: view.zone });
}

function columnsOf({ width }: TextOptions): number {
  return width ?? Number.POSITIVE_INFINITY;
}

/** The longest ID that lenden creates: it should fit on one line. */
const longestId = 29;
/** A phone number: part of one could be that of several recipients. */
const longestNumber = 11;

/** Steps are printed one by one, so these columns have fixed widths. */
const stepWidths = { state: 8, check: 15 };

function stepLines({ state, check, message, hint }: Step, options: TextOptions): string[] {
  const head = [cellText(status(state), options), { text: clean(check), paint: plain }];
  const widths = [stepWidths.state, stepWidths.check].map((least, index) =>
    Math.max(least, widthOf(head[index]?.text ?? "")),
  );
  const room = columnsOf(options) - sum(widths) - gap * widths.length;
  const isNarrow = room < longestId;
  const texts = [clean(message), ...(hint === null ? [] : [clean(`→ ${hint}`)])];
  const lines = texts.flatMap((text) => wrapped(text, isNarrow ? columnsOf(options) - 4 : room));
  const cells = head.map(({ text, paint }) => ({ lines: [text], paint }));
  if (!isNarrow) return draw([[...cells, { lines, paint: plain }]], [...widths, widest(lines)]);
  return [...draw([cells], widths), ...lines.map((line) => `    ${line}`)];
}

function cardLines({ title, command, fields }: Card, options: TextOptions): string[] {
  const { style } = options;
  const head = style.bold(clean(title));
  const lines = fieldLines(
    fields.filter(({ cell }) => cell.value !== null),
    options,
  );
  return command ? [head, `  ${style.dim("$")} ${clean(command)}`, ...lines, ""] : [head, ...lines];
}

/** Label and value. Long values are wrapped; on a narrow terminal they begin below their label. */
function fieldLines(fields: Field[], options: TextOptions): string[] {
  const { style } = options;
  const labels = fields.map(({ label }) => clean(label));
  const labelWidth = widest(labels);
  const room = columnsOf(options) - labelWidth - gap * 2;
  const longest = widest(fields.map(({ cell }) => String(cell.value)));
  const isNarrow = room < Math.min(longest, longestId);
  const columns = Math.max(1, isNarrow ? columnsOf(options) - 4 : room);
  const values = fields.map(({ cell }) => {
    const { text, paint } = fieldText(cell, columns, options);
    return { lines: wrapped(text, columns), paint };
  });
  if (isNarrow)
    return values.flatMap(({ lines, paint }, index) => [
      ...(labels[index] ? [`  ${style.dim(labels[index])}`] : []),
      ...lines.map((line) => `    ${paint(line)}`),
    ]);
  const rows = values.map((value, index) => [
    { lines: [labels[index] ?? ""], paint: style.dim },
    value,
  ]);
  const valueWidth = widest(values.flatMap(({ lines }) => lines));
  return draw(rows, [labelWidth, valueWidth]).map((line) => `  ${line}`);
}

/** Shows how long ago something happened if there is room for it. */
function fieldText(cell: Cell, columns: number, options: TextOptions): CellText {
  const whole = cellText(cell, options);
  const isTooLong = cell.kind === "time" && widthOf(whole.text) > columns;
  return isTooLong ? cellText(cell, { ...options, nowMs: undefined }) : whole;
}

/**
 * A heading and one line for each row. If the terminal is narrow, sentences are wrapped, then texts
 * are cut, then IDs, but neither the ID of the row itself nor phone numbers. Then spare columns are
 * omitted, the first one first. Part of an amount or of a time would be a wrong one: if these do not
 * fit, the rows are listed like cards.
 */
function tableLines(shown: Table, options: TextOptions, all = shown.columns): string[] {
  const { columns, rows, empty } = shown;
  const { continues = false, widest: before = new Map<string, number>() } = options;
  if (rows.length === 0) return wrappedSentence(clean(empty), columnsOf(options));
  const lines = [
    columns.map(({ label }) => ({ text: label, paint: options.style.dim })),
    ...rows.map(({ cells }) => columns.map(({ key }) => cellText(cells[key], options, "short"))),
  ];
  const wanted = columns.map(({ key }, index) => {
    const width = widest(lines.map((line) => line[index]?.text ?? ""));
    const most = Math.max(width, before.get(key) ?? 0);
    before.set(key, most);
    return most;
  });
  const kinds = columns.map(({ key }, index) => {
    const kind = rows.find(({ cells }) => cells[key] !== undefined)?.cells[key]?.kind;
    const isWhole = index === 0 || (wanted[index] ?? 0) <= longestNumber;
    return kind === "id" && isWhole ? "whole-id" : kind;
  });
  for (const line of lines)
    for (const [index, cell] of line.entries())
      if (columns[index]?.isRight) cell.text = cell.text.padStart(wanted[index] ?? 0);
  const widths = narrowed(wanted, kinds, columnsOf(options) - gap * (columns.length - 1));
  const spare = widths === undefined ? columns.find(({ isSpare }) => isSpare) : undefined;
  if (spare)
    return tableLines({ ...shown, columns: columns.filter((one) => one !== spare) }, options, all);
  if (widths === undefined)
    return rows.flatMap((row, index) => [
      ...(index === 0 && !continues ? [] : [""]),
      ...fieldLines(fieldsOf(row, all), options),
    ]);
  const cells = lines.slice(continues ? 1 : 0).map((line) =>
    line.map(({ text, paint }, index) => {
      const width = widths[index] ?? 0;
      return {
        lines: kinds[index] === "sentence" ? wrapped(text, width) : [cut(text, width)],
        paint,
      };
    }),
  );
  return draw(cells, widths);
}

function fieldsOf({ cells }: Row, columns: Table["columns"]): Field[] {
  return columns.flatMap((column) => {
    const cell = cells[column.key];
    return cell === undefined || cell.value === null || cell.value === ""
      ? []
      : [{ ...column, cell }];
  });
}

/** The kinds of cells that are narrowed, in this order, and the least width of each. */
const leastWidths = Object.entries({ sentence: 30, text: 8, id: 8 });

/** Narrows the widest of the columns until all of them fit; undefined if they cannot. */
function narrowed(wanted: number[], kinds: (string | undefined)[], room: number) {
  const widths = [...wanted];
  for (const [kind, least] of leastWidths) {
    for (let over = sum(widths) - room; over > 0; over -= 1) {
      const ofKind = widths.map((width, index) => (kinds[index] === kind ? width : 0));
      const most = Math.max(...ofKind);
      if (most <= least) break;
      widths[ofKind.indexOf(most)] = most - 1;
    }
  }
  return sum(widths) > room ? undefined : widths;
}

interface DrawnCell {
  lines: string[];
  paint: CellText["paint"];
}

const gap = 2;
/** cli-table3 takes longer for each row of a long table. */
const rowsPerTable = 200;

/**
 * Draws rows of cells with cli-table3. It counts a Bangla mark as a letter, so a text that is not
 * ASCII is drawn as a stand-in of the same width, and replaced afterwards.
 */
function draw(rows: DrawnCell[][], widths: number[]): string[] {
  const drawn: string[] = [];
  for (let from = 0; from < rows.length; from += rowsPerTable)
    for (const line of drawSome(rows.slice(from, from + rowsPerTable), widths)) drawn.push(line);
  return drawn;
}

function drawSome(rows: DrawnCell[][], widths: number[]): string[] {
  const table = new CliTable({
    chars: noBorders,
    style: { head: [], border: [], "padding-left": 0, "padding-right": gap },
    colWidths: widths.map((width) => width + gap),
  });
  const replaced: string[] = [];
  const content = (line: string, paint: DrawnCell["paint"]): string => {
    if (isAscii(line)) return paint(line);
    const width = widthOf(line);
    if (width === 0) return "";
    replaced.push(paint(line));
    return `\ue000${"\ue001".repeat(width - 1)}`;
  };
  for (const row of rows) {
    const height = Math.max(...row.map(({ lines }) => lines.length));
    for (let at = 0; at < height; at += 1)
      table.push(row.map(({ lines, paint }) => content(lines[at] ?? "", paint)));
  }
  const drawn = table.toString().replace(/\ue000\ue001*/g, () => replaced.shift() ?? "");
  return drawn.split("\n").map((line) => line.trimEnd());
}

const borders =
  "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle";
const noBorders = Object.fromEntries(borders.split(" ").map((name) => [name, ""]));

/** A cell as people read it. It is painted last: color codes have no width and are never cut. */
interface CellText {
  text: string;
  paint(text: string): string;
}

function cellText(cell: Cell | undefined, options: TextOptions, length?: "short"): CellText {
  const { style } = options;
  if (!cell || cell.value === null) return { text: "-", paint: style.dim };
  if (cell.kind === "money") return { text: moneyText(cell.value), paint: plain };
  const text = clean(cell.value);
  if (cell.kind === "time") return { text: timeText(text, options, length), paint: plain };
  const color = cell.kind === "status" ? statusColors.get(text) : undefined;
  return { text, paint: color ? style[color] : plain };
}

function moneyText(value: number | bigint): string {
  return typeof value === "bigint" ? formatPaisa(value) : formatAmount(value);
}

/** A short time is how long ago it was; after a day, its date. */
function timeText(iso: string, { nowMs, zone }: TextOptions, length?: "short"): string {
  const ago = nowMs === undefined ? undefined : agoText(iso, nowMs);
  if (length === "short" && nowMs !== undefined)
    return ago?.includes("day") === false ? ago : formatDay(iso, zone);
  return ago === undefined ? formatTime(iso, zone) : `${formatTime(iso, zone)} (${ago})`;
}

/** Done is green, open is yellow, wrong is red. */
const statusColors = new Map<string, "green" | "yellow" | "red">([
  ["Completed", "green"],
  ["Processing", "yellow"],
  ["Cancelled", "red"],
  ["INTENT", "yellow"],
  ["UNCERTAIN", "yellow"],
  ["REFUSED", "red"],
  ["CONFLICT", "red"],
  ["passed", "green"],
  ["warning", "yellow"],
  ["failed", "red"],
]);

function plain(text: string): string {
  return text;
}

function widest(texts: string[]): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
}
