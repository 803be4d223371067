import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Failure, usage } from "../domain/failure.ts";
import { placeIn } from "../domain/identifier.ts";
import { payeeOf } from "../domain/mobile.ts";
import { ok } from "../domain/result.ts";
import { isFree, isUnsettled, isUsedUp } from "../domain/state.ts";
import type {
  Batch,
  BatchFile,
  FileOfBatch,
  FoundPlan,
  KnownBatches,
  ReadPlan,
} from "../ledger/batch.ts";
import { assertOwnId } from "../ledger/batch-results.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { differencesFrom } from "./differences.ts";
import { fieldsOf, hasReferenceColumn } from "./header.ts";
import { identify, mayPayAgain, type RowFacts, type SoughtFile, whichBatch } from "./identity.ts";
import { openPayoutFile } from "./payout-file.ts";
import { readRows, type Source } from "./read-rows.ts";
import { type FileRow, type RowRules, totalsOf } from "./rows.ts";
import { recordedStatus, sumOf } from "./status.ts";

/*
 * Reads from the ledger what decides which batch a file is. `whichBatch` decides.
 */

/**
 * The batch that is a file, has this ID or name, or is among the newest.
 *
 * @param byLines whether the command line names rows by their lines in the file
 * @throws Failure `not-found` if there is none; `conflict` for a file with other rows than the batch of its
 * name; `usage` by lines for one that is not the planned file byte for byte
 */
export async function batchNamed(name: string, ledger: Ledger, byLines = false): Promise<Batch> {
  const place = placeIn(name);
  if (place !== undefined)
    return assertOwnId((await ledger.batches.list(place))[place - 1] ?? notFound(name));
  if (existsSync(name)) return (await batchOfPath(name, ledger, byLines)) ?? notFound(name);
  return (await batchBesideFiles(name, ledger)) ?? notFound(name);
}

/** The batch of an ID or a name, or among the newest, unless this is the path of a file; undefined if there is none. */
export async function batchBesideFiles(name: string, ledger: Ledger): Promise<Batch | undefined> {
  const place = placeIn(name);
  if (place !== undefined) return batchNamed(name, ledger);
  if (existsSync(name)) return undefined;
  const id = name.toUpperCase();
  const { batches, named } = await ledger.batches.known({ id, name });
  return batches.find((one) => one.id === id) ?? named;
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
  const found = await openPayoutFile(path);
  const choices = { ignored: [], mapped: [], isLenient: true };
  const file = { hash: found.hash, fileName: basename(path) };
  const is = await batchToShow(file, { ...found, choices }, ledger);
  if (is.kind === "new") return undefined;
  const { batch } = is;
  if (is.kind === "changed") {
    const message = `${path} has changed since batch ${batch.id} was created.`;
    const hint = `Use the ID of the batch instead of the file: ${batch.id}.`;
    throw new Failure("batch.other-rows", message, { hint, operation: batch.id });
  }
  if (byLines && batch.hash !== found.hash)
    throw usage(
      [`${path} has the rows of batch ${batch.id}, but in a different order.`],
      `Use the batch ID, ${batch.id}, and the line numbers of the file that was sent.`,
    );
  return batch;
}

/** The batch of the bytes of a file that is not read yet. */
export async function batchOfBytes(
  file: SoughtFile,
  { batches }: Ledger,
): Promise<Batch | undefined> {
  const is = whichBatch(file, await batches.known({ hash: file.hash }));
  return is.kind === "same" ? is.batch : undefined;
}

/** Which batch a file is that was read to be sent, and what rows said about that. */
export async function batchToSend(
  file: BatchFile,
  rows: FileRow[],
  ledger: Ledger,
): Promise<{ is: FileOfBatch; facts: RowFacts }> {
  const { identity, name } = file;
  const known = await ledger.batches.known({ identity, name });
  const facts = await rowFacts(file, rows, known, ledger);
  return { is: whichBatch(file, known, facts), facts };
}

async function rowFacts(
  file: BatchFile,
  rows: FileRow[],
  known: KnownBatches,
  ledger: Ledger,
): Promise<RowFacts> {
  const is = whichBatch(file, known);
  if (is.kind === "same") return {};
  if (is.kind === "new") {
    // Only the states of its rows say that it ended.
    if (known.named && !known.unfinished) await assertFinished(known.named, ledger);
    return { paid: await paidBefore(file, rows, ledger) };
  }
  return { differences: await differencesFrom(is.batch, file, rows, ledger) };
}

/** @throws Failure `ledger.modified`, or `operation.locked` if it is not as it was read */
async function assertFinished(named: Batch, ledger: Ledger): Promise<void> {
  const { sums, total } = await recordedStatus(named, ledger);
  const { completed, processing } = sums;
  const isFinished = sumOf(completed, processing).count === total.count;
  if (named.cancelledAt !== null || isFinished) return;
  const message = `Batch ${named.id} changed while it was read.`;
  const hint = "Run the same command again.";
  throw new Failure("operation.locked", message, { hint, operation: named.id });
}

