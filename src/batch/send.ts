import { Failure } from "../failure.ts";
import type { Batch, PlannedPayout } from "../ledger/batches/batch.ts";
import { withCommitQueue } from "../ledger/commit-queue.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { clockFailure } from "../operations/clock.ts";
import { isForgotten } from "../operations/doubt.ts";
import { payoutIntent } from "../operations/payout/claim.ts";
import type { PayoutOrder } from "../operations/payout/order.ts";
import { sendPlannedPayout } from "../operations/payout/send.ts";
import type { World } from "../operations/world.ts";
import { atRest, doubtOf, type RestsSince } from "./doubtful.ts";
import { openPace, type Pace } from "./pace.ts";
import { paced } from "./paced.ts";
import { openStopRules, type RowEnd, type StopRules } from "./stop-rules.ts";
import { type ClaimedRow, openSupply } from "./supply.ts";

export interface Sending {
  batch: Batch;
  ledger: Ledger;
  concurrency: number;
  /** Requests a second; as fast as it goes, if left out. */
  perSecond: number | undefined;
  /** Told how a row ended. */
  onRow(row: PlannedPayout, end: RowEnd, failure?: Failure): void;
}

/** How long one row may take with all its attempts, without its waiting for a place on the wire. */
const rowMs = 60_000;

/** What all rows of one run share. */
interface BatchRun {
  sending: Sending;
  rules: StopRules;
  pace: Pace;
  restsSinceMs: RestsSince;
}

/**
 * Sends the rows of a batch that are not sent yet: those in doubt first, then the others in the
 * order of the file. Each goes the way of a single payout. What the rows write down at the same
 * moment shares a commit.
 *
 * @returns why it stopped before the end, if it did
 */
export async function sendBatch(sending: Sending, world: World): Promise<Failure | undefined> {
  const pace = openPace({ ...world, ...sending });
  const rules = openStopRules();
  const ledger = withCommitQueue(sending.ledger, world.soon);
  const restsSinceMs = atRest(sending.ledger, world);
  const isOver = () => rules.reason() !== undefined || world.isStopping();
  const claim = async (page: PlannedPayout[]) =>
    ledger.claim(page.map((row) => payoutIntent(orderOfRow(row), world)));
  const { underWay, ...supply } = sizes(sending);
  const rows = openSupply(rowsOf(sending, world), { ...supply, claim, isOver });
  const run = { sending, rules, pace, restsSinceMs };

  const work = async (): Promise<void> => {
    const own = {
      ...world,
      doubtSince: doubtOf(undefined),
      ledger: async () => ledger,
      notice: () => {},
    };
    own.client = paced(own, world, run);
    for (;;) {
      try {
        const next = isLedgerBroken(rules) ? undefined : await rows.next();
        if (!next) return;
        const clock = clockFailure(world, "Then run the same command again.");
        if (clock) rules.saw(clock.kind, clock);
        own.doubtSince = doubtOf(next.claim.operation);
        own.deadlineMs = Math.min(world.deadlineMs, world.now() + rowMs);
        await sendRow(next, run, own);
      } catch (error) {
        rules.ledgerFailed(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: underWay }, work));
  return rules.reason();
}

/** I4: nothing goes out any longer, and of what was claimed nothing can be written down. */
function isLedgerBroken(rules: StopRules): boolean {
  return rules.reason()?.kind === "internal";
}

/**
 * For each place on the wire five rows are under way, for four of them wait for their turn or for
 * their outcome to be written down; and four or more are claimed already. Whatever is claimed is in
 * doubt after a kill: with a rate no more waits than goes out in two seconds.
 */
function sizes({ concurrency, perSecond = Number.POSITIVE_INFINITY }: Sending) {
  const inASecond = Math.ceil(perSecond);
  return {
    underWay: Math.min(concurrency * 5, concurrency + inASecond),
    pageSize: Math.min(concurrency * 4, inASecond),
    fewest: Math.min(concurrency * 4, inASecond - 1),
  };
}

function* rowsOf({ batch, ledger, onRow }: Sending, world: World): Generator<PlannedPayout> {
  const batches = ledger.batches();
  for (const row of batches.doubtful(batch)) {
    if (isForgotten(row.sentAt ?? "", world)) onRow(row, "uncertain");
    else yield row;
  }
  yield* batches.unsent(batch);
}

async function sendRow(
  { row, claim }: ClaimedRow,
  { sending, rules, pace, restsSinceMs }: BatchRun,
  world: World,
): Promise<void> {
  try {
    const planned = { order: orderOfRow(row), claim, restsSinceMs: restsSinceMs(row) };
    const { existing } = await sendPlannedPayout(planned, world);
    pace.speedUp();
    rules.saw("sent");
    sending.onRow(row, existing ? "existing" : "sent");
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // What a stop cut short says nothing about the service.
    const isSilence = error.kind === "unreachable" || error.kind === "uncertain";
    rules.saw(world.isStopping() && isSilence ? "interrupted" : error.kind, error);
    sending.onRow(row, error.kind, error);
  }
}

/** A row as the payout that it is. */
export function orderOfRow(planned: PlannedPayout): PayoutOrder {
  const { amountPaisa, reference, recipient, methodId, name, description } = planned;
  return {
    amountPaisa,
    reference,
    recipientNumber: recipient,
    recipientName: name ?? undefined,
    description: description ?? undefined,
    paymentMethodId: methodId,
  };
}
