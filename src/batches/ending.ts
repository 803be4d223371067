import {
  type Effect,
  Failure,
  type FailureKind,
  isOfLedger,
  type Reason,
  whatHappened,
} from "../domain/failure.ts";
import { formatPaisa } from "../domain/money.ts";
import { rowsText, shellLine } from "../domain/text.ts";
import type { Batch } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { countRetries } from "./retries.ts";
import {
  type BatchStatus,
  endingOf,
  openOf,
  recordedStatus,
  type StatusSums,
  type Sum,
  totalOf,
} from "./status.ts";
import { countsText, retriesText, sentences } from "./texts.ts";

/** What ended a run before its last row. */
export interface RunStop {
  /** The rule that stopped it, if one did. */
  stopped?: Failure | undefined;
  /** What else happened, in sentences. */
  notes: string[];
  /** The rows of unknown outcome that no further run sends, with how the first one is resolved. */
  blocked?: { count: number; hint: string } | undefined;
  /** The rows that were omitted, and why the first one was. */
  skipped?: { count: number; failure: Failure } | undefined;
}

const endings: Partial<Record<FailureKind, { reason: Reason; text: string }>> = {
  access: { reason: "batch.access-denied", text: "" },
  conflict: {
    reason: "batch.in-conflict",
    text: "The API has a different payout under the reference of some rows.",
  },
  internal: { reason: "batch.ledger-failed", text: "" },
  partial: { reason: "batch.rows-failed", text: "Some rows were rejected or cancelled." },
  pending: {
    reason: "batch.still-processing",
    text: "Some rows are not Completed yet.",
  },
  // The counts and the effect say that the outcome of some rows is unknown.
  uncertain: { reason: "batch.outcome-unknown", text: "" },
  unreachable: { reason: "batch.incomplete", text: "Not all rows were sent." },
};

/** Without its --name, the file would be another batch. */
export function howToResume({ name, fileName }: Pick<Batch, "name" | "fileName">): string {
  const named = name === fileName ? "" : ` and ${shellLine(["--name", name])}`;
  return `run 'lenden payout batch send' with the same file${named}`;
}

/** The error of a batch that did not end well; undefined if it did. */
export async function endingFailure(
  kind: FailureKind | undefined,
  status: BatchStatus,
  { stopped, notes, blocked, skipped }: RunStop,
  ledger: Ledger,
): Promise<Failure | undefined> {
  if (kind === undefined) return undefined;
  const { batch, sums } = status;
  const { reason, text } = endings[kind] ?? { reason: "batch.incomplete", text: "" };
  // A row that its plan did not judge can be above a limit.
  const limited = stopped?.kind === kind && stopped.details.reached ? stopped : undefined;
  const omitted = !stopped && skipped?.failure.kind === kind ? skipped.failure : undefined;
  const reached = (limited ?? omitted)?.details.reached;
  const why = stopped ? whatHappened(stopped) : text;
  const isOpen = batch.cancelledAt === null && openOf(sums).count > 0;
  const isAllSent = kind === "partial" && !isOpen;
  const waitHint = `To wait for them, run 'lenden payout batch status ${batch.id} --wait'.`;
  const open = blocked ? blockedHint(batch, blocked) : `To resume, ${howToResume(batch)}.`;
  const known = stopped ?? skipped?.failure;
  const next = known?.details.hint ?? (kind === "pending" ? waitHint : isOpen ? open : "");
  // What was omitted hides no row of unknown outcome.
  const unknown = !stopped && skipped && blocked ? open : "";
  const hint = sentences([isAllSent ? "" : next, unknown, await retryAdvice(status, ledger)]);
  return new Failure(
    (limited ?? omitted)?.reason ?? reason,
    sentences([why, ...notes, countsText(status)]),
    {
      effect: effectOf(sums, kind),
      operation: batch.id,
      ...(reached && { reached }),
      ...(hint && { hint }),
    },
  );
}

/** How to resume a batch with rows that no run sends: they are resolved first. */
function blockedHint(batch: Batch, { count, hint }: NonNullable<RunStop["blocked"]>): string {
  const list = `To list all unknown rows, run 'lenden payout batch export ${batch.id} --only unknown'.`;
  return sentences([hint, count > 1 ? list : "", `Afterwards, ${howToResume(batch)}.`]);
}