/**
 * Which batch a file is whose batch is shown. Needs no API: the methods have the IDs that the batch was planned with.
 *
 * @param source how the file is read, if it is not the very file of a batch
 */
async function batchToShow(file: SoughtFile, source: Source, ledger: Ledger): Promise<FileOfBatch> {
  const planned = await batchOfBytes(file, ledger);
  if (planned) return { kind: "same", batch: planned };
  const typed = await readTyped(source);
  const { total: size } = totalsOf(typed?.rows ?? []);
  const known = await ledger.batches.known({ name: file.fileName, ...(typed && { size }) });
  return whichBatch(file, known, {
    rowsOf: typed && (await batchWithRows(known.batches, typed, ledger)),
  });
}

/**
 * The rows of a file, with the methods of a plan.
 *
 * @returns undefined if some row cannot be read
 */
export async function rowsAsPlanned(
  { batch, methods }: ReadPlan,
  source: Source,
): Promise<FileRow[] | undefined> {
  const typed = await readTyped(source);
  return typed && withMethods(typed.rows, batch, methods);
}

/** Rows whose methods were read as they are typed, with the IDs that these have in a batch. */
function withMethods(
  rows: FileRow[],
  { method: usual }: Batch,
  methods: ReadonlyMap<string, string>,
): FileRow[] {
  return rows.map((row) => {
    return { ...row, methodId: methods.get(row.method || (usual ?? "")) ?? null };
  });
}

/** A file whose methods were read as they are typed. */
interface TypedFile {
  rows: FileRow[];
  hasReferences: boolean;
}

/** Reading writes nothing, so Ctrl-C may end it at once. */
const neverStops = { isStopping: () => false, isOutOfTime: () => false };
/** An empty text means the batch's method. */
const asTyped: RowRules = {
  numberFormat: "local",
  method: "",
  methodOf: ok<string>,
  // The plan shows whether its recipients may have 12 digits, or any other number.
  isRocket: () => true,
  asIs: true,
  holdsSecret: () => false,
};

/** @returns undefined if some row cannot be read */
async function readTyped(source: Source): Promise<TypedFile | undefined> {
  const { header, rows, problems } = await readRows(source, asTyped, neverStops);
  if (problems.length > 0) return undefined;
  return { rows, hasReferences: header?.fields.includes("ref") === true };
}

/** The first of these batches that has the rows of a file, in any order. */
async function batchWithRows(
  batches: Batch[],
  { rows, hasReferences }: TypedFile,
  ledger: Ledger,
): Promise<Batch | undefined> {
  const { count, sumPaisa } = totalsOf(rows).total;
  for (const batch of batches) {
    const { plan, name, fileName, identity } = batch;
    if (plan?.rowCount !== count || plan.totalPaisa !== sumPaisa) continue;
    const ids = new Map<string, string>();
    for await (const { method, methodId } of ledger.batches.rows(batch, "all"))
      ids.set(method, methodId);
    const planned = withMethods(rows, batch, ids);
    const ownName = name === fileName ? undefined : name;
    if (identify(planned, hasReferences, ownName) === identity) return batch;
  }
  return undefined;
}

/** The newest paid batch whose payouts a file without references would pay again, because it has all of them. */
async function paidBefore(
  file: BatchFile,
  rows: FileRow[],
  ledger: Ledger,
): Promise<FoundPlan | undefined> {
  if (hasReferenceColumn(file.columns)) return undefined;
  const { total } = totalsOf(rows);
  const payoutsFor = countedFor(rows, file.columns);
  for await (const found of ledger.batches.plansWithin(total)) {
    const { batch } = found;
    if (!mayPayAgain(file, total.count, batch)) continue;
    if (await wasPaidBy(found, payoutsFor(batch.columns), ledger))
      return { ...found, batch: assertOwnId(batch) };
  }
  return undefined;
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
  const { batches } = ledger;
  const found = new Map<string, number>();
  let [isPaid, isOpen] = [await batches.isCancelledByOthers(batch), false];
  // A row that was added to the plan would make it look like another one.
  for await (const row of batches.recordedRows(await batches.readPlan(batch, undefined), "all")) {
    const key = keyOf(row);
    const count = (found.get(key) ?? 0) + 1;
    if (count > (counts.get(key) ?? 0)) return false;
    found.set(key, count);
    if (row.state === null || isUnsettled(row) || isFree(row)) isOpen = true;
    else if (!isUsedUp(row)) isPaid = true;
  }
  return isPaid && !isOpen;
}

function withoutExtraSpace(text: string | null): string {
  return (text ?? "").replace(/\s+/g, " ").trim();
}
