import { Failure, usage } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { ok } from "../domain/result.ts";
import type { Batch, BatchClaim, BatchFile, PlannedRow } from "../ledger/batch.ts";
import { duplicatesSince } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { lockedError } from "../operations/record-outcome.ts";
import {
  askLedger,
  type CheckedFile,
  hasMore,
  type LedgerFindings,
  readRows,
  type Source,
} from "./check.ts";
import { type Finding, isAcceptable } from "./findings.ts";
import { hasReferenceColumn } from "./header.ts";
import { type Difference, differencesBetween, identify, isComplete } from "./identity.ts";
import { type FileRow, type RowRules, totalsOf } from "./rows.ts";

/** An unfinished batch with other rows has the name of a file. */
export interface OtherRows {
  kind: "other-rows";
  batch: Batch;
  differences: Difference[];
  /** True if rows are known by their references: the file or the plan has a column of them. */
  byReference: boolean;
}

/** What the ledger knows of a file that was read completely. */
export type KnownFile = { kind: "new" } | { kind: "same"; batch: Batch } | OtherRows;

export type PlanAnswer =
  | { kind: "planned"; batch: Batch }
  | OtherRows
  /** Other payouts or plans repeat rows, and the user was not shown that. */
  | { kind: "repeated"; found: LedgerFindings };

/**
 * Finds the batch of a file: the one with the same identity, or an unfinished one of its name with the same
 * payouts. Other rows under the name of an unfinished batch may be the same payouts, corrected.
 */
export async function findBatch(
  { name, identity, columns }: Pick<BatchFile, "name" | "identity" | "columns">,
  rows: FileRow[],
  ledger: Ledger,
): Promise<KnownFile> {
  const same = await ledger.batches.withIdentity(identity);
  if (same?.plan) return { kind: "same", batch: same };
  const before = await ledger.batches.unfinishedNamed(name);
  if (!before) return { kind: "new" };
  const other = await otherRows(before, { columns, rows }, ledger);
  return other.differences.length === 0 ? { kind: "same", batch: before } : other;
}

async function otherRows(
  batch: Batch,
  { columns, rows }: { columns: string[]; rows: FileRow[] },
  ledger: Ledger,
): Promise<OtherRows> {
  const byReference = hasReferenceColumn(columns) || hasReferenceColumn(batch.columns);
  const planned = ledger.batches.rows(batch, "all");
  const differences = await differencesBetween(rows.filter(isComplete), planned, byReference);
  return { kind: "other-rows", batch, differences, byReference };
}

/**
 * Claims the batch of a file for this process. The lock dies with the process (P4).
 *
 * @throws Failure `locked` if another process works on it, `refused` if it was cancelled
 */
export async function claimBatch(
  file: BatchFile,
  rows: FileRow[],
  ledger: Ledger,
): Promise<{ kind: "ours"; batch: Batch } | OtherRows> {
  const claim = await ledger.batches.claim(file);
  if (claim.kind === "other-rows") return otherRows(claim.batch, { ...file, rows }, ledger);
  return { kind: "ours", batch: ownBatch(claim) };
}

/** Claims a batch that was planned before; @throws Failure as `claimBatch` does */
export async function claimPlanned(planned: Batch, ledger: Ledger): Promise<Batch> {
  return ownBatch(await ledger.batches.claimPlanned(planned));
}

function ownBatch(claim: BatchClaim): Batch {
  if (claim.kind === "held") throw lockedError(`Batch ${claim.batch.id}`, claim.by);
  if (claim.kind === "cancelled") throw cancelledBatch(claim.batch);
  return claim.batch;
}

/** A cancelled batch sends nothing more. */
export function cancelledBatch({ id, cancelledAt }: Batch): Failure {
  const message = `Batch ${id} was cancelled on ${formatTime(cancelledAt ?? "")}.`;
  const hint = `To send the same rows as a new batch, add --name. To see which rows were accepted, run 'lenden payout batch status ${id}'.`;
  return new Failure("batch.cancelled", message, { hint, operation: id });
}

/**
 * Makes a file that was checked the plan of a batch. Rows whose duplicates were shown are stored as
 * accepted.
 */
