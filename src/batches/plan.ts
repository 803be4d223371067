import { Failure, usage } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { payeeOf } from "../domain/mobile.ts";
import { ok } from "../domain/result.ts";
import { isFree, isUnsettled, isUsedUp } from "../domain/state.ts";
import type { Batch, BatchClaim, BatchFile, FoundPlan, PlannedRow } from "../ledger/batch.ts";
import { duplicatesSince } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { lockedError } from "../operations/record-outcome.ts";
import {
  type CheckedFile,
  findInLedger,
  hasMore,
  type LedgerFindings,
  readRows,
  type Source,
} from "./check.ts";
import { type Finding, firstOf, isAcceptable, placedFinding } from "./findings.ts";
import { fieldsOf, hasReferenceColumn } from "./header.ts";
import { describeDifference, differencesBetween, identify, isComplete } from "./identity.ts";
import { type FileRow, type RowRules, totalsOf } from "./rows.ts";
import { difference, openOf, readStatus, type Sum } from "./status.ts";

/** What the user decides about a batch. */
export interface Choices {
  allowDuplicates: boolean;
  /** The method of this run, if it names one. */
  method: string | undefined;
  /** @throws Failure if the user expects another total */
  expect(total: Sum): void;
  /** Asks the user to confirm. @throws Failure if that is denied */
  confirm(question: Question): Promise<void>;
}

export interface Question {
  batch: Batch;
  total: Sum;
  /** The rows that are still to be sent. */
  open: Sum;
  /** Duplicates that are accepted by the confirmation. */
  duplicates: Finding[];
}

/**
 * Finds the batch of a file: the one with the same identity, or an unfinished one of its name with the same
 * payouts.
 *
 * @throws Failure `conflict` for other rows under the name of an unfinished batch: they may be the same
 * payouts, corrected
 */
export async function findBatch(
  file: BatchFile,
  rows: FileRow[],
  ledger: Ledger,
): Promise<Batch | undefined> {
  const same = await ledger.batches.withIdentity(file.identity);
  if (same?.plan) return same;
  const before = await ledger.batches.unfinishedNamed(file.name);
  const failure = before && (await otherRows(before, file, rows, ledger));
  if (failure?.details.problems?.length) throw failure;
  if (before) return before;
  await rejectPaidRows(file, rows, ledger);
  return undefined;
}

/**
 * Rejects a file without references that has all payouts of a finished batch, alone or with more: another method, a
 * corrected name, flags that read other columns, or rows that were added would pay everyone again. Other descriptions
 * are other payouts, and a name that no batch has is a decision.
 */
async function rejectPaidRows(
  { name, fileName, identity, columns }: BatchFile,
  rows: FileRow[],
  ledger: Ledger,
): Promise<void> {
  if (hasReferenceColumn(columns)) return;
  const hasOwnName = name !== fileName;
  const { total } = totalsOf(rows);
  const payoutsFor = countedFor(rows, columns);
  for await (const found of ledger.batches.plansWithin(total)) {
    const { batch } = found;
    const isNamed = batch.name === name || (!hasOwnName && batch.fileName === name);
    // In another account the same rows have the same references, which are compared one by one.
    if ((hasOwnName && !isNamed) || batch.identity === identity) continue;
    // Exactly the same payouts are a new batch in a file of another name, or without their references.
    const isSameCount = batch.plan?.rowCount === total.count;
    if (isSameCount && (!isNamed || hasReferenceColumn(batch.columns))) continue;
    if (await wasPaidBy(found, payoutsFor(batch.columns), ledger))
      throw paidRows(name, found, total.count);
  }
}

type ComparedPayout = Pick<FileRow, "amountPaisa" | "recipient" | "description">;

/** The payouts of a file, counted by a key that is equal for equal payouts. */
interface CountedPayouts {
  keyOf(payout: ComparedPayout): string;
  counts: Map<string, number>;
}

/** The payouts of a file as they are compared with those of a plan with other columns. */
function countedFor(rows: FileRow[], own: string[]): (columns: string[]) => CountedPayouts {
  const textsIn = (columns: string[]) =>
    JSON.stringify(fieldsOf(columns).filter((one) => one === "name" || one === "description"));
  const known = new Map<boolean, CountedPayouts>();
  return (columns) => {
    const isReadAlike = textsIn(columns) === textsIn(own);
    const counted = known.get(isReadAlike) ?? countPayouts(rows, isReadAlike);
    known.set(isReadAlike, counted);
    return counted;
  };
}

