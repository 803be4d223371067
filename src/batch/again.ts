import { createHash } from "node:crypto";
import type { Batch, RowResult } from "../ledger/batches/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { countRow, type Standing, type Sum, standingOf } from "./standing.ts";

const longestReference = 64;

/** Rows that were refused or cancelled, and went on since under the references that `--only failed` gives. */
export function sentAgain(batch: Batch, ledger: Ledger): Sum {
  const sum: Sum = { count: 0, sumPaisa: 0n };
  const referenceAgain = openReferencesAgain(batch, ledger);
  for (const row of ledger.batches().results(batch)) {
    const standing = standingOf(row.state, row.status);
    if (isUsed(standing) && referenceAgain(row, standing) === undefined) countRow(sum, row);
  }
  return sum;
}

/** Its reference came to an end without a payout that stands. */
export function isUsed(standing: Standing): boolean {
  return standing === "refused" || standing === "cancelled";
}

/**
 * With which reference a row can be sent again: a used one gives way to a new one, any other stays (I6).
 * Undefined for what is paid, also by its new reference, for what went on as another row of the same file,
 * and for a conflict: what that is about, a person has to find out first.
 */
export function openReferencesAgain(batch: Batch, ledger: Ledger) {
  const inFile = new Set(ledger.batches().newReferences(batch));
  return (row: RowResult, standing: Standing): string | undefined => {
    if (standing === "uncertain" || standing === "unsent") return row.reference;
    if (!isUsed(standing)) return undefined;
    for (let next = newReference(row.reference); ; next = newReference(next)) {
      if (inFile.has(next)) return undefined;
      const payout = ledger.find(next);
      if (payout?.reference !== next) return next;
      const { state, status, code } = payout;
      // What was refused for want of access may still be sent by its reference, as what never left.
      if (state === "NOT_SENT" || (state === "REFUSED" && code === "access")) return next;
      if (!isUsed(standingOf(state, status))) return undefined;
    }
  };
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
