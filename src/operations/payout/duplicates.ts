import { formatTime } from "../../contract/local-time.ts";
import { isGeneratedReference } from "../../contract/reference.ts";
import { Failure } from "../../failure.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Operation } from "../../ledger/operation.ts";
import { isUnresolved, isUnsettled } from "../../state.ts";
import type { Repeat } from "../refundable.ts";
import type { PayoutOrder } from "./order.ts";

/** An accepted payout of the same amount to the same recipient counts as a duplicate for this long. */
const duplicateWindowMs = 24 * 60 * 60_000;

type Payment = Pick<PayoutOrder, "amountPaisa" | "recipientNumber" | "reference">;

interface Known {
  ledger: Pick<Ledger, "payoutsLike" | "plannedLike" | "batchOfReference" | "isOwn">;
  nowMs: number;
}

/**
 * Finds the earlier payout that this one may repeat: the same amount to the same recipient, whatever the
 * method, unresolved at any age, accepted within 24 hours, or still to be sent by a batch.
 *
 * @returns an accepted one if this payout has a reference of the caller's choice, which is a decision; the
 * caller is warned
 * @throws Failure `refused` if it may be a mistake: without such a reference, or while the outcome of the
 * earlier payout is unknown, but not with `again`; and in any case if the reference belongs to a row that a
 * batch is still to send
 */
export function earlierPayout(
  order: Payment,
  { again }: Repeat,
  { ledger, nowMs }: Known,
): Operation | undefined {
  const { amountPaisa, recipientNumber: recipient, reference } = order;
  const since = new Date(nowMs - duplicateWindowMs).toISOString();
  // The payout is new or was not sent, and so is the row of its reference.
  const batch = ledger.batchOfReference(reference);
  if (batch !== undefined) throw referenceOfRow(batch, reference);
  const found = ledger.payoutsLike({ amountPaisa, recipient, reference }, since);
  const planned = ledger.plannedLike({ amountPaisa, recipient, reference });
  if (planned && !again) throw duplicateOfRow(planned);
  // The same reference with this account is the same payout; with another account it is a second one.
  const others = found.filter((one) => one.reference !== reference || !ledger.isOwn(one));
  const [earlier] = others;
  if (!earlier || again) return earlier;
  const sameReference = others.find((one) => one.reference === reference);
  if (sameReference) throw duplicate(sameReference, ledger);
  if (isGeneratedReference(reference) || isUnresolved(earlier)) throw duplicate(earlier, ledger);
  return earlier;
}

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

function duplicate(earlier: Operation, ledger: Known["ledger"]): Failure {
  const { reference, id } = earlier;
  const name = reference ?? id;
  const isOwn = ledger.isOwn(earlier);
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

function duplicateOfRow({ batch, reference }: { batch: string; reference: string }): Failure {
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
