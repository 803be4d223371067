import CliTable from "cli-table3";
import { withoutEnds } from "../../domain/reading.ts";
import type { CellText } from "./cell-text.ts";
import type { Style } from "./style.ts";
import type { Table } from "./view.ts";
import { cut, widthOf, wrapped } from "./width.ts";

const gap = 2;
/** What gives way where it gets narrow, in this order, and how far: less of it says nothing any more. */
const soft = { sentence: 30, text: 8, id: 8 };

/**
 * A heading and a line a row; only a sentence takes more. Where it gets narrow, sentences go on below
 * their beginning, then texts are cut and then ids, but never that of the row itself in the first
 * column; half an amount or a time would be another one. Undefined where that is not enough.
 */
export function tableText(
  { columns, rows }: Pick<Table, "columns" | "rows">,
  cells: CellText[][],
  { style, width = Number.POSITIVE_INFINITY }: { style: Style; width: number | undefined },
): string | undefined {
  const head = columns.map(({ label }) => ({ text: label, paint: style.dim }));
  const lines = [head, ...cells];
  const wanted = columns.map((_, index) =>
    lines.reduce((most, line) => Math.max(most, widthOf(line[index]?.text ?? "")), 0),
  );
  const kinds = columns.map(({ key }, index) => {
    const kind = rows.find(({ cells: own }) => own[key] !== undefined)?.cells[key]?.kind;
    return kind === "id" && index === 0 ? "firm" : kind;
  });
  const room = width - gap * (columns.length - 1);
  const widths = Object.entries(soft).reduce(
    (left, [kind, least]) =>
      narrowed(left, { givesWay: (index) => kinds[index] === kind, least, room }),
    wanted,
  );
  if (sum(widths) > room) return undefined;
  const isSentence = (column: number) => kinds[column] === "sentence";
  return laidOut(
    lines.flatMap((line) => unfolded(line, widths, isSentence)),
    widths,
  );
}

interface Narrowing {
  givesWay(index: number): boolean;
  /** Columns that none of them goes below. */
  least: number;
  room: number;
}

/** Narrows the widest of the columns that give way, until all fit or none can be narrowed any more. */
function narrowed(wanted: number[], { givesWay, least, room }: Narrowing): number[] {
  const widths = [...wanted];
  for (let over = sum(widths) - room; over > 0; over -= 1) {
    const giving = widths.map((width, index) => (givesWay(index) ? width : 0));
    const most = Math.max(...giving);
    if (most <= least) break;
    widths[giving.indexOf(most)] = most - 1;
  }
  return widths;
}

/** A line, and what of its sentences goes on below it. */
function unfolded(
  line: CellText[],
  widths: number[],
  isSentence: (column: number) => boolean,
): CellText[][] {
  const cells = line.map(({ text, paint }, column) => {
    const parts = isSentence(column) ? wrapped(text, widths[column] ?? 0) : [text];
    return parts.map((part) => ({ text: part, paint }));
  });
  const height = Math.max(1, ...cells.map((parts) => parts.length));
  return Array.from({ length: height }, (_, at) => cells.map((parts) => parts[at] ?? nothing));
}

const nothing: CellText = { text: "", paint: (same) => same };

/**
 * cli-table3 takes a Bangla mark for a letter. So it lays out boxes that have the right width, and
 * the texts are put into them afterwards.
 */
function laidOut(lines: CellText[][], widths: number[]): string {
  const texts: string[] = [];
  const box = ({ text, paint }: CellText, column: number): string => {
    const shown = cut(text, widths[column] ?? 0);
    const columns = widthOf(shown);
    if (columns === 0) return "";
    texts.push(paint(shown));
    return `#${"_".repeat(columns - 1)}`;
  };
  const table = new CliTable({
    chars: noBorders,
    style: { head: [], border: [], "padding-left": 0, "padding-right": gap },
    colWidths: widths.map((width) => width + gap),
  });
  for (const line of lines) table.push(line.map(box));
  const filled = table.toString().replace(/#_*/g, () => texts.shift() ?? "");
  const ended = filled.split("\n").map((one) => withoutEnds(one, " ", "last"));
  return `${ended.join("\n")}\n`;
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

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
