import { formatDay, formatTime } from "../../domain/local-time.ts";
import { formatAmount, formatPaisa } from "../../domain/money.ts";
import type { Style } from "./style.ts";
import { clean } from "./terminal-text.ts";
import { agoText } from "./time.ts";
import type { Cell } from "./view.ts";

/** A cell as people read it. It gets its colour last: codes have no width, and are never cut. */
export interface CellText {
  text: string;
  paint(text: string): string;
}

export interface Now {
  /** Milliseconds since 1970; undefined off a terminal, where a text must still be true tomorrow. */
  nowMs: number | undefined;
}

/** The text of a cell; in a `short` one a time is how long ago it was, or after a day its date. */
export function cellText(
  cell: Cell | undefined,
  style: Style,
  { nowMs, short }: Now & { short: boolean },
): CellText {
  if (!cell || cell.value === null) return { text: "-", paint: style.dim };
  if (cell.kind === "money") return unpainted(moneyText(cell.value));
  if (cell.kind === "time") return unpainted(timeText(clean(cell.value), { nowMs, short }));
  const text = clean(cell.value);
  return cell.kind === "status" ? { text, paint: statusPaint(text, style) } : unpainted(text);
}

function unpainted(text: string): CellText {
  return { text, paint: (same) => same };
}

function moneyText(value: number | bigint): string {
  return typeof value === "bigint" ? formatPaisa(value) : formatAmount(value);
}

function timeText(iso: string, { nowMs, short }: Now & { short: boolean }): string {
  const ago = nowMs === undefined ? undefined : agoText(iso, nowMs);
  if (short && nowMs !== undefined) return ago?.includes("day") === false ? ago : formatDay(iso);
  return ago === undefined ? formatTime(iso) : `${formatTime(iso)} (${ago})`;
}

/** What is done is green, what is open yellow, what went wrong red: dark enough on white, too. */
const paints: Record<string, "green" | "yellow" | "red"> = {
  Completed: "green",
  Processing: "yellow",
  Cancelled: "red",
  INTENT: "yellow",
  UNCERTAIN: "yellow",
  REFUSED: "red",
  CONFLICT: "red",
  passed: "green",
  warning: "yellow",
  failed: "red",
};

function statusPaint(status: string, style: Style): CellText["paint"] {
  const paint = Object.hasOwn(paints, status) ? paints[status] : undefined;
  return paint ? style[paint] : (same) => same;
}
