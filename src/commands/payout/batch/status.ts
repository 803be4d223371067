import { endingOf } from "../../../batches/status.ts";
import type { Context } from "../../../cli/command/context.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import type { FailureKind } from "../../../domain/failure.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { patienceOf, waitFlags } from "../../patience.ts";
import {
  type BatchStanding,
  batchArgument,
  batchNamed,
  holderNow,
  inProgressText,
  openOf,
  readStanding,
  standingCard,
  standingJson,
  waitWithProgress,
} from "./batch.ts";
import { adviceOn, batchFailure, sentText } from "./ending.ts";

export const batchStatus = defineCommand({
  description:
    "The parts always add up to the batch, in rows and in exact amounts. A status is the one that was last received; --refresh requests it again for every row that is not Completed or Cancelled.",
  examples: [
    { comment: "By its file", command: "lenden payout batch status payroll.csv" },
    {
      comment: "Until all are Completed or Cancelled",
      command: "lenden payout batch status payroll.csv --wait",
    },
    {
      comment: "While another terminal sends it",
      command: "lenden payout batch status payroll.csv --watch",
    },
  ],
  arguments: { batch: batchArgument },
  flags: {
    refresh: flag.toggle("--refresh", "Request the status of every row that has not ended"),
    watch: flag.toggle("--watch", "Follow the process that sends it, until it ends"),
    ...waitFlags,
  },
  patient: true,
  exitCodes: {
    conflict: "the reference or ID belongs to a different transaction",
    mixed: "a batch ended with rejected or cancelled rows, none unknown",
    pending: "still Processing when the wait timed out",
    "not-found": "the API or the ledger does not know this ID",
    uncertain: "outcome unknown: money may have moved",
  },
  async run(input, context): Promise<Seen> {
    const { refresh, wait } = input;
    const ledger = await (refresh || wait ? context.ledger.own() : context.ledger.records());
    const batch = await batchNamed(input.batch, ledger);
    if (input.watch) await watch(batch, ledger, context);
    let unseen: FailureKind | undefined;
    if (wait) {
      const failure = await waitWithProgress(batch, patienceOf(input), ledger, context);
      // A wait for an API that does not respond ends as pending.
      if (failure?.kind === "access") unseen = failure.kind;
    } else if (refresh) {
      const { refreshBatch } = await import("../../../batches/wait.ts");
      unseen = (await refreshBatch({ batch, ledger }, await context.api.deps()))?.kind;
    }
    const standing = await readStanding(batch, ledger);
    const advice = await adviceOn(standing, ledger);
    if (advice) context.ui.notice(advice);
    const open = openOf(standing.sums).count;
    const by = await holderNow(batch, ledger);
    if (by) context.ui.notice(inProgressText(by), "batch.in-progress");
    else if (open > 0 && batch.cancelledAt === null)
      context.ui.notice(
        `${rowsText(open)} not sent or with an unknown outcome: 'lenden payout batch send' with the same file resumes.`,
      );
    return { ...standing, waited: wait, unseen, isInProgress: by !== undefined, advice };
  },
  json: (done) => standingJson(done),
  view: (done) => standingCard(done),
  ending: (seen) => batchFailure(kindOf(seen), seen, { hint: seen.advice }),
});

interface Seen extends BatchStanding {
  waited: boolean;
  /** Why not every status could be requested: those shown may be old. */
  unseen: FailureKind | undefined;
  /** True if a process sends it at this moment. */
  isInProgress: boolean;
  advice: string | undefined;
}

function kindOf({ batch, sums, waited, unseen, isInProgress }: Seen): FailureKind | undefined {
  const ended = endingOf(sums, { waited, isCancelled: batch.cancelledAt !== null });
  if (isInProgress && (ended === "uncertain" || ended === "unreachable")) return "pending";
  if (ended === "conflict" || ended === "uncertain") return ended;
  // The rejected rows are why the others were not sent.
  const isRejected = ended === "unreachable" && sums.refused.count + sums.cancelled.count > 0;
  return unseen ?? (isRejected ? "mixed" : ended);
}

const everyMs = 1_000;

/** Reads the ledger every second while a process sends the batch. */
async function watch(batch: Batch, ledger: Ledger, context: Context): Promise<void> {
  const world = await context.api.deps();
  let line = "";
  const isInProgress = async (): Promise<boolean> => {
    line = sentText(await readStanding(batch, ledger));
    return (await holderNow(batch, ledger)) !== undefined;
  };
  if (!(await isInProgress())) return;
  const progress = context.ui.progress(() => line.split("; "));
  try {
    while (!world.isStopping() && (await isInProgress())) await world.sleep(everyMs);
  } finally {
    progress.close();
  }
}