function countPayouts(rows: FileRow[], hasDescription: boolean): CountedPayouts {
  const keyOf = ({ amountPaisa, recipient, description }: ComparedPayout) => {
    const text = hasDescription ? withoutExtraSpace(description) : "";
    return JSON.stringify([payeeOf(recipient ?? ""), String(amountPaisa), text]);
  };
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return { keyOf, counts };
}

/** True if no row of a batch is open, some were accepted, and a file has the payouts of all of them. */
async function wasPaidBy(
  { batch, samples }: FoundPlan,
  { keyOf, counts }: CountedPayouts,
  ledger: Ledger,
): Promise<boolean> {
  if (!samples.every((row) => counts.has(keyOf(row)))) return false;
  const found = new Map<string, number>();
  let isPaid = false;
  for await (const row of ledger.batches.rows(batch, "all")) {
    const key = keyOf(row);
    const count = (found.get(key) ?? 0) + 1;
    const isMissing = count > (counts.get(key) ?? 0);
    if (isMissing || row.state === null || isUnsettled(row) || isFree(row)) return false;
    found.set(key, count);
    if (!isUsedUp(row)) isPaid = true;
  }
  return isPaid;
}

function paidRows(name: string, { batch, otherAccount }: FoundPlan, count: number): Failure {
  const { id, createdAt, plan } = batch;
  const more = count - (plan?.rowCount ?? 0);
  const remove = "To pay only the new rows, remove the others from the file. ";
  const account = otherAccount === null ? "" : ` in account ${otherAccount}`;
  const of = `batch ${id} of ${formatTime(createdAt)}${account}`;
  const inspect =
    otherAccount === null
      ? `To see that batch, run 'lenden payout batch status ${id}'.`
      : `To see that batch, run 'lenden payout batch status ${id}' with the API key of account ${otherAccount}.`;
  return new Failure(
    "batch.other-rows",
    more === 0
      ? `${name} has the same payouts as ${of}.`
      : `${name} has all rows of ${of}, and ${more} more.`,
    {
      hint: `${more === 0 ? "" : remove}${inspect} To pay all rows again as a new batch, add --name <name>.`,
      operation: id,
    },
  );
}

function withoutExtraSpace(text: string | null): string {
  return (text ?? "").replace(/\s+/g, " ").trim();
}

/** The failure of a file with the name of an unfinished batch. Its problems are the rows that differ. */
async function otherRows(
  batch: Batch,
  { name, columns }: Pick<BatchFile, "name" | "columns">,
  rows: FileRow[],
  ledger: Ledger,
): Promise<Failure> {
  const byReference = hasReferenceColumn(columns) || hasReferenceColumn(batch.columns);
  const planned = ledger.batches.rows(batch, "all");
  const differences = await differencesBetween(rows.filter(isComplete), planned, byReference);
  const { id, createdAt } = batch;
  const own = batch.name === name ? "" : ` (${batch.name})`;
  const payingAll = byReference
    ? ""
    : " It pays all rows again, because the file has no ref column.";
  const { sums } = await readStatus(batch, ledger);
  const isOpen = openOf(sums).count > 0;
  const hasFailed = sums.refused.count + sums.cancelled.count > 0;
  return new Failure(
    "batch.other-rows",
    `${name} differs from the file of batch ${id}${own}, created on ${formatTime(createdAt)}${isOpen ? " and not finished" : ""}.`,
    {
      problems: firstOf(differences.map((one) => describeDifference(one, byReference))),
      hint: [
        isOpen ? `To resume ${id}, use its original file.` : "",
        hasFailed
          ? `To correct failed rows, run 'lenden payout batch export ${id} --only failed > failed.csv'.`
          : "",
        `To start a new batch, add --name <name>.${payingAll}`,
      ]
        .filter(Boolean)
        .join(" "),
      operation: id,
    },
  );
}

/** Claims a planned batch for this process (P4). @throws Failure `locked`, or `refused` if it was cancelled */
export async function claimPlanned(planned: Batch, ledger: Ledger): Promise<Batch> {
  return ownBatch(await ledger.batches.claimPlanned(planned));
}

function ownBatch(claim: BatchClaim): Batch {
  if (claim.kind === "held") throw lockedError(claim.batch.id, claim.by, "Batch");
  if (claim.kind === "cancelled") throw cancelledBatch(claim.batch);
  return claim.batch;
}

