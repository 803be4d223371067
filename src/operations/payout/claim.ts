import { formatTime } from "../../contract/local-time.ts";
import { formatAmount } from "../../contract/money.ts";
import { Failure } from "../../failure.ts";
import type { Claim } from "../../ledger/claiming.ts";
import type { Operation, ReferencedIntent } from "../../ledger/operation.ts";
import { isFree, isUsedUp } from "../../state.ts";
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

function ofAnotherKey({ id, reference, state, createdAt }: Operation): Failure {
  const isDoubt = state === "INTENT" || state === "UNCERTAIN";
  const how = isDoubt ? `is in doubt since ${formatTime(createdAt)}` : `ended ${state}`;
  const kinds = { REFUSED: "refused", CONFLICT: "conflict" } as const;
  return new Failure(
    state === "REFUSED" || state === "CONFLICT" ? kinds[state] : "uncertain",
    `Reference ${reference} was used with another API key, and ${how}.`,
    {
      hint: isDoubt
        ? `Nothing was sent now. Look in the merchant dashboard, then run 'lenden ledger resolve ${id}' with --made <id>, or with --not-made.`
        : `Nothing was sent. Look with 'lenden ledger show ${id}', and in the merchant dashboard whether it went on; a payout that is still to be made needs a reference of its own.`,
      operation: id,
    },
  );
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
  return new Failure("conflict", `Reference ${reference} was used for another payout.`, {
    problems,
    hint: `Nothing was sent. ${onlyIfAnother(operation)}`,
    operation: order.reference,
  });
}

/** By a reference of its own the very payout that was mended would be made twice. */
function onlyIfAnother(operation: Operation): string {
  const { reference } = operation;
  const other = "If it is another one, and still to be paid, give it a reference of its own.";
  if (!isUsedUp(operation))
    return `Look at it with 'lenden ledger show ${reference}' first. ${other}`;
  const next = newReference(reference ?? "");
  return `If it is the same payout, mended, its next reference is ${next}, unless 'lenden ledger show ${next}' says that it was paid by that. ${other}`;
}

/** The amount is the one number among them. */
function shown(value: unknown): string {
  return typeof value === "number" ? formatAmount(value) : String(value);
}
