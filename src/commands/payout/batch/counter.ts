import { countRow, type Standings, type Sum } from "../../../batches/status.ts";
import type { Batch } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import type { Paisa } from "../../../domain/amount.ts";
import { formatPaisa } from "../../../domain/money.ts";

export type Counter = ReturnType<typeof openCounter>;

/** Counts along, so that the ledger need not be added up for every line. */
export function openCounter(batch: Batch, before: Standings, { now }: { now(): number }) {
  const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
  const startMs = now();
  const open = before.unsent.count + before.uncertain.count;
  let done = rowCount - open;
  let sentPaisa =
    before.completed.sumPaisa + before.processing.sumPaisa + before.cancelled.sumPaisa;
  const counts = { refused: before.refused.count, uncertain: 0 };
  const existing: Sum = { count: 0, sumPaisa: 0n };
  const doneBefore = done;
  return {
    isDone: () => open === 0,
    isOver: () => done === rowCount,
    left: (): string => rowsText(rowCount - done),
    /** What the service had before. */
    existing,
    saw: (row: { amountPaisa: Paisa }, end: string): void => {
      const isThere = end === "sent" || end === "existing";
      if (isThere || end === "refused" || end === "conflict") done += 1;
      if (isThere) sentPaisa += row.amountPaisa;
      if (end === "existing") countRow(existing, row);
      if (end === "refused" || end === "uncertain") counts[end] += 1;
    },
    /** The most important first: what does not fit is left out from the end. */
    line: (): string[] => {
      const seconds = Math.max(0.001, (now() - startMs) / 1_000);
      const rate = (done - doneBefore) / seconds;
      return [
        `${done} of ${rowsText(rowCount)}`,
        ...(counts.refused > 0 ? [`${counts.refused} refused`] : []),
        ...(counts.uncertain > 0 ? [`${counts.uncertain} uncertain`] : []),
        `${formatPaisa(sentPaisa)} of ${formatPaisa(totalPaisa)}`,
        `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} rows/s`,
        ...(rate > 0 && done < rowCount ? [`${duration((rowCount - done) / rate)} left`] : []),
      ];
    },
  };
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
