import { createHash } from "node:crypto";
import type { Batch, RowResult } from "../ledger/batches/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { countRow, type Standing, type Sum, standingOf } from "./standing.ts";

/** How a row can go on that was not paid. */
export type Onward =
  /** It can be sent, or sent again, by this reference. */
  | { kind: "open"; reference: string }
  /** It went on by a new reference, and that is what came of it. */
  | { kind: "gone"; payout: Operation; standing: Standing }
  /** It is paid, or in conflict, or the same file has what took its place. */
  | { kind: "closed" };

/** What came of rows that went on by new references. */
export interface SentAgain {
  /** Sent, and not cancelled. */
  sent: Sum;
  /** Whatever else: in doubt, in conflict, not sent yet. The first of them by its reference. */
  others: { count: number; first: string };
}

const longestReference = 64;

/** Rows that were refused or cancelled, and went on since by the references that `--only failed` gives. */
export function sentAgain(batch: Batch, ledger: Ledger): SentAgain {
  const again = noneAgain();
  const onward = openOnward(batch, ledger);
  for (const row of ledger.batches().results(batch)) countAgain(again, onward(row));
  return again;
}

export function noneAgain(): SentAgain {
  return { sent: { count: 0, sumPaisa: 0n }, others: { count: 0, first: "" } };
}

export function countAgain({ sent, others }: SentAgain, onward: Onward): void {
  if (onward.kind !== "gone") return;
  const { payout, standing } = onward;
  if (standing === "processing" || standing === "completed") {
    countRow(sent, { amountPaisa: payout.amountPaisa ?? 0n });
    return;
  }
  others.first ||= payout.reference ?? "";
  others.count += 1;
}

/**
 * How the rows of a batch go on: a used reference gives way to a new one, any other stays (I6). Of a
 * conflict a person has to find out first what it is about.
 */
export function openOnward(batch: Batch, ledger: Ledger): (row: RowResult) => Onward {
  const inFile = new Set(ledger.batches().newReferences(batch));
  return (row) => {
    const standing = standingOf(row.state, row.status);
    if (standing === "uncertain" || standing === "unsent")
      return { kind: "open", reference: row.reference };
    if (!isUsed(standing)) return { kind: "closed" };
    for (let next = newReference(row.reference); ; next = newReference(next)) {
      if (inFile.has(next)) return { kind: "closed" };
      const payout = ledger.find(next);
      if (payout?.reference !== next) return { kind: "open", reference: next };
      const gone = standingAgain(payout);
      const isFree = gone === "unsent" && payout.fingerprint === row.fingerprint;
      if (isFree) return { kind: "open", reference: next };
      if (!isUsed(gone)) return { kind: "gone", payout, standing: gone };
    }
  };
}

/** The payout by which the row of a used reference went on, if there is one that stands, or may. */
export function wentOnAs(used: string, ledger: Ledger): Operation | undefined {
  for (let next = newReference(used); ; next = newReference(next)) {
    const payout = ledger.find(next);
    if (payout?.reference !== next) return undefined;
    if (!isUsed(standingAgain(payout))) return payout;
  }
}

/** What was refused for want of access may still be sent by its reference, as what never left. */
function standingAgain({ state, status, code }: Operation): Standing {
  return state === "REFUSED" && code === "access" ? "unsent" : standingOf(state, status);
}

/** Its reference came to an end without a payout that stands. */
function isUsed(standing: Standing): boolean {
  return standing === "refused" || standing === "cancelled";
}

/**
 * The reference that takes the place of a used one: the same each time, so that two exports cannot pay
 * twice. `INV-7` → `INV-7-lenden2` → `INV-7-lenden3`. Merchants number as they like (`-2`, `-r2`); this
 * way is lenden's own, so that what goes by it went on from the first, whatever was mended in it.
 */
function newReference(used: string): string {
  const [, stem = used, number = "1"] = /^(.*)-lenden([1-9]\d{0,3})$/.exec(used) ?? [];
  const next = `-lenden${Number(number) + 1}`;
  return stem.length + next.length <= longestReference
    ? stem + next
    : `LD-${shortened(stem)}${next}`;
}

function shortened(stem: string): string {
  return createHash("sha256").update(stem).digest("base64url").slice(0, 32);
}
