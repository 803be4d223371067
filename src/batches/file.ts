import { basename } from "node:path";
import { usage } from "../domain/failure.ts";
import type { NumberFormat } from "../domain/mobile.ts";
import { ok } from "../domain/result.ts";
import { rowsText } from "../domain/text.ts";
import type { Batch, BatchFile, ReadPlan } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { adviceOnRepeats } from "../operations/limits.ts";
import { createMethodLookup, type MethodCache } from "../operations/method.ts";
import { type CheckedFile, checkFile } from "./check.ts";
import { retryAdvice } from "./ending.ts";
import { type Finding, groupOf, isAcceptable, rejectProblems, sumOfRows } from "./findings.ts";
import type { ColumnChoices } from "./header.ts";
import { batchOfBytes, rowsAsPlanned } from "./lookup.ts";
import type { PayoutFile } from "./payout-file.ts";
import { cancelledBatch, checkOpenRows, findBatch } from "./plan.ts";
import type { HiddenRows, Source } from "./read-rows.ts";
import { type FileRow, type Totals, totalsOf } from "./rows.ts";
import { assertSameRows, type Comparison, hasSameRows } from "./same-rows.ts";
import { openOf, readStatus } from "./status.ts";
import { newPeriodText, sentences, sumText } from "./texts.ts";

/** A file of payouts, and how the user says that it is read. */
export interface FileInput {
  file: string;
  /** The name of the batch (default: of the file). */
  name: string | undefined;
  delimiter: string | undefined;
  /** Of a workbook. */
  sheet: string | undefined;
  hidden: HiddenRows | undefined;
  ignoreColumns: string[];
  map: ColumnChoices["mapped"];
  /** The method of rows that name none; `methodId` is sent as given. */
  method: string | undefined;
  methodId: string | undefined;
  /** True if any number of a recipient is accepted. */
  accountNumberAsIs: boolean;
  allowDuplicates: boolean;
}

/** What reading a new file needs of the run. */
export interface Reading {
  numberFormat: NumberFormat;
  /** The method of the profile. */
  usualMethod: string | undefined;
  holdsSecret(text: string): boolean;
  methodCache: MethodCache;
  deps: OperationDeps;
}

function sourceOf(
  { delimiter, sheet, hidden, ignoreColumns: ignored, map: mapped }: FileInput,
  from: PayoutFile,
): Source {
  return { ...from, delimiter, sheet, hidden, choices: { ignored, mapped } };
}

/** A file that is not read yet. */
export function soughtOf({ file, name }: FileInput, { hash }: PayoutFile) {
  const fileName = basename(file);
  return { hash, fileName, name: name ?? fileName };
}

/** A file that was read and checked. */
export interface Examined {
  /** Undefined if some row cannot be read, so that it cannot be compared with a plan. */
  file: BatchFile | undefined;
  read: CheckedFile;
  totals: Totals<FileRow>;
  /** Why the file is not sent. */
  problems: Finding[];
  /** What --allow-duplicates accepts. */
  allowed: Finding[];
}

/**
 * Reads a file and finds everything that is wrong with it. Of the API only the methods are requested.
 *
 * @param planned the batch of its bytes, which keeps the method that it was created with
 */
export async function examineFile(
  input: FileInput,
  from: PayoutFile,
  planned: Batch | undefined,
  ledger: Ledger,
  { numberFormat, usualMethod, holdsSecret, methodCache, deps }: Reading,
): Promise<Examined> {
  const { methodId, allowDuplicates } = input;
  const sought = soughtOf(input, from);
  const ownName = sought.name === sought.fileName ? undefined : sought.name;
  const lookup = createMethodLookup(deps, methodCache);
  const named = input.method === undefined ? undefined : await lookup.idOf(input.method);
  if (named?.ok === false) throw usage([`--method: ${named.problem}`]);
  const method = methodId ?? input.method ?? planned?.method ?? usualMethod;
  const rules = {
    numberFormat,
    holdsSecret,
    method,
    methodOf: (text: string) => (text === methodId ? ok(methodId) : lookup.idOf(text)),
    isRocket: lookup.isRocket,
    asIs: input.accountNumberAsIs,
  };
  const read = await checkFile(sourceOf(input, from), ownName, rules, ledger, deps);
  const { identity, columns, findings } = read;
  const isAllowed = (finding: Finding) => allowDuplicates && isAcceptable(finding);
  const isReadable = findings.every((finding) => groupOf(finding) !== "invalid");
  return {
    file:
      identity !== undefined && isReadable
        ? { ...sought, identity, columns, method: method ?? null }
        : undefined,
    read,
    totals: totalsOf(read.rows),
    problems: findings.filter((finding) => !isAllowed(finding)),
    allowed: findings.filter(isAllowed),
  };
}

/** A file to send. */
export type FileToSend =
  /** `isRead`: not found by its bytes, but by its rows. */
  | { batch: Batch; compare: Comparison; isRead: boolean }
  | { batch?: never; file: BatchFile; examined: Examined };

/**
 * The batch that a file is, or a new one with sound rows.
 *
 * @throws Failure `usage` if the file has problems; `conflict` for a changed file of a known batch
 */
