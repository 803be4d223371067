import { createHash } from "node:crypto";
import { sameMobile } from "../contract/mobile.ts";
import type { Batch, RowResult } from "../ledger/batches/batch.ts";
import type { Batches } from "../ledger/batches/batches.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
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
 * Undefined for what is paid, also by its new reference, and for a conflict: what that is about, a person
 * has to find out first.
 */
export function openReferencesAgain(batch: Batch, ledger: Ledger) {
  const next = nextReferences(batch, ledger.batches());
  return (row: RowResult, standing: Standing): string | undefined => {
    if (standing === "uncertain" || standing === "unsent") return row.reference;
    if (!isUsed(standing)) return undefined;
    for (let free = next(row.reference); ; free = next(free)) {
      const payout = ledger.find(free);
      // Of what is somebody else's under that reference, `send` tells.
      if (payout?.reference !== free || !isOfRow(payout, row)) return free;
      const { state, status, code } = payout;
      // What was refused for want of access may still be sent by its reference, as what never left.
      if (state === "NOT_SENT" || (state === "REFUSED" && code === "access")) return free;
      if (!isUsed(standingOf(state, status))) return undefined;
    }
  };
}

/** Whether it is for the same person, whose number may have been mended: then name and amount say so. */
function isOfRow({ amountPaisa, asked }: Operation, row: RowResult): boolean {
  const { recipient, name } = row;
  const isNamed = name !== null && name !== "" && asked.recipientName === name;
  return (
    (isNamed && amountPaisa === row.amountPaisa) ||
    sameMobile(recipient, String(asked.recipientNumber)) === "same"
  );
}

/**
 * Gives references to rows whose own are used: each from its own alone, the same each time, so that two
 * exports cannot pay twice. `INV-7` → `INV-7-r2` → `INV-7-r3`, but where the file itself has several
 * of those: the next number would be another row's.
 */
function nextReferences(batch: Batch, batches: Batches): (used: string) => string {
  const stems = batches.numberedReferences(batch).map((one) => numbered(one).stem);
  const shared = new Set(batches.referencesAmong(batch, stems));
  const seen = new Set<string>();
  for (const stem of stems) (seen.has(stem) ? shared : seen).add(stem);
  return (used) => {
    const { stem, number } = numbered(used);
    const next = `${stem}-r${number + 1}`;
    const isFree = !shared.has(stem) && next.length <= longestReference;
    return isFree
      ? next
      : `LD-${createHash("sha256").update(`${used} again`).digest("base64url").slice(0, 32)}`;
  };
}

/** `INV-7` is the first, and `INV-7-r2` the second of its stem. */
function numbered(reference: string): { stem: string; number: number } {
  const [, stem = reference, number = "1"] = /^(.*)-r([1-9]\d{0,3})$/.exec(reference) ?? [];
  return { stem, number: Number(number) };
}