export async function planBatch(
  batch: Batch,
  file: CheckedFile,
  ledger: Ledger,
): Promise<PlanAnswer> {
  const lines = acceptedLines(file.findings);
  for (let found = file.ledger; ; ) {
    const rows = plannedRows(file.rows, lines);
    const answer = await ledger.batches.plan(batch, rows, found.upTo);
    if (answer.kind === "planned") return answer;
    if (answer.kind === "other-rows") return otherRows(answer.batch, file, ledger);
    found = await askLedger(file.rows, ledger, file);
    if (hasMore(found, file.ledger)) return { kind: "repeated", found };
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
 * Claims a batch that was planned before; from then on only the plan counts.
 *
 * @param method of this run, which must be the one of the plan
 * @throws Failure `locked`, `refused` as `claimBatch` does; `usage` if the method differs; `internal` if
 * the plan was modified
 */
export async function resumeBatch(
  planned: Batch,
  method: string | undefined,
  ledger: Ledger,
): Promise<Batch> {
  const isOther = method !== undefined && method.toLowerCase() !== planned.method?.toLowerCase();
  if (isOther) {
    const used = planned.method ?? "a method in every row";
    throw usage(
      [`--method: batch ${planned.id} was created with ${used}.`],
      "Run the same command without --method.",
    );
  }
  const batch = await claimPlanned(planned, ledger);
  if (await ledger.batches.isUnaltered(batch)) return batch;
  await ledger.batches.release(batch);
  throw new Failure("batch.plan-modified", `The plan of batch ${planned.id} was modified.`, {
    hint: "To see what was modified, run 'lenden ledger check'.",
  });
}

/**
 * What others did about the open rows of a plan since a day before it was made. What repeated a row when its
 * duplicates were accepted, and was accepted by the API before the plan, does not count again.
 */
export async function checkOpenRows(batch: Batch, ledger: Ledger): Promise<LedgerFindings> {
  const since = duplicatesSince(Date.parse(batch.createdAt));
  const planned = { batch: batch.number, since: batch.createdAt };
  const found = await askLedger(ledger.batches.rows(batch, "open"), ledger, { since, planned });
  const isElsewhere = (finding: Finding) =>
    isAcceptable(finding) || finding.kind === "used-in-other-account";
  return { ...found, findings: found.findings.filter(isElsewhere) };
}

/** Stores that the duplicates of a plan's open rows were accepted. */
export async function acceptRows(
  batch: Batch,
  found: LedgerFindings,
  ledger: Ledger,
): Promise<Batch> {
  const lines = acceptedLines(found.findings);
  return lines.size === 0 ? batch : await ledger.batches.acceptLines(batch, [...lines]);
}

/** Older batches are found by their ID alone. */
const mostBatches = 1_000;
/** Reading writes nothing, so Ctrl-C may end it at once. */
const neverStops = { isStopping: () => false, isOutOfTime: () => false };

/** Methods are read as typed; an empty text means the batch's method. */
const rules: RowRules = {
  numberFormat: "local",
  method: "",
  methodOf: ok<string>,
  holdsSecret: () => false,
};

/**
 * The newest batch with the rows of a file, whatever the file's name, line ends and order. Needs no API: the
 * methods have the IDs that the batch was planned with.
 *
 * @returns undefined if there is none, or if some row cannot be read
 */
export async function batchOfRows(source: Source, ledger: Ledger): Promise<Batch | undefined> {
  const read = await readRows(source, rules, neverStops);
  if (read.problems.length > 0) return undefined;
  const hasReferences = read.header?.fields.includes("ref") === true;
  const { total } = totalsOf(read.rows);
  for (const batch of await ledger.batches.list(mostBatches)) {
    const { plan, name, fileName, identity } = batch;
    if (plan?.rowCount !== total.count || plan.totalPaisa !== total.sumPaisa) continue;
    const methods = new Map<string, string>();
    for await (const { method, methodId } of ledger.batches.rows(batch, "all"))
      methods.set(method, methodId);
    const rows = read.rows.map((row) => ({
      ...row,
      methodId: methods.get(row.method || (batch.method ?? "")) ?? null,
    }));
    const ownName = name === fileName ? undefined : name;
    if (identify(rows, hasReferences, ownName) === identity) return batch;
  }
  return undefined;
}