/** What happened to the money of a batch. While a process sends it, its unknown rows are pending. */
function effectOf(sums: StatusSums, kind: FailureKind): Effect {
  const { completed, processing, cancelled, refused, conflict } = sums;
  if (kind !== "pending" && conflict.count + sums.uncertain.count > 0) return "outcome-unknown";
  if (completed.count + processing.count + cancelled.count > 0)
    return refused.count + cancelled.count + openOf(sums).count > 0 ? "partly-sent" : "accepted";
  if (kind === "pending") return "partly-sent";
  return refused.count > 0 || kind === "access" ? "nothing-changed" : "nothing-sent";
}

/** What to do about rows that were rejected, cancelled or in conflict; empty if there are none. */
export async function retryAdvice({ batch, sums }: BatchStatus, ledger: Ledger): Promise<string> {
  const command = `'lenden payout batch export ${batch.id} --only`;
  const failed = sums.refused.count + sums.cancelled.count;
  const retries = failed > 0 ? await countRetries(batch, ledger) : undefined;
  const isLeft = retries && retries.accepted.count + retries.others.count < failed;
  return sentences([
    retries ? retriesText(retries) : "",
    isLeft ? `To correct and resend failed rows, run ${command} failed > failed.csv'.` : "",
    sums.conflict.count > 0
      ? `To see how to resolve rows in conflict, run 'lenden ledger list --unknown'.`
      : "",
  ]);
}

/** What a run did, as `runBatch` returns it. */
export interface RunResult extends RunStop {
  /** Rows that the API had before. */
  existing: Sum;
  /** Rows that were accepted by requests of the run. */
  sent: Sum;
  certain: Certain;
}

/**
 * The status of a batch after a run, and the error of one that did not end well.
 *
 * @param wait waits for the final status of its rows
 */
export async function endRun(
  batch: Batch,
  { existing, sent, certain, ...stop }: RunResult,
  ledger: Ledger,
  wait?: () => Promise<unknown>,
) {
  const { stopped } = stop;
  try {
    if (!stopped) await wait?.();
    const status = await recordedStatus(batch, ledger);
    const stoppedBy = (stopped ?? stop.skipped?.failure)?.kind;
    const how = { waited: wait !== undefined, stoppedBy };
    const failure = await endingFailure(endingOf(status.sums, how), status, stop, ledger);
    return { ...status, existing, sent, failure };
  } catch (error) {
    throw failedAfterSending(error, batch, certain);
  }
}

/** What a run shows of its batch without the ledger. */
export interface Certain {
  /** Recorded as accepted, in this run or before it. */
  accepted: Sum;
  /** At least so many rows were not sent. */
  unsent: number;
}

/** Exit 1 means that nothing was sent, which is not known once the rows were. */
function failedAfterSending(cause: unknown, batch: Batch, { accepted, unsent }: Certain): unknown {
  if (cause instanceof Failure && cause.kind !== "internal" && !isOfLedger(cause)) return cause;
  const { id } = batch;
  const total = totalOf(batch);
  const isWhole = accepted.count === total.count;
  const amounts = `${formatPaisa(accepted.sumPaisa)} of ${formatPaisa(total.sumPaisa)}`;
  const message = sentences([
    isWhole
      ? `Batch ${id} was sent, but the status of its rows cannot be read.`
      : `The status of batch ${id} cannot be read. At least ${accepted.count} of ${rowsText(total.count)} were accepted (${amounts}).`,
    unsent > 0 ? `At least ${rowsText(unsent)} were not sent.` : "",
    cause instanceof Failure ? cause.message : "",
  ]);
  const hint = sentences([
    `Do not pay the rows in another way. Run 'lenden ledger check', then 'lenden payout batch status ${id}'.`,
    isWhole ? "" : `To resume, ${howToResume(batch)}.`,
  ]);
  return new Failure("batch.outcome-unknown", message, { hint, operation: id, cause });
}

/** How the status of a batch ends, if not every record could be retrieved. */
export function endingUnlessSeen(
  ended: FailureKind | undefined,
  { sums }: BatchStatus,
  unseen: FailureKind | undefined,
): FailureKind | undefined {
  if (ended === "conflict" || ended === "uncertain") return ended;
  // The rejected rows are why the others were not sent.
  const isRejected = ended === "unreachable" && sums.refused.count + sums.cancelled.count > 0;
  return unseen ?? (isRejected ? "partial" : ended);
}
