import CliTable from "cli-table3";
import type { CellText } from "./cell-text.ts";
import type { Style } from "./style.ts";
import type { Table } from "./view.ts";
import { cut, widthOf } from "./width.ts";

const gap = 2;
/** Less than this of a text or an id says nothing any more. */
const leastColumns = 8;

/**
 * A heading and a line a row. Where it gets narrow, texts give way first and then ids, but never
 * that of the row itself in the first column; half an amount or a time would be another one.
 * Undefined where that is not enough.
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
  const widths = ["text", "id"].reduce(
    (left, kind) => narrowed(left, (index) => kinds[index] === kind, room),
    wanted,
  );
  return sum(widths) <= room ? laidOut(lines, widths) : undefined;
}

/** Narrows the widest of the columns that may be narrowed, until all fit or none can be any more. */
function narrowed(wanted: number[], givesWay: (index: number) => boolean, room: number): number[] {
  const widths = [...wanted];
  for (let over = sum(widths) - room; over > 0; over -= 1) {
    const soft = widths.map((width, index) => (givesWay(index) ? width : 0));
    const most = Math.max(...soft);
    if (most <= leastColumns) break;
    widths[soft.indexOf(most)] = most - 1;
  }
  return widths;
}

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
  return `${filled.replace(/ +$/gm, "")}\n`;
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