/** A cancelled batch sends nothing more. */
export function cancelledBatch({ id, cancelledAt }: Batch): Failure {
  const message = `Batch ${id} was cancelled on ${formatTime(cancelledAt ?? "")}.`;
  const hint = `To see which rows were accepted, run 'lenden payout batch status ${id}'. To send the same rows as a new batch, add --name <name>.`;
  return new Failure("batch.cancelled", message, { hint, operation: id });
}

/**
 * Makes a checked file a batch that this process holds, after a confirmation.
 *
 * @throws Failure `locked`, `refused` or `conflict` as `claimPlanned` and `findBatch` do; `usage` if other
 * payouts repeat its rows by now
 */
export async function createBatch(
  file: BatchFile,
  checked: CheckedFile,
  choices: Choices,
  ledger: Ledger,
): Promise<Batch> {
  const { total } = totalsOf(checked.rows);
  choices.expect(total);
  const claim = await ledger.batches.claim(file);
  if (claim.kind === "other-rows") throw await otherRows(claim.batch, file, checked.rows, ledger);
  const batch = ownBatch(claim);
  // Another process created it while this one read the file. Its plan is used.
  if (batch.plan) {
    await ledger.batches.release(batch);
    return resumeBatch(batch, choices, ledger);
  }
  return orRelease(batch, ledger, async () => {
    const open = difference(total, checked.ledger.sentBefore);
    const duplicates = checked.findings.filter(isAcceptable);
    if (open.count > 0) await choices.confirm({ batch, total, open, duplicates });
    return planBatch(batch, checked, ledger);
  });
}

/** Makes a file the plan of a batch. Rows whose duplicates were shown are stored as accepted. */
export async function planBatch(
  batch: Batch,
  checked: CheckedFile,
  ledger: Ledger,
): Promise<Batch> {
  const lines = acceptedLines(checked.findings);
  const rows = () => plannedRows(checked.rows, lines);
  for (let { upTo } = checked.ledger; ; ) {
    const answer = await ledger.batches.plan(batch, rows, upTo);
    if (answer.kind === "planned") return answer.batch;
    if (answer.kind === "other-rows")
      throw await otherRows(answer.batch, batch, checked.rows, ledger);
    const now = await findInLedger(checked.rows, ledger, checked);
    if (hasMore(now, checked.ledger))
      throw new Failure(
        "batch.duplicates",
        "While lenden checked the file, payouts of the same amounts were sent to the same recipients.",
        {
          problems: firstOf(now.findings.map(placedFinding)),
          hint: "To see all repeats, run the same command again. If they are intended, add --allow-duplicates.",
        },
      );
    upTo = now.upTo;
  }
}

function* plannedRows(rows: FileRow[], accepted: Set<number>): Generator<PlannedRow> {
  for (const row of rows) {
    if (!isComplete(row)) throw new Error("a row that cannot be read was planned");
    yield { ...row, isAccepted: accepted.has(row.line) };
  }
}

/** The lines of rows whose duplicates are accepted by sending the file. */
function acceptedLines(findings: Finding[]): Set<number> {
  const lines = new Set<number>();
  for (const finding of findings) {
    if (!isAcceptable(finding)) continue;
    lines.add(finding.line);
    if (finding.kind === "same-recipient-in-file") lines.add(finding.firstLine);
  }
  return lines;
}

/**
 * Claims a planned batch for this process, after a confirmation. Only its plan counts.
 *
 * @throws Failure `locked` or `refused` as `claimPlanned` does; `usage` if the method differs or other payouts
 * repeat its rows; `internal` if the plan was modified
 */
export async function resumeBatch(
  planned: Batch,
  { method, allowDuplicates, expect, confirm }: Choices,
  ledger: Ledger,
): Promise<Batch> {
  if (method !== undefined && method.toLowerCase() !== planned.method?.toLowerCase()) {
    const used = planned.method ?? "a method in every row";
    const problem = `--method: batch ${planned.id} was created with ${used}.`;
    throw usage([problem], "Run the same command without --method.");
  }
  const batch = await claimPlanned(planned, ledger);
  return orRelease(batch, ledger, async () => {
    if (!(await ledger.batches.isUnaltered(batch)))
      throw new Failure(
        "batch.plan-modified",
        `The rows of batch ${batch.id} were modified in the ledger.`,
        {
          hint: "To see what was modified, run 'lenden ledger check'.",
        },
      );
    const { sums, total } = await readStatus(batch, ledger);
    const open = openOf(sums);
    expect(total);
    const shown = await checkOpenRows(batch, ledger);
    const duplicates = shown.findings;
    const rejected = duplicates.filter((one) => !(allowDuplicates && isAcceptable(one)));
    if (rejected.length > 0) throw repeatedSince(batch, rejected);
    if (open.count === 0) return batch;
    await confirm({ batch, total, open, duplicates });
    // The confirmation took a while.
    const now = await checkOpenRows(batch, ledger);
    if (hasMore(now, shown)) throw repeatedSince(batch, now.findings);
    return acceptRows(batch, shown, ledger);
  });
}

