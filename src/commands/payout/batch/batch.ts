import { existsSync } from "node:fs";
import { basename } from "node:path";
import { countRetries, type Retries } from "../../../batches/retries.ts";
import {
  type BatchStatus,
  openOf,
  type RowStatus,
  rowStatuses,
  type StatusSums,
  type Sum,
  sumOf,
} from "../../../batches/status.ts";
import { placeIn, readText } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import type { Schemas } from "../../../cli/command/define-command.ts";
import { argument } from "../../../cli/command/flag.ts";
import { type Card, card, field, rowsText, text, time } from "../../../cli/output/view.ts";
import { amountText } from "../../../domain/amount.ts";
import {
  type Effect,
  Failure,
  type FailureKind,
  inOneLine,
  type Reason,
  usage,
  whatHappened,
} from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { workerText } from "../../../domain/person.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { waitOptionsOf } from "../../wait-options.ts";

export const batchArgument = argument.required(
  "batch",
  "File, ID or name of the batch, or @last",
  readText,
  "batch",
);

/**
 * The batch that is a file, has this ID or name, or is among the newest.
 *
 * @param byLines whether the command line names rows by their lines in the file
 * @throws Failure `not-found` if there is none; `conflict` for a file with other rows than the batch of its
 * name; `usage` by lines for one that is not the planned file byte for byte
 */
export async function batchNamed(name: string, ledger: Ledger, byLines = false): Promise<Batch> {
  const place = placeIn(name);
  if (place !== undefined) return (await ledger.batches.list(place))[place - 1] ?? notFound(name);
  if (existsSync(name)) return (await batchOfPath(name, ledger, byLines)) ?? notFound(name);
  const id = name.toUpperCase();
  const { batches, named } = await ledger.batches.known({ id, name });
  return batches.find((one) => one.id === id) ?? named ?? notFound(name);
}

function notFound(name: string): never {
  const message = `This account has no batch ${JSON.stringify(name)} in the ledger.`;
  const hint = "To list batches, run 'lenden payout batch list'.";
  throw new Failure("batch.not-found", message, { hint });
}

async function batchOfPath(
  path: string,
  ledger: Ledger,
  byLines: boolean,
): Promise<Batch | undefined> {
  const { readCsvFile } = await import("../../../batches/csv.ts");
  const { batchToShow } = await import("../../../batches/lookup.ts");
  const csv = await readCsvFile(path);
  const choices = { ignored: [], mapped: [], isLenient: true };
  const file = { hash: csv.hash, fileName: basename(path) };
  const is = await batchToShow(file, { ...csv, choices }, ledger);
  if (is.kind === "new") return undefined;
  const { batch } = is;
  if (is.kind === "changed") {
    const message = `${path} has changed since batch ${batch.id} was created.`;
    const hint = `Use the ID of the batch instead of the file: ${batch.id}.`;
    throw new Failure("batch.other-rows", message, { hint, operation: batch.id });
  }
  if (byLines && batch.hash !== csv.hash)
    throw usage(
      [`${path} has the rows of batch ${batch.id}, but in a different order.`],
      `Use the batch ID, ${batch.id}, and the line numbers of the file that was sent.`,
    );
  return batch;
}

/** Says that a process sends the batch now. @returns true if one does */
export async function noteInProgress(batch: Batch, ledger: Ledger, { ui }: Context) {
  const by = await ledger.batches.holderOf(batch);
  if (by)
    ui.notice(
      `Another process is sending this batch: ${workerText(by)}. Rows in flight count as unknown.`,
      "batch.in-progress",
    );
  return by !== undefined;
}

/**
 * Waits until every accepted row is Completed or Cancelled, with progress on stderr.
 *
 * @returns why the last status check failed, if it did
 */
export async function waitWithProgress(
  batch: Batch,
  waitOptions: ReturnType<typeof waitOptionsOf>,
  ledger: Ledger,
  context: Context,
): Promise<Failure | undefined> {
  const { waitForBatch } = await import("../../../batches/wait.ts");
  const deps = await context.api.deps();
  let line = "Waiting";
  const progress = context.ui.progress(() => ({ parts: [line] }));
  try {
    const unseen = await waitForBatch(batch, waitOptions, ledger, deps, (open) => {
      line = `Waiting for ${rowsText(open)}`;
    });
    warnOfUnchecked(unseen, context);
    return unseen;
  } finally {
    progress.close();
  }
}

