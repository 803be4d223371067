import { Failure, usage } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { firstOf } from "../domain/text.ts";
import type {
  Batch,
  BatchFile,
  FoundPlan,
  PlannedClaim,
  PlannedRow,
  ReadPlan,
} from "../ledger/batch.ts";
import { duplicatesSince } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RepeatingRow } from "../ledger/limits.ts";
import type { Sealer } from "../ledger/seal.ts";
import { adviceOnRepeats, deniedFailure, repeatsFailure } from "../operations/limits.ts";
import { lockedError } from "../operations/record-outcome.ts";
import {
  type CheckedFile,
  findInLedger,
  findingsAmong,
  hasMore,
  type LedgerFindings,
} from "./check.ts";
import { differencesFrom } from "./differences.ts";
import { howToResume } from "./ending.ts";
import { type Finding, isAcceptable, placedFinding } from "./findings.ts";
import { hasReferenceColumn } from "./header.ts";
import { isComplete, whichBatch } from "./identity.ts";
import { batchToSend } from "./lookup.ts";
import { createTotals, type FileRow, type Totals, totalsOf } from "./rows.ts";
import { assertSameRows, type Comparison } from "./same-rows.ts";
import { difference, openOf, readStatus, recordedStatus, type Sum, totalOf } from "./status.ts";
import { createdText, sumText } from "./texts.ts";

/** What the user decides about a batch. */
export interface Choices {
  allowDuplicates: boolean;
  /** The method of this run, if it names one. */
  method: string | undefined;
  /**
   * @param open the rows that this run would send
   * @throws Failure if the user expects others
   */
  expect(total: Sum, open: Sum): void;
  /** Asks the user to confirm. @throws Failure if that is denied */
  confirm(question: Question): Promise<void>;
  notice(text: string, reason: string): void;
}

/** The ledger, and what seals the plan that this run orders. */
export interface Ordering {
  ledger: Ledger;
  sealer: Sealer;
}

/** A plan that this process holds. */
export interface HeldPlan extends ReadPlan {
  /** False if no row was open: others may open rows later, which were not confirmed. */
  isConfirmed: boolean;
}

export interface Question {
  batch: Batch;
  total: Sum;
  /** The rows that are still to be sent. */
  open: Sum;
  /** Duplicates that are accepted by the confirmation. */
  duplicates: Finding[];
  /** What a person checks of a batch that is sent without its file. */
  totals?: Totals | undefined;
}

/**
 * The batch that a file is, or undefined if it is a new one.
 *
 * @throws Failure `conflict` for a changed file of a known batch
 */
