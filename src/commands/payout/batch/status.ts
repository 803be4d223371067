import { type BatchStatus, endingOf, readStatus } from "../../../batches/status.ts";
import { type Context, defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import type { Failure, FailureKind } from "../../../domain/failure.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { waitFlags, waitOptionsOf } from "../../wait-options.ts";
import {
  batchArgument,
  batchNamed,
  countsText,
  endingFailure,
  holderNow,
  noteInProgress,
  statusCard,
  statusJson,
  waitWithProgress,
  warnOfUnchecked,
} from "./batch.ts";

export const batchStatus = defineCommand({
  description: "Shows the rows by status, as last received.",
  examples: { "Show a batch by its file": "lenden payout batch status payroll.csv" },
  arguments: { batch: batchArgument },
  flags: {
    refresh: flag.toggle("--refresh", "Request the status of payouts that are Processing"),
    watch: flag.toggle("--watch", "Follow the process that sends the batch"),
    ...waitFlags,
  },
  patient: true,
  exitCodes: {
    conflict: "a row is in conflict, or the file differs from its batch",
    partial: "some rows were rejected or cancelled; none is unknown",
    pending: "still being sent, or still Processing after --wait",
    unreachable: "not all rows were sent, or the API did not respond",
    uncertain: "the outcome of some rows is unknown",
  },
  async run(input, context): Promise<Seen> {
    const { refresh, wait } = input;
    const ledger = await (refresh || wait ? context.ledger.own() : context.ledger.records());
    const batch = await batchNamed(input.batch, ledger);
    if (input.watch) await watch(batch, ledger, context);
    /** Why not every status could be requested: those shown may be old. */
    let unseen: FailureKind | undefined;
    if (wait) {
      const failure = await waitWithProgress(batch, waitOptionsOf(input), ledger, context);
      // A wait for an API that does not respond ends as pending.
      if (failure?.kind === "access") unseen = failure.kind;
    } else if (refresh) {
      const { refreshBatch } = await import("../../../batches/wait.ts");
      const failure = await refreshBatch(batch, ledger, await context.api.deps());
      warnOfUnchecked(failure, context);
      if (failure?.kind !== "not-found") unseen = failure?.kind;
    }
    const status = await readStatus(batch, ledger);
    const isInProgress = await noteInProgress(batch, ledger, context);
    const ended = endingOf(status.sums, { waited: wait, isCancelled: batch.cancelledAt !== null });
    const kind = isInProgress && isOpen(ended) ? "pending" : endingKind(ended, status, unseen);
    const failure = await endingFailure(kind, status, { notes: [] }, ledger);
    return { ...status, failure };
  },
  json: (seen) => statusJson(seen),
  view: (seen) => statusCard(seen),
  ending: ({ failure }) => failure,
});

interface Seen extends BatchStatus {
  failure: Failure | undefined;
}

function isOpen(ended: FailureKind | undefined): boolean {
  return ended === "uncertain" || ended === "unreachable";
}

function endingKind(
  ended: FailureKind | undefined,
  { sums }: BatchStatus,
  unseen: FailureKind | undefined,
): FailureKind | undefined {
  if (ended === "conflict" || ended === "uncertain") return ended;
  // The rejected rows are why the others were not sent.
  const isRejected = ended === "unreachable" && sums.refused.count + sums.cancelled.count > 0;
  return unseen ?? (isRejected ? "partial" : ended);
}

const everyMs = 1_000;

/** Reads the ledger every second while a process sends the batch. */
async function watch(batch: Batch, ledger: Ledger, context: Context): Promise<void> {
  const deps = await context.api.deps();
  let line = "";
  const isInProgress = async (): Promise<boolean> => {
    line = countsText(await readStatus(batch, ledger));
    return (await holderNow(batch, ledger)) !== undefined;
  };
  if (!(await isInProgress())) return;
  const progress = context.ui.progress(() => ({ parts: line.split("; ") }));
  try {
    while (!deps.isStopping() && (await isInProgress())) await deps.sleep(everyMs);
  } finally {
    progress.close();
  }
}
