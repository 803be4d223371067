import { newReference, replacedReference } from "../domain/new-reference.ts";
import { isFree, isUsedUp } from "../domain/state.ts";
import type { Batch, RowResult } from "../ledger/batch.ts";
import { isSamePayout, payoutOf } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { countRow, rowStatusOf, type Sum } from "./status.ts";

/** How a row can be sent again. */
export type RetryPlan =
  /** By this reference: its own, or a new one that replaces a used one. */
  | { kind: "open"; reference: string }
  /** It has a new reference already: of this payout, or of another row of the file. */
  | { kind: "retried"; reference: string; payout: Operation | undefined }
  /** It was accepted, or it is in conflict. */
  | { kind: "closed" };

/** Rows that were rejected or cancelled, and have a new reference. */
export interface Retries {
  /** Accepted by their new reference, as far as the ledger knows. */
  accepted: Sum;
  /** The logins other than that of this run that recorded these: one of them may have planted a payout. */
  otherLogins: Set<string>;
  /** The login of this run. */
  own: string;
  /** The others; the first of them by its new reference. */
  others: { count: number; first: string };
}

export function noRetries({ login: own }: Pick<Ledger, "login">): Retries {
  const accepted = { count: 0, sumPaisa: 0n };
  return { accepted, otherLogins: new Set(), own, others: { count: 0, first: "" } };
}

export function countRetry(retries: Retries, plan: RetryPlan): void {
  const { accepted, otherLogins, own, others } = retries;
  if (plan.kind !== "retried") return;
  const { payout, reference } = plan;
  if (payout && ["processing", "completed"].includes(rowStatusOf(payout))) {
    countRow(accepted, { amountPaisa: payout.amountPaisa ?? 0n });
    if (payout.login !== own) otherLogins.add(payout.login);
  } else {
    others.first ||= reference;
    others.count += 1;
  }
}

/**
 * The batch that a file repairs: all of its references are those by which rows of that batch can be sent again, as
 * `export --only failed` gives them. Undefined for any other file.
 *
 * @throws Failure `batch.plan-modified` if the rows of the batch are not those that were planned
 */
export async function repairedBatch(
  rows: { reference: string | null }[],
  ledger: Ledger,
): Promise<Batch | undefined> {
  const left = new Set(rows.map(({ reference }) => reference));
  const [first] = left;
  if (first === undefined || first === null || left.has(null)) return undefined;
  const batch = await batchOfReference(replacedReference(first) ?? first, ledger);
  if (!batch) return undefined;
  const planOf = await createRetryPlanner(batch, ledger);
  const read = await ledger.batches.readPlan(batch, undefined);
  for await (const row of ledger.batches.recordedRows(read, "all")) {
    const plan = await planOf(row);
    if (plan.kind === "open") left.delete(plan.reference);
    if (left.size === 0) return batch;
  }
  return undefined;
}

async function batchOfReference(reference: string, ledger: Ledger): Promise<Batch | undefined> {
  const found = await ledger.find(reference);
  const { plans } = await ledger.references([reference], { withPlans: true });
  const number = found?.reference === reference ? found.batch : undefined;
  if (number !== undefined && number !== null) return batchOfNumber(number, ledger);
  const id = plans.get(reference)?.[0]?.batch;
  if (id === undefined) return undefined;
  return (await ledger.batches.known({ id })).batches.find((batch) => batch.id === id);
}

async function batchOfNumber(number: bigint, { batches }: Ledger): Promise<Batch | undefined> {
  return (await batches.list(1, { below: number + 1n })).find((batch) => batch.number === number);
}

/** The IDs of the batches by which rows of a batch were sent again. */
export async function repairsOf(batch: Batch, ledger: Ledger): Promise<string[]> {
  const numbers = new Set<bigint>();
  for await (const plan of plansOfUsed(batch, ledger))
    if (plan.kind === "retried" && plan.payout?.batch) numbers.add(plan.payout.batch);
  numbers.delete(batch.number);
  const found = await Promise.all([...numbers].map((number) => batchOfNumber(number, ledger)));
  return found.flatMap((one) => one?.id ?? []);
}

/** Counts the rows of a batch that were sent again by the references that `--only failed` gives. */
export async function countRetries(batch: Batch, ledger: Ledger): Promise<Retries> {
  const retries = noRetries(ledger);
  for await (const plan of plansOfUsed(batch, ledger)) countRetry(retries, plan);
  return retries;
}

/** The payouts of a batch's rows by new references that are Processing, as far as the ledger knows. */
export async function* processingRetries(batch: Batch, ledger: Ledger): AsyncIterable<Operation> {
  for await (const plan of plansOfUsed(batch, ledger))
    if (plan.kind === "retried" && plan.payout && rowStatusOf(plan.payout) === "processing")
      yield plan.payout;
}

async function* plansOfUsed(batch: Batch, ledger: Ledger): AsyncIterable<RetryPlan> {
  const planOf = await createRetryPlanner(batch, ledger);
  for await (const row of ledger.batches.rows(batch, "used")) yield planOf(row);
}

/**
 * Plans how each row of a batch can be sent again: a used reference is replaced by a new one, any other
 * stays (I6). A conflict has to be resolved by a person first.
 */
export async function createRetryPlanner(
  batch: Batch,
  ledger: Ledger,
): Promise<(row: RowResult) => Promise<RetryPlan>> {
  const inFile = new Set(await ledger.batches.newReferences(batch));
  return async (row) => {
    if (["uncertain", "unsent"].includes(rowStatusOf(row)))
      return { kind: "open", reference: row.reference };
    if (!isUsedUp(row)) return { kind: "closed" };
    const { reference, payout } = await nextReference(row.reference, ledger, inFile);
    if (inFile.has(reference)) return { kind: "retried", reference, payout: undefined };
    const isOpen = !payout || (isFree(payout) && isSamePayout(payoutOf(payout), row));
    return isOpen ? { kind: "open", reference } : { kind: "retried", reference, payout };
  };
}

/**
 * The reference that replaces a used one, and whether a payout was sent by it; undefined if the reference is
 * not used up.
 */
export async function replacementOf(used: string, ledger: Ledger) {
  const own = await ledger.find(used);
  if (own?.reference !== used || !isUsedUp(own)) return undefined;
  await ledger.assertRecorded([own]);
  const { reference, payout } = await nextReference(used, ledger);
  return { reference, isSent: payout !== undefined && !isFree(payout) };
}

/** So many used references are followed: someone may have planted any number. */
const mostFollowed = 200;

/**
 * Follows a used reference to the first new one that is not used up itself.
 *
 * @param stops references at which it ends in any case
 */
async function nextReference(used: string, ledger: Ledger, stops = new Set<string>()) {
  let reference = newReference(used);
  for (let followed = 1; ; followed += 1) {
    const found = await ledger.find(reference);
    const payout = found?.reference === reference ? found : undefined;
    if (payout) await ledger.assertRecorded([payout]);
    const isLast = stops.has(reference) || followed === mostFollowed;
    if (!payout || !isUsedUp(payout) || isLast) return { reference, payout };
    reference = newReference(reference);
  }
}
