import { type CellText, cellText, type Now } from "./cell-text.ts";
import type { Style } from "./style.ts";
import { tableText } from "./table-text.ts";
import { clean, cleanLines } from "./terminal-text.ts";
import {
  type Card,
  type Cell,
  type Field,
  type Step,
  status,
  type Table,
  type View,
} from "./view.ts";
import { padded, widthOf, wrapped, wrappedSentence } from "./width.ts";

interface TextOptions extends Now {
  style: Style;
  /** Columns of the terminal; undefined means that nothing is cut or wrapped. */
  width: number | undefined;
}

/** A view as people read it: a card for one record, a table for many. */
export function toText(view: View, options: TextOptions): string {
  if (view.kind === "line")
    return `${wrappedSentence(clean(view.text), columnsOf(options)).join("\n")}\n`;
  if (view.kind === "raw") return `${cleanLines(view.text)}\n`;
  if (view.kind === "step") return stepText(view, options);
  return view.kind === "card" ? cardText(view, options) : listText(view, options);
}

/** Where the texts of steps begin: they come one by one, and stand below each other all the same. */
const stepIndent = { state: 10, check: 17 };

function stepText({ state, check, says, todo }: Step, options: TextOptions): string {
  const { style } = options;
  const { text, paint } = cellText(status(state), style, { nowMs: undefined, short: false });
  const head = paint(text) + " ".repeat(Math.max(1, stepIndent.state - widthOf(text)));
  const name = padded(clean(check), stepIndent.check);
  const whole = stepIndent.state + stepIndent.check;
  const isNarrow = columnsOf(options) - whole < longestId;
  const indent = isNarrow ? 4 : whole;
  const textsOf = (said: string) => wrapped(clean(said), columnsOf(options) - indent);
  const [first = "", ...others] = textsOf(says);
  const below = [...others, ...(todo === null ? [] : textsOf(`→ ${todo}`))];
  const begin = isNarrow ? [head + name.trimEnd(), `    ${first}`] : [head + name + first];
  return `${[...begin, ...below.map((line) => " ".repeat(indent) + line)].join("\n")}\n`;
}

function cardText({ title, command, fields }: Card, options: TextOptions): string {
  const { style } = options;
  const head = style.bold(clean(title));
  const lines = fieldLines(
    fields.filter(({ cell }) => cell.value !== null),
    options,
  );
  return command
    ? `${[head, `  ${style.dim("$")} ${clean(command)}`, ...lines, "", ""].join("\n")}`
    : `${[head, ...lines].join("\n")}\n`;
}

/** Label and value; a long value goes on below its beginning, or below its label where it is narrow. */
function fieldLines(fields: Field[], options: TextOptions): string[] {
  const { style } = options;
  const labels = fields.map(({ label }) => clean(label));
  const widest = Math.max(0, ...labels.map(widthOf));
  const longest = Math.max(0, ...fields.map(({ cell }) => widthOf(String(cell.value))));
  const isNarrow = columnsOf(options) - widest - 4 < Math.min(longest, longestId);
  const indent = isNarrow ? 4 : widest + 4;
  const columns = Math.max(1, columnsOf(options) - indent);
  return fields.flatMap(({ cell }, index) => {
    const { text, paint } = fieldText(cell, columns, options);
    const [first = "", ...others] = wrapped(text, columns).map((line) => paint(line));
    const label = labels[index] ?? "";
    const head = isNarrow
      ? [...(label ? [`  ${style.dim(label)}`] : []), `    ${first}`]
      : [`  ${style.dim(padded(label, widest))}  ${first}`];
    return [...head, ...others.map((line) => " ".repeat(indent) + line)];
  });
}

/** How long ago something was is said where there is room for it. */
function fieldText(cell: Cell, columns: number, { style, nowMs }: TextOptions): CellText {
  const whole = cellText(cell, style, { nowMs, short: false });
  const isTooLong = cell.kind === "time" && widthOf(whole.text) > columns;
  return isTooLong ? cellText(cell, style, { nowMs: undefined, short: false }) : whole;
}

/** A table; where it would not fit without cutting ids and amounts, its rows one below the other. */
function listText(table: Table, options: TextOptions): string {
  const { columns, rows, empty } = table;
  if (rows.length === 0) return `${wrapped(clean(empty), columnsOf(options)).join("\n")}\n`;
  const shown = rows.map(({ cells }) => columns.map(({ key }) => shownCell(cells[key], options)));
  const drawn = tableText(table, shown, options);
  if (drawn !== undefined) return drawn;
  const blocks = rows.map(({ cells }) => {
    const fields = columns.map((column) => ({ ...column, cell: cells[column.key] ?? nothing }));
    return fieldLines(
      fields.filter(({ cell }) => cell.value !== null && cell.value !== ""),
      options,
    ).join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

/** A reference that lenden makes: it should stand on one line. */
const longestId = 29;
const nothing: Cell = { kind: "text", value: null };

function shownCell(cell: Cell | undefined, { style, nowMs }: TextOptions): CellText {
  return cellText(cell, style, { nowMs, short: true });
}

function columnsOf({ width }: TextOptions): number {
  return width ?? Number.POSITIVE_INFINITY;
}