export async function findBatch(
  file: BatchFile,
  rows: FileRow[],
  ledger: Ledger,
): Promise<Batch | undefined> {
  const { is, facts } = await batchToSend(file, rows, ledger);
  if (is.kind === "same") return is.batch;
  if (is.kind === "new") return undefined;
  throw facts.paid
    ? paidRows(file.name, facts.paid, rows.length)
    : await changedFile(is.batch, file, facts.differences ?? [], ledger);
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

/** The failure of a file that is a changed one since another process planned this batch. */
async function changedSince(
  batch: Batch,
  file: Pick<BatchFile, "name" | "columns">,
  rows: FileRow[],
  ledger: Ledger,
): Promise<Failure> {
  return changedFile(batch, file, await differencesFrom(batch, file, rows, ledger), ledger);
}

/** @param differences how the file differs from the unfinished batch of its name */
async function changedFile(
  batch: Batch,
  { name, columns }: Pick<BatchFile, "name" | "columns">,
  differences: string[],
  ledger: Ledger,
): Promise<Failure> {
  const hasReferences = hasReferenceColumn(columns) || hasReferenceColumn(batch.columns);
  const { id, createdAt } = batch;
  const own = batch.name === name ? "" : ` (${batch.name})`;
  const payingAll = hasReferences
    ? ""
    : " It pays all rows again, because the file has no ref column.";
  const { sums } = await readStatus(batch, ledger);
  const isOpen = openOf(sums).count > 0;
  const hasFailed = sums.refused.count + sums.cancelled.count > 0;
  return new Failure(
    "batch.other-rows",
    `${name} differs from the file of batch ${id}${own}, created on ${formatTime(createdAt)}${isOpen ? " and not finished" : ""}.`,
    {
      problems: firstOf(differences),
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

/** Why limits do not let the rows of a file be planned that were not sent before; undefined if they do. */
export async function deniedByLimits(
  { rows, findings, ledger: { sentBeforeLines, reported } }: CheckedFile,
  { limits }: Pick<Ledger, "limits">,
): Promise<Failure | undefined> {
  const sent = new Set(sentBeforeLines);
  const open = rows.flatMap((row) =>
    isComplete(row) && !sent.has(row.line)
      ? [{ line: row.line, recipient: row.recipient, paisa: row.amountPaisa }]
      : [],
  );
  const repeating = [...linesOf(acceptedLines(findings)), ...reported];
  const denial = await limits.judge(open, repeating);
  return denial && deniedFailure(denial);
}

/** Claims a planned batch for this process (P4). @throws Failure `locked`, or `refused` if it was cancelled */
export async function claimPlanned(
  planned: Batch,
  purpose: "send" | "cancel",
  ledger: Ledger,
): Promise<Batch> {
  return ownBatch(await ledger.batches.claimPlanned(planned, purpose));
}

function ownBatch(claim: PlannedClaim): Batch {
  if (claim.kind === "held") throw lockedError(claim.batch.id, claim.by, "Batch");
  if (claim.kind === "cancelled") throw cancelledBatch(claim.batch);
  if (claim.kind === "denied") throw deniedFailure(claim.denial);
  return claim.batch;
}

/** A cancelled batch sends nothing more. */
export function cancelledBatch({ id, cancelledAt }: Batch): Failure {
  const message = `Batch ${id} was cancelled on ${formatTime(cancelledAt ?? "")}.`;
  const hint = `To see which rows were accepted, run 'lenden payout batch status ${id}'. A new batch (--name <name>) pays all rows of its file: first remove those that were accepted.`;
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
  { ledger, sealer }: Ordering,
): Promise<HeldPlan> {
  const { total } = totalsOf(checked.rows);
  const open = difference(total, checked.ledger.sentBefore);
  choices.expect(total, open);
  const claim = await ledger.batches.claim(file, whichBatch);
  if (claim.kind === "changed-file")
    throw await changedSince(claim.batch, file, checked.rows, ledger);
  const batch = ownBatch(claim);
  // Another process created it while this one read the file.
  if (batch.plan) {
    await ledger.batches.release(batch);
    const compare = (plan: ReadPlan) => assertSameRows(plan, file, checked.rows, ledger);
    return resumeBatch(batch, compare, choices, { ledger, sealer });
  }
  return orRelease(batch, ledger, async () => {
    const duplicates = checked.findings.filter(isAcceptable);
    const denied = await deniedByLimits(checked, ledger);
    if (denied) throw denied;
    const isConfirmed = open.count > 0;
    if (isConfirmed) await choices.confirm({ batch, total, open, duplicates });
    return { ...(await planBatch(batch, checked, { ledger, sealer })), isConfirmed };
  });
}

/** Makes a file the plan of a batch. Rows whose duplicates were shown are stored as accepted. */
export async function planBatch(
  batch: Batch,
  checked: CheckedFile,
  { ledger, sealer }: Ordering,
): Promise<ReadPlan> {
  const lines = acceptedLines(checked.findings);
  const rows = () => plannedRows(checked.rows, lines);
  for (let { upTo: checkedUpTo } = checked.ledger; ; ) {
    const planning = { rows, sealer, checkedUpTo, which: whichBatch };
    const answer = await ledger.batches.plan(batch, planning);
    if (answer.kind === "planned") return answer.plan;
    if (answer.kind === "denied") throw deniedFailure(answer.denial);
    if (answer.kind === "repeats") throw repeatsFailure([...lines]);
    if (answer.kind === "changed-file")
      throw await changedSince(answer.batch, batch, checked.rows, ledger);
    const now = await findInLedger(checked.rows, ledger, checked);
    if (hasMore(now, checked.ledger))
      throw new Failure(
        "batch.duplicates",
        "While lenden checked the file, payouts of the same amounts were sent to the same recipients.",
        {
          problems: firstOf(now.findings.map(placedFinding)),
          hint: `To see all repeats, run the same command again. ${await adviceOnRepeats(ledger)}`,
        },
      );
    checkedUpTo = now.upTo;
  }
}

function* plannedRows(rows: FileRow[], accepted: Set<number>): Generator<PlannedRow> {
  for (const row of rows) {
    if (!isComplete(row)) throw new Error("a row that cannot be read was planned");
    yield { ...row, isAccepted: accepted.has(row.line) };
  }
}

function linesOf(lines: Set<number>): RepeatingRow[] {
  return [...lines].map((line) => ({ line }));
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
 * Claims a planned batch for this process, after a confirmation.
 *
 * @param compare compares the plan with the file that is sent; without a file only seals show who ordered the plan
 * @throws Failure `locked` or `refused` as `claimPlanned` does; as `compare`, or `access` if there is no file and a
 * seal is not valid; `usage` if the method differs or other payouts repeat its rows; `internal` if the plan was modified
 */
export async function resumeBatch(
  planned: Batch,
  compare: Comparison | undefined,
  { method, allowDuplicates, expect, confirm, notice }: Choices,
  { ledger, sealer }: Ordering,
): Promise<HeldPlan> {
  if (method !== undefined && method.toLowerCase() !== planned.method?.toLowerCase()) {
    const used = planned.method ?? "a method in every row";
    const problem = `--method: batch ${planned.id} was created with ${used}.`;
    throw usage([problem], "Run the same command without --method.");
  }
  const claimed = await claimPlanned(planned, "send", ledger);
  return orRelease(claimed, ledger, async () => {
    const read = await ledger.batches.readPlan(claimed, sealer);
    const { batch } = read;
    // A row that an edit made accepted would not be sent, and the batch would look finished.
    const { sums, total } = await recordedStatus(batch, ledger);
    const open = openOf(sums);
    if (compare) await compare(read, open.count > 0);
    else if (!read.isSealed) throw notSealed(batch);
    // Who accepted duplicates is not known without a seal.
    const plan = read.isSealed ? read : { ...read, accepted: new Set<number>() };
    expect(total, open);
    const shown = await checkOpenRows(plan, ledger);
    const duplicates = shown.findings;
    const rejected = duplicates.filter((one) => !(allowDuplicates && isAcceptable(one)));
    if (rejected.length > 0) throw await repeatedSince(batch, rejected, ledger);
    if (open.count === 0) return { ...plan, isConfirmed: false };
    const accepted = acceptedLines(duplicates);
    const denial = await ledger.limits.judge([], [...linesOf(accepted), ...shown.reported]);
    const isLasting = accepted.size > 0;
    if (denial?.kind === "repeating-rows")
      throw repeatsFailure(denial.lines, { ...denial, batch: batch.id, isLasting });
    if (denial) throw deniedFailure(denial);
    if (!read.isSealed) notice(sealedAgainText(batch), "batch.sealed-again");
    const totals = compare ? undefined : await totalsOfPlan(plan, ledger);
    await confirm({ batch, total, open, duplicates, totals });
    // The confirmation took a while.
    const now = await checkOpenRows(plan, ledger);
    if (hasMore(now, shown)) throw await repeatedSince(batch, now.findings, ledger);
    return { ...(await acceptRows(plan, shown, { ledger, sealer })), isConfirmed: true };
  });
}

function sealedAgainText(batch: Batch): string {
  return `Batch ${batch.id}, ${createdText(batch)}, is not sealed with this payout secret. Its rows are those of the file, and are sealed again. Duplicates that were accepted before have to be accepted again.`;
}

/** P28: nothing shows that a holder of the payout secret ordered the rows of a batch. */
function notSealed(batch: Batch): Failure {
  const { id, name } = batch;
  const total = sumText(totalOf(batch));
  return new Failure(
    "payout.not-sealed",
    `Batch ${id} (${name}; ${total}), ${createdText(batch)}, has no valid seal of this payout secret.`,
    {
      hint: `To send it, ${howToResume(batch)}: then its rows are compared with the file. To see its rows, run 'lenden payout batch export ${id}'.`,
      operation: id,
    },
  );
}

async function totalsOfPlan(plan: ReadPlan, { batches }: Ledger): Promise<Totals> {
  const totals = createTotals();
  for await (const row of batches.rowsAsRead(plan, "all")) totals.add(row);
  return totals.value();
}

async function repeatedSince({ id }: Batch, findings: Finding[], ledger: Ledger): Promise<Failure> {
  const message = `Unsent rows of batch ${id} repeat payouts that were sent or will be sent.`;
  return new Failure("batch.duplicates", message, {
    problems: firstOf(findings.map(placedFinding)),
    hint: findings.every(isAcceptable)
      ? await adviceOnRepeats(ledger)
      : `Resolve these payouts first, or cancel the unsent rows with 'lenden payout batch cancel ${id}'.`,
  });
}

/** Ends the lock of a batch that is not sent, so that another process can claim it. */
async function orRelease<Done>(
  batch: Batch,
  ledger: Ledger,
  work: () => Promise<Done>,
): Promise<Done> {
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
export async function checkOpenRows(plan: ReadPlan, ledger: Ledger): Promise<LedgerFindings> {
  const { number, createdAt } = plan.batch;
  const since = duplicatesSince(Date.parse(createdAt));
  const planned = { batch: number, since: createdAt };
  const open = ledger.batches.rowsAsRead(plan, "open");
  const found = await findInLedger(open, ledger, { since, planned });
  if (!plan.isSealed) found.findings.push(...(await repeatsInPlan(plan, ledger)));
  return found;
}

/** Open rows that repeat another row of their plan. A valid seal shows that they were accepted. */
async function repeatsInPlan(plan: ReadPlan, { batches }: Ledger): Promise<Finding[]> {
  const all: PlannedRow[] = [];
  for await (const row of batches.rowsAsRead(plan, "all")) all.push(row);
  const open = new Set<number>();
  for await (const { line } of batches.rowsAsRead(plan, "open")) open.add(line);
  return findingsAmong(all).filter(
    (one) => "firstLine" in one && (open.has(one.line) || open.has(one.firstLine)),
  );
}

/** Seals a plan whose duplicates were accepted, or that has no valid seal. */
export async function acceptRows(
  plan: ReadPlan,
  { findings }: LedgerFindings,
  { ledger, sealer }: Ordering,
): Promise<ReadPlan> {
  const lines = acceptedLines(findings);
  // What another login planned is sealed again whenever it is continued: then limits judge every row.
  const isOwn = plan.batch.login === ledger.login;
  if (isOwn && plan.isSealed && lines.size === 0) return plan;
  const answer = await ledger.batches.seal(plan, sealer, lines);
  if (answer.kind === "denied") throw deniedFailure(answer.denial);
  if (answer.kind === "repeats")
    throw repeatsFailure([...lines], { batch: plan.batch.id, isLasting: true });
  if (answer.kind === "planned") return answer.plan;
  throw new Error("a plan that is sealed again is compared with no file");
}