function repeatedSince({ id }: Batch, findings: Finding[]): Failure {
  const message = `Unsent rows of batch ${id} repeat payouts that were sent or will be sent.`;
  return new Failure("batch.duplicates", message, {
    problems: firstOf(findings.map(placedFinding)),
    hint: findings.every(isAcceptable)
      ? "If the repeats are intended, add --allow-duplicates."
      : `Resolve these payouts first, or cancel the unsent rows with 'lenden payout batch cancel ${id}'.`,
  });
}

/** Ends the lock of a batch that is not sent, so that another process can claim it. */
async function orRelease(batch: Batch, ledger: Ledger, work: () => Promise<Batch>): Promise<Batch> {
  try {
    return await work();
  } catch (error) {
    await ledger.batches.release(batch);
    throw error;
  }
}

/**
 * What others did about the open rows of a plan since a day before it was made. What repeated a row when its
 * duplicates were accepted, and was accepted by the API before the plan, does not count again.
 */
export function checkOpenRows(batch: Batch, ledger: Ledger): Promise<LedgerFindings> {
  const since = duplicatesSince(Date.parse(batch.createdAt));
  const planned = { batch: batch.number, since: batch.createdAt };
  return findInLedger(ledger.batches.rows(batch, "open"), ledger, { since, planned });
}

/** Stores that the duplicates of a plan's open rows were accepted. */
export async function acceptRows(
  batch: Batch,
  { findings }: LedgerFindings,
  ledger: Ledger,
): Promise<Batch> {
  const lines = acceptedLines(findings);
  return lines.size === 0 ? batch : ledger.batches.acceptLines(batch, [...lines]);
}

/** Older batches are found by their ID alone. */
const mostBatches = 1_000;
/** Reading writes nothing, so Ctrl-C may end it at once. */
const neverStops = { isStopping: () => false, isOutOfTime: () => false };
/** Methods are read as typed; an empty text means the batch's method. */
const asTyped: RowRules = {
  numberFormat: "local",
  method: "",
  methodOf: ok<string>,
  holdsSecret: () => false,
};

/**
 * The newest batch with the rows of a file, whatever the file's name, delimiter, line ends and order. Needs no
 * API: the methods have the IDs that the batch was planned with.
 *
 * @returns undefined if there is none, or if some row cannot be read
 */
export async function batchOfRows(source: Source, ledger: Ledger): Promise<Batch | undefined> {
  return batchWithRows(source, await ledger.batches.list(mostBatches), ledger);
}

/** True if a file has the rows of a batch, as the source says that it is read. */
export async function hasRowsOf(batch: Batch, source: Source, ledger: Ledger): Promise<boolean> {
  return (await batchWithRows(source, [batch], ledger)) !== undefined;
}

async function batchWithRows(
  source: Source,
  batches: Batch[],
  ledger: Ledger,
): Promise<Batch | undefined> {
  const { header, rows, problems } = await readRows(source, asTyped, neverStops);
  if (problems.length > 0) return undefined;
  const hasReferences = header?.fields.includes("ref") === true;
  const { count, sumPaisa } = totalsOf(rows).total;
  for (const batch of batches) {
    const { plan, name, fileName, identity, method: usual } = batch;
    if (plan?.rowCount !== count || plan.totalPaisa !== sumPaisa) continue;
    const ids = new Map<string, string>();
    for await (const { method, methodId } of ledger.batches.rows(batch, "all"))
      ids.set(method, methodId);
    const planned = rows.map((row) => ({
      ...row,
      methodId: ids.get(row.method || (usual ?? "")) ?? null,
    }));
    const names = name === fileName ? [undefined, name] : [name];
    if (names.some((own) => identify(planned, hasReferences, own) === identity)) return batch;
  }
  return undefined;
}