export function warnOfUnchecked(unseen: Failure | undefined, { ui }: Context): void {
  if (unseen)
    ui.notice(`Not all statuses were retrieved. ${inOneLine(unseen)}`, "batch.not-all-checked");
}

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

/** As scripts get it: amounts in BDT, as text. */
export function sumJson({ count, sumPaisa }: Sum) {
  return { rows: count, total: amountText(sumPaisa) };
}

export function statusJson({ batch, total, sums, sentBefore }: BatchStatus) {
  const { id, name, createdAt, cancelledAt } = batch;
  return {
    batch: id,
    name,
    createdAt,
    cancelledAt,
    ...sumJson(total),
    sentBefore: sumJson(sentBefore),
    states: Object.fromEntries(rowStatuses.map((one) => [one, sumJson(sums[one])])),
  };
}

export function statusCard({ batch, total, sums, sentBefore }: BatchStatus): Card {
  const { id, name, createdAt, cancelledAt } = batch;
  const sumField = (key: string, label: string, sum: Sum) =>
    sum.count > 0 ? [field(key, label, text(sumText(sum)))] : [];
  return card("Batch", id, [
    field("batch", "Batch", text(id)),
    field("name", "Name", text(name)),
    field("createdAt", "Created", time(createdAt)),
    ...(cancelledAt === null ? [] : [field("cancelledAt", "Batch cancelled", time(cancelledAt))]),
    field("total", "Total", text(sumText(total))),
    ...rowStatuses.flatMap((one) => sumField(one, statusNames[one], sums[one])),
    ...(sentBefore.count > 0
      ? [field("sentBefore", "Already existed", text(existedText(sentBefore, total)))]
      : []),
  ]);
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

/** What ended a run before its last row. */
export interface RunStop {
  /** The rule that stopped it, if one did. */
  stopped?: Failure | undefined;
  /** What else happened, in sentences. */
  notes: string[];
  /** The rows of unknown outcome that no further run sends, with how the first one is resolved. */
  blocked?: { count: number; hint: string } | undefined;
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

const resume = "run 'lenden payout batch send' with the same file";
export const resumeHint = `To resume, ${resume}.`;

/** The error of a batch that did not end well; undefined if it did. */
export async function endingFailure(
  kind: FailureKind | undefined,
  status: BatchStatus,
  { stopped, notes, blocked }: RunStop,
  ledger: Ledger,
): Promise<Failure | undefined> {
  if (kind === undefined) return undefined;
  const { batch, sums } = status;
  const { reason, text } = endings[kind] ?? { reason: "batch.incomplete", text: "" };
  const why = stopped ? whatHappened(stopped) : text;
  const isOpen = batch.cancelledAt === null && openOf(sums).count > 0;
  const isAllSent = kind === "partial" && !isOpen;
  const waitHint = `To wait for them, run 'lenden payout batch status ${batch.id} --wait'.`;
  const open = blocked ? blockedHint(batch, blocked) : resumeHint;
  const next = stopped?.details.hint ?? (kind === "pending" ? waitHint : isOpen ? open : "");
  const hint = sentences([isAllSent ? "" : next, await retryAdvice(status, ledger)]);
  return new Failure(reason, sentences([why, ...notes, countsText(status)]), {
    effect: effectOf(sums, kind),
    operation: batch.id,
    ...(hint && { hint }),
  });
}

/** How to resume a batch with rows that no run sends: they are resolved first. */
function blockedHint({ id }: Batch, { count, hint }: NonNullable<RunStop["blocked"]>): string {
  const list = `To list all unknown rows, run 'lenden payout batch export ${id} --only unknown'.`;
  return sentences([hint, count > 1 ? list : "", `Afterwards, ${resume}.`]);
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

/** Rows that have new references; empty if there are none. */
export function retriesText({ accepted, others }: Retries): string {
  return sentences([
    accepted.count > 0 ? `Accepted with new references: ${sumText(accepted)}.` : "",
    others.count > 0
      ? `Not accepted with new references: ${rowsText(others.count)}, for example ${others.first}.`
      : "",
  ]);
}

/** Joins sentences; empty ones are omitted. */
export function sentences(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** The fields of a batch. */
export function batchFields({ z, text, textOrNull, count, amount, each }: Schemas) {
  const sum = z.strictObject({ rows: count, total: amount });
  return {
    ...each(text, "batch name createdAt"),
    cancelledAt: textOrNull,
    rows: count,
    total: amount,
    sentBefore: sum,
    states: z.strictObject(
      each(sum, "completed processing cancelled refused conflict uncertain unsent"),
    ),
  };
}
