import { newReference } from "../domain/new-reference.ts";
import { isFree, isUsedUp } from "../domain/state.ts";
import type { Batch, RowResult } from "../ledger/batch.ts";
import { isSamePayout, payoutOf } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { countRow, type Standing, type Sum, standingOf } from "./status.ts";

/** How a row that was not paid can be sent again. */
export type Onward =
  /** It can be sent, or sent again, by this reference. */
  | { kind: "open"; reference: string }
  /** It was sent again by a new reference: that payout. */
  | { kind: "gone"; payout: Operation; standing: Standing }
  /** The payout that replaces it is a row of the same file. */
  | { kind: "beside"; reference: string }
  /** It is paid, or in conflict. */
  | { kind: "closed" };

/** The rows that were sent again by new references. */
export interface SentAgain {
  /** Sent, and not cancelled, as far as the ledger knows. */
  sent: Sum;
  /** Outcome unknown, in conflict, or not sent yet; the first of them by its reference. */
  others: { count: number; first: string };
  /** In the same file. */
  beside: { count: number; first: string };
}

/** Rows that were rejected or cancelled, and sent again by the references that `--only failed` gives. */
export async function sentAgain(batch: Batch, ledger: Ledger): Promise<SentAgain> {
  const again = noneAgain();
  const onward = await openOnward(batch, ledger);
  for await (const row of ledger.batches.rows(batch, "used")) countAgain(again, await onward(row));
  return again;
}

export function noneAgain(): SentAgain {
  const none = () => ({ count: 0, first: "" });
  return { sent: { count: 0, sumPaisa: 0n }, others: none(), beside: none() };
}

export function countAgain({ sent, others, beside }: SentAgain, onward: Onward): void {
  if (onward.kind === "beside") addTo(beside, onward.reference);
  if (onward.kind !== "gone") return;
  const { payout, standing } = onward;
  if (isSent(standing)) countRow(sent, { amountPaisa: payout.amountPaisa ?? 0n });
  else addTo(others, payout.reference ?? "");
}

function addTo(some: { count: number; first: string }, reference: string): void {
  some.first ||= reference;
  some.count += 1;
}

/**
 * How the rows of a batch can be sent again: a used reference is replaced by a new one, any other stays
 * (I6). A conflict has to be resolved by a person first.
 */
export async function openOnward(
  batch: Batch,
  ledger: Ledger,
): Promise<(row: RowResult) => Promise<Onward>> {
  const inFile = new Set(await ledger.batches.newReferences(batch));
  return async (row): Promise<Onward> => {
    const standing = standingOf(row.state, row.status);
    if (standing === "uncertain" || standing === "unsent")
      return { kind: "open", reference: row.reference };
    if (!isUsedUp(row)) return { kind: "closed" };
    const { next, payout } = await endOfChain(row.reference, ledger, inFile);
    if (inFile.has(next)) return { kind: "beside", reference: next };
    if (!payout || (isFree(payout) && isSamePayout(payoutOf(payout), row)))
      return { kind: "open", reference: next };
    return { kind: "gone", payout, standing: standingAgain(payout) };
  };
}

/** Payouts of a batch's rows by new references that are Processing, as far as the ledger knows. */
export async function* openAgain(batch: Batch, ledger: Ledger): AsyncIterable<Operation> {
  const onward = await openOnward(batch, ledger);
  for await (const row of ledger.batches.rows(batch, "used")) {
    const on = await onward(row);
    if (on.kind === "gone" && on.standing === "processing") yield on.payout;
  }
}

/** The reference that replaces a used one, and its status in the ledger, if it has one. */
export interface After {
  next: string;
  standing: Standing | undefined;
}

/** What replaces a used reference; undefined if the reference is not used up. */
export async function afterUse(reference: string, ledger: Ledger): Promise<After | undefined> {
  const own = await ledger.find(reference);
  if (own?.reference !== reference || !isUsedUp(own)) return undefined;
  const { next, payout } = await endOfChain(reference, ledger);
  return { next, standing: payout && standingAgain(payout) };
}

/**
 * Follows a used reference to the first new one that is not used up itself.
 *
 * @param stops references at which it ends in any case
 */
async function endOfChain(reference: string, ledger: Ledger, stops = new Set<string>()) {
  for (let next = newReference(reference); ; next = newReference(next)) {
    const found = await ledger.find(next);
    const payout = found?.reference === next ? found : undefined;
    if (!payout || !isUsedUp(payout) || stops.has(next)) return { next, payout };
  }
}

/** A free reference is not sent yet, also if the API denied access. */
function standingAgain(payout: Operation): Standing {
  return isFree(payout) ? "unsent" : standingOf(payout.state, payout.status);
}

export function isSent(standing: Standing): boolean {
  return standing === "processing" || standing === "completed";
}
