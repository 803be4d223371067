import { formatTime } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import { personText } from "../domain/person.ts";
import { rowsText } from "../domain/text.ts";
import type { Batch } from "../ledger/batch.ts";
import { hasReferenceColumn } from "./header.ts";
import type { Retries } from "./retries.ts";
import { type BatchStatus, type RowStatus, type Sum, sumOf } from "./status.ts";

/*
 * Rows and sums in words, for confirmations, notices and errors.
 */

export const statusNames: Record<RowStatus, string> = {
  completed: "Completed",
  processing: "Processing",
  cancelled: "Cancelled",
  refused: "Rejected",
  conflict: "Conflict",
  uncertain: "Outcome unknown",
  unsent: "Not sent",
};

/** `3 rows, BDT 1,250.50`. */
export function sumText({ count, sumPaisa }: Sum): string {
  return `${rowsText(count)}, ${formatPaisa(sumPaisa)}`;
}

/** `12 of 60 rows, BDT 1,250.50`: rows whose payouts were there before their batch. */
export function existedText(existed: Sum, total: Sum): string {
  return `${existed.count} of ${sumText({ ...total, sumPaisa: existed.sumPaisa })}`;
}

/** How many rows of a batch were accepted, and how the others ended. */
export function countsText({ total, sums }: BatchStatus): string {
  const accepted = sumOf(sums.completed, sums.processing, sums.cancelled);
  const others = (["refused", "conflict", "uncertain", "unsent"] as const)
    .filter((status) => sums[status].count > 0)
    .map(
      (status) =>
        `${status === "uncertain" ? "unknown" : statusNames[status].toLowerCase()}: ${sums[status].count}`,
    );
  const amounts = `${formatPaisa(accepted.sumPaisa)} of ${formatPaisa(total.sumPaisa)}`;
  const { count: cancelled } = sums.cancelled;
  const ofThem = cancelled > 0 ? `, of which ${cancelled} cancelled` : "";
  const first = `${accepted.count} of ${rowsText(total.count)} accepted (${amounts})${ofThem}`;
  return `${[first, ...others].join("; ")}.`;
}

/** `created by ann (as root) on 28 Nov 2026, 10:15`. */
export function createdText({ user, login, createdAt }: Batch): string {
  return `created by ${personText(user, login)} on ${formatTime(createdAt)}`;
}

/** Rows that have new references; empty if there are none. */
export function retriesText({ accepted, otherLogins, others }: Retries): string {
  const logins = [...otherLogins].join(", ");
  return sentences([
    accepted.count > 0 ? `Accepted with new references: ${sumText(accepted)}.` : "",
    logins &&
      `Other logins recorded some of them: ${logins}. To compare them with the API, run 'lenden ledger audit'.`,
    others.count > 0
      ? `Not accepted with new references: ${rowsText(others.count)}, for example ${others.first}.`
      : "",
  ]);
}

/** Joins sentences; empty ones are omitted. */
export function sentences(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** How to pay the same rows again; empty if some of them failed. */
export function newPeriodText({ batch: { columns }, sums }: BatchStatus): string {
  if (sums.refused.count + sums.cancelled.count + sums.conflict.count > 0) return "";
  const references = hasReferenceColumn(columns) ? " and new references" : "";
  return `To pay the same rows again for a new period, use --name${references}, for example --name 2026-12.`;
}

const mostRanges = 10;

/** `lines 2-4, 9`. */
export function linesText(lines: number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const line of lines) {
    const range = ranges.at(-1);
    if (range?.last === line - 1) range.last = line;
    else ranges.push({ first: line, last: line });
  }
  const shown = ranges
    .slice(0, mostRanges)
    .map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
  const more = ranges.length > mostRanges ? " and more" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${shown.join(", ")}${more}`;
}
