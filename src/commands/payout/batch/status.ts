import { endingOf } from "../../../batches/status.ts";
import type { Batch, Context, Ledger } from "../../../cli/command/context.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import type { FailureKind } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { patienceOf, waitFlags } from "../../patience.ts";
import { batchFailure } from "./ending.ts";
import { batchArgument, batchNamed } from "./named.ts";
import {
  adviceOn,
  type BatchStanding,
  readStanding,
  standingCard,
  standingJson,
} from "./standing-card.ts";
import { holderNow, underWayText } from "./under-way.ts";
import { waitWithProgress } from "./waiting.ts";

export const batchStatus = defineCommand({
  name: "payout batch status",
  summary: "Show where the rows of a batch stand, and what they come to",
  details:
    "The parts always add up to the plan, in rows and to the paisa. A status is the one that was last seen; --refresh asks the service for every row that has not ended.",
  examples: [
    { line: "lenden payout batch status payroll.csv", says: "by its file" },
    {
      line: "lenden payout batch status payroll.csv --wait",
      says: "until all are Completed or Cancelled",
    },
    {
      line: "lenden payout batch status payroll.csv --watch",
      says: "while another terminal sends it",
    },
  ],
  arguments: { batch: batchArgument },
  flags: {
    refresh: flag.toggle("--refresh", "Ask the service for every row that has not ended"),
    watch: flag.toggle("--watch", "Follow the process that sends it, until it ends"),
    ...waitFlags,
  },
  patient: true,
  exits: ["access", "conflict", "mixed", "pending", "not-found", "unreachable", "uncertain"],
  async run(input, context): Promise<Seen> {
    const isRefreshed = input.refresh || input.wait;
    const ledger = await (isRefreshed ? context.ledger() : context.records());
    const batch = await batchNamed(input.batch, ledger);
    if (input.watch) await watch(batch, ledger, context);
    let unseen: FailureKind | undefined;
    if (input.refresh || input.wait) {
      const failure = input.wait
        ? await waitWithProgress(batch, patienceOf(input), ledger, context)
        : await refresh(batch, ledger, context);
      // To wait for what does not answer is to wait: that ends as pending.
      if (failure && (!input.wait || failure.kind === "access")) unseen = failure.kind;
    }
    const standing = await readStanding(batch, ledger);
    const advice = await adviceOn(standing, ledger);
    if (advice) context.notice(advice);
    const left = standing.sums.unsent.count + standing.sums.uncertain.count;
    const by = await holderNow(batch, ledger);
    if (by) context.notice(underWayText(by), "batch.in-progress");
    else if (left > 0 && batch.cancelledAt === null)
      context.notice(
        `${rowsText(left)} still to be sent or in doubt: 'lenden payout batch send' with the same file goes on.`,
      );
    return { ...standing, waited: input.wait, unseen, isUnderWay: by !== undefined, advice };
  },
  json: (done) => standingJson(done),
  view: (done) => standingCard(done),
  ending: (seen) => batchFailure(kindOf(seen), seen, { hint: seen.advice }),
});

function kindOf({ batch, sums, waited, unseen, isUnderWay }: Seen): FailureKind | undefined {
  const ended = endingOf(sums, { waited, isCancelled: batch.cancelledAt !== null });
  if (isUnderWay && (ended === "uncertain" || ended === "unreachable")) return "pending";
  if (ended === "conflict" || ended === "uncertain") return ended;
  // The rejected rows are why the others were not sent.
  const isRejected = ended === "unreachable" && sums.refused.count + sums.cancelled.count > 0;
  return unseen ?? (isRejected ? "mixed" : ended);
}

interface Seen extends BatchStanding {
  waited: boolean;
  /** Why not all could be looked at: what stands there may be old. */
  unseen: FailureKind | undefined;
  /** Whether a process sends it at this moment. */
  isUnderWay: boolean;
  advice: string | undefined;
}

async function refresh(batch: Batch, ledger: Ledger, context: Context) {
  const { refreshBatch } = await import("../../../batches/wait.ts");
  const watched = { batch, ledger };
  return refreshBatch(watched, await context.world());
}

const everyMs = 1_000;

/** Looks into the ledger every second while a process holds the batch. */
async function watch(batch: Batch, ledger: Ledger, context: Context): Promise<void> {
  const world = await context.world();
  let line: string[] = [];
  const look = async (): Promise<boolean> => {
    const { sums } = await readStanding(batch, ledger);
    const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
    const { unsent, refused, uncertain, completed, processing, cancelled } = sums;
    const sentPaisa = completed.sumPaisa + processing.sumPaisa + cancelled.sumPaisa;
    line = [
      `${rowCount - unsent.count - uncertain.count} of ${rowsText(rowCount)}`,
      `${refused.count} refused`,
      `${uncertain.count} in doubt or under way`,
      `${formatPaisa(sentPaisa)} of ${formatPaisa(totalPaisa)}`,
    ];
    return (await holderNow(batch, ledger)) !== undefined;
  };
  if (!(await look())) return;
  const progress = context.progress(() => line);
  try {
    while (!world.isStopping() && (await look())) await world.sleep(everyMs);
  } finally {
    progress.close();
  }
}
