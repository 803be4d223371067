import { formatTime } from "../../contract/local-time.ts";
import { Failure } from "../../failure.ts";
import type { PlannedRow } from "../../ledger/decide.ts";
import type { Operation } from "../../ledger/operation.ts";
import { isUnresolved, isUnsettled } from "../../state.ts";

/** What makes the earlier payout worth a second look: the cause of an error, or a warning. */
export function describeEarlier({ reference, id, state, createdAt }: Operation): string {
  const name = reference ?? id;
  const sent = `the same amount to this recipient was sent as ${name} on ${formatTime(createdAt)}`;
  if (state === "CONFIRMED") return `${sent} and accepted`;
  return state === "CONFLICT" ? `${sent} and is in conflict` : `${sent}, outcome unknown`;
}

/** A new reference is a decision, so the payout is sent; the earlier one is worth a warning all the same. */
export function possibleDuplicate(earlier: Operation): [message: string, reason: string] {
  return [`Possible duplicate: ${describeEarlier(earlier)}.`, "payout.possible-duplicate"];
}

/** @param account the name of the account of this run */
export function duplicatePayout(earlier: Operation, account: string): Failure {
  const { reference, id } = earlier;
  const name = reference ?? id;
  const isOwn = earlier.account === account;
  const inspect = isUnsettled(earlier)
    ? `To find out, run ${isOwn ? `the same command with --ref ${name}` : `'lenden ledger resolve ${id}'`}.`
    : `To inspect it, run 'lenden ledger show ${isOwn ? name : id}'.`;
  return new Failure(
    "refused",
    `Duplicate payout: ${describeEarlier(earlier)}. Nothing was sent.`,
    {
      // A payout whose outcome is open may have been paid: no hint leads to a second one.
      hint: isUnresolved(earlier) ? inspect : `${inspect} To send a second payout, add --again.`,
      operation: name,
    },
  );
}

/** @param own the reference of the payout that is to be sent */
export function duplicateOfRow({ batch, reference }: PlannedRow, own: string): Failure {
  if (own === reference) return referenceOfRow(batch, reference);
  return new Failure(
    "refused",
    `Duplicate payout: batch ${batch} is still to send the same amount to this recipient (${reference}). Nothing was sent.`,
    {
      hint: `To inspect it, run 'lenden payout batch status ${batch}'. To send a second payout, add --again.`,
      operation: reference,
    },
  );
}

/** The batch would find the payout, or another one under its reference. */
function referenceOfRow(batch: string, reference: string): Failure {
  return new Failure(
    "refused",
    `Reference ${reference} belongs to batch ${batch}, which is still to send it. Nothing was sent.`,
    {
      hint: `Use another --ref. To inspect the batch, run 'lenden payout batch status ${batch}'; to give up its rows that were not sent, run 'lenden payout batch cancel ${batch}'.`,
      operation: reference,
    },
  );
}