export async function readToSend(
  input: FileInput,
  from: PayoutFile,
  ledger: Ledger,
  openReading: () => Promise<Reading>,
): Promise<FileToSend> {
  const planned = await batchOfBytes(soughtOf(input, from), ledger);
  if (planned) {
    const compare = comparisonOfBytes(input, from, ledger, openReading);
    return { batch: planned, compare, isRead: false };
  }
  const examined = await examineFile(input, from, undefined, ledger, await openReading());
  const { file, read, problems } = examined;
  const found = file && (await findBatch(file, read.rows, ledger));
  if (found) {
    const compare: Comparison = (plan) => assertSameRows(plan, file, read.rows, ledger);
    return { batch: found, compare, isRead: true };
  }
  await rejectProblems(input.file, problems, ledger);
  if (!file) throw new Error("a file without problems cannot be read");
  return { file, examined };
}

/**
 * Compares a file with the plan that was found by its bytes. A plan that is sealed says which method a name means; for
 * any other one the API does.
 */
function comparisonOfBytes(
  input: FileInput,
  from: PayoutFile,
  ledger: Ledger,
  openReading: () => Promise<Reading>,
): Comparison {
  const source = sourceOf(input, from);
  const { fileName } = soughtOf(input, from);
  return async (plan, hasOpenRows) => {
    if (plan.isSealed || !hasOpenRows)
      return assertPlanned(plan, hasOpenRows, { source, fileName }, ledger);
    const examined = await examineFile(input, from, undefined, ledger, await openReading());
    const unreadable = examined.problems.filter((one) => groupOf(one) === "invalid");
    await rejectProblems(input.file, unreadable, ledger);
    const { columns, rows } = examined.read;
    await assertSameRows(plan, { name: fileName, columns }, rows, ledger);
  };
}

/**
 * @throws Failure `usage` if flags read other rows from a file than its plan has; `conflict` if the plan does not have
 * the rows of the file
 */
async function assertPlanned(
  plan: ReadPlan,
  hasOpenRows: boolean,
  { source, fileName }: { source: Source; fileName: string },
  ledger: Ledger,
): Promise<void> {
  const { ignored = [], mapped = [] } = source.choices ?? {};
  const hasFlags =
    [source.delimiter, source.sheet, source.hidden].some((one) => one !== undefined) ||
    ignored.length + mapped.length > 0;
  // Nothing is sent, so the flags of the batch need not be given again.
  if (!hasFlags && !hasOpenRows) return;
  // Without flags, the columns that the plan ignored are ignored.
  const choices = { ignored, mapped, isLenient: !hasFlags };
  const rows = await rowsAsPlanned(plan, { ...source, choices });
  if (!hasFlags) return assertSameRows(plan, { name: fileName }, rows ?? [], ledger);
  if (rows && (await hasSameRows(plan, { name: fileName }, rows, ledger))) return;
  const problem = `With --delimiter, --sheet, --hidden, --ignore-columns or --map, the rows differ from those of batch ${plan.batch.id}, which was created from this file.`;
  throw usage([problem], "To resume that batch, run the same command without these flags.");
}

/**
 * What sending a file would do, because it is a batch already; undefined if it is not.
 *
 * @param planned the batch of its bytes
 * @throws Failure if its batch was cancelled, or as `readToSend`
 */
export async function describeExisting(
  input: FileInput,
  from: PayoutFile,
  { file, read }: Examined,
  planned: Batch | undefined,
  ledger: Ledger,
): Promise<string | undefined> {
  const batch = planned ?? (file && (await findBatch(file, read.rows, ledger)));
  if (!batch) return undefined;
  const source = sourceOf(input, from);
  const { fileName } = soughtOf(input, from);
  return describeBatch(batch, ledger, (plan, hasOpenRows) =>
    planned
      ? assertPlanned(plan, hasOpenRows, { source, fileName }, ledger)
      : assertSameRows(plan, { name: fileName, columns: read.columns }, read.rows, ledger),
  );
}

/**
 * What sending a batch would do. No seal is checked, because that needs the payout secret.
 *
 * @throws Failure if it was cancelled, or as `compare`
 */
export async function describeBatch(
  batch: Batch,
  ledger: Ledger,
  compare?: Comparison,
): Promise<string> {
  if (batch.cancelledAt !== null) throw cancelledBatch(batch);
  // Without a seal, the methods of the plan are taken as they are.
  const plan = { ...(await ledger.batches.readPlan(batch, undefined)), isSealed: true };
  const status = await readStatus(batch, ledger);
  const open = openOf(status.sums);
  await compare?.(plan, open.count > 0);
  const left = open.count === 0 ? "no row is left to send" : `${sumText(open)}, are still open`;
  const { count } = sumOfRows((await checkOpenRows(plan, ledger)).findings);
  return sentences([
    `${compare ? "This file is batch" : "Batch"} ${batch.id}: ${left}.`,
    open.count === 0 ? newPeriodText(status) : "",
    count > 0 ? `Other payouts repeat ${rowsText(count)}. ${await adviceOnRepeats(ledger)}` : "",
    await retryAdvice(status, ledger),
  ]);
}
