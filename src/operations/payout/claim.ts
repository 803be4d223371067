import { formatTime } from "../../contract/local-time.ts";
import { formatAmount } from "../../contract/money.ts";
import { Failure } from "../../failure.ts";
import type { Claim } from "../../ledger/claiming.ts";
import type { Operation, ReferencedIntent } from "../../ledger/operation.ts";
import { isFree, isUnresolved, isUsedUp } from "../../state.ts";
import { conflictHint } from "../compared.ts";
import { fingerprintOf } from "../fingerprint.ts";
import { held } from "../recorded.ts";
import type { Repeat } from "../refundable.ts";
import type { World } from "../world.ts";
import { earlierPayout } from "./duplicates.ts";
import { newReference } from "./new-reference.ts";
import { type PayoutOrder, payoutBody } from "./order.ts";

/**
 * Claims the reference for this payout. The check for duplicates is part of the same transaction, so that
 * two processes cannot both pass it.
 *
 * @returns the claim, and an earlier payout of the same amount to the same recipient that is worth a warning
 * @throws Failure as `checkClaim` and `earlierPayout` do, and if another API key left this payout without an
 * outcome that the API confirmed
 */
export async function claimReference(order: PayoutOrder, how: Repeat, world: World) {
  const ledger = await world.ledger();
  const intent = payoutIntent(order, world);
  const left = ledger.leftByOtherKey(intent);
  if (left) throw ofAnotherKey(left);
  let earlier: Operation | undefined;
  const claim = ledger.claimChecked(intent, ({ kind, operation }) => {
    const isSentAnew = kind === "new" || (kind === "resumed" && isFree(operation));
    if (isSentAnew) earlier = earlierPayout(order, how, { ledger, nowMs: world.now() });
  });
  return { claim: checkClaim(order, claim), earlier };
}

function ofAnotherKey(operation: Operation): Failure {
  const { id, reference, state, createdAt } = operation;
  const isDoubt = state === "INTENT" || state === "UNCERTAIN";
  const how = isDoubt ? `is in doubt since ${formatTime(createdAt)}` : `ended ${state}`;
  const kinds = { REFUSED: "refused", CONFLICT: "conflict" } as const;
  return new Failure(
    state === "REFUSED" || state === "CONFLICT" ? kinds[state] : "uncertain",
    `Reference ${reference} was used with another API key, and ${how}.`,
    { hint: hintForOtherKey(operation), operation: id },
  );
}

function hintForOtherKey({ id, reference, state }: Operation): string {
  if (state === "CONFLICT") return `Nothing was sent. ${conflictHint(id)}`;
  const next = newReference(reference ?? "");
  return state === "REFUSED"
    ? `Nothing was sent. If this corrects the same payout, use --ref ${next}, but first make sure 'lenden ledger show ${next}' and the dashboard do not show it as paid.`
    : `Nothing was sent now. Look in the merchant dashboard, then run 'lenden ledger resolve ${id}' with --created <id> or --not-created.`;
}

/** What the ledger writes down of a payout. */
export function payoutIntent(order: PayoutOrder, world: Pick<World, "account">): ReferencedIntent {
  const { amountPaisa, reference } = order;
  const fingerprint = payoutFingerprint(order, world);
  const asked = payoutBody(order);
  return { kind: "payout", reference, fingerprint, amountPaisa, target: null, asked };
}

/**
 * Lets through what was taken for this payout, or is known of it.
 *
 * @throws Failure `conflict` where the ledger has its reference for another payout, `locked` where
 * another process works on it
 */
export function checkClaim(order: PayoutOrder, claim: Claim) {
  if (claim.operation.reference !== order.reference) throw new Error("a claim of another payout");
  if (claim.kind === "other") throw otherPayout(order, claim.operation);
  if (claim.kind === "held") throw held(`Reference ${order.reference}`, claim.by);
  return claim;
}

/** What makes two payouts the same: one reference has one fingerprint for ever (I2). */
export function payoutFingerprint(
  order: Pick<PayoutOrder, "amountPaisa" | "recipientNumber" | "paymentMethodId">,
  world: Pick<World, "account">,
): string {
  return fingerprintOf(world, [order.amountPaisa, order.recipientNumber, order.paymentMethodId]);
}

/** P6: says what differs between this payout and the one that the ledger has. */
function otherPayout(order: PayoutOrder, operation: Operation): Failure {
  const { asked, reference } = operation;
  const ours: Record<string, unknown> = payoutBody(order);
  const names = { amount: "amount", recipientNumber: "recipient", paymentMethodId: "method" };
  const problems = Object.entries(names)
    .filter(([key]) => asked[key] !== ours[key])
    .map(
      ([key, name]) => `${name}: asked ${shown(ours[key])}, the ledger has ${shown(asked[key])}`,
    );
  return new Failure("conflict", `Reference ${reference} already belongs to a different payout.`, {
    problems,
    hint: `Nothing was sent. ${hintForOther(operation)}`,
    operation: order.reference,
  });
}

/**
 * The reference may have been typed again for the same payout, with a correction. A new reference would
 * pay that twice, so none is named while the payout in the ledger may have been made.
 */
function hintForOther(operation: Operation): string {
  const { reference } = operation;
  const inspect = `To inspect it, run 'lenden ledger show ${reference}'.`;
  if (isUsedUp(operation)) {
    const next = newReference(reference ?? "");
    return `${inspect} If this corrects the same payout, use --ref ${next}, but first make sure 'lenden ledger show ${next}' does not show it as paid.`;
  }
  if (isUnresolved(operation))
    return `${inspect} It may have been paid: run 'lenden ledger resolve ${reference}' first.`;
  return `${inspect} For a new payout, use a new --ref.`;
}

/** The amount is the one number among them. */
function shown(value: unknown): string {
  return typeof value === "number" ? formatAmount(value) : String(value);
}
