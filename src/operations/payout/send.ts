import { isDeepStrictEqual } from "node:util";
import type { Failure } from "../../domain/failure.ts";
import { formatTime } from "../../domain/local-time.ts";
import type { ClaimAnswer } from "../../ledger/change.ts";
import type { Operation } from "../../ledger/operation.ts";
import { assertFree } from "../compare.ts";
import { declaredByOther } from "../declared-text.ts";
import { checkClock, createClockWatch, type OperationDeps } from "../deps.ts";
import { deniedFailure } from "../limits.ts";
import { recorded, statusIn } from "../record-outcome.ts";
import { isOlder, mayBeOlder, surelyOlderMs } from "./age.ts";
import { createPayout } from "./attempts.ts";
import {
  checkClaim,
  claimReference,
  notSealed,
  type PayoutRepeat,
  possibleDuplicate,
  sentWithOtherKey,
} from "./claim.ts";
import { compare, orderOf, type PayoutOrder, payoutBody } from "./order.ts";
import { knownPayout, type Retrieved, retrievePayout, usedBefore } from "./retrieve.ts";
import { earlierAttempt } from "./unknown.ts";

/** A payout that the API confirmed and that was compared with the request. */
export interface SentPayout {
  payout: Retrieved;
  /** True if the API had this reference before this run. */
  existing: boolean;
  /** An earlier payout of the same amount to the same recipient, by another reference. */
  earlier?: Operation | undefined;
}

/**
 * Sends a payout so that it happens once: the intent is durable before the request; every attempt, in this
 * run and in later ones, has the same reference and body; and the record is retrieved to compare the
 * recipient, which the signature does not cover.
 *
 * @param how `onRecorded` is called with the claimed reference once the ledger has the payout, before anything is sent
 * @throws Failure `unreachable` if it is proved that nothing was sent; `refused` or `access` if the API
 * rejected the only attempt, or if it repeats an earlier payout; `conflict` if the reference belongs to
 * another payout; `locked` if another process works on it; `uncertain` in every other case
 */
export async function sendPayout(
  given: PayoutOrder,
  deps: OperationDeps,
  how: PayoutRepeat & { onRecorded?: (reference: string) => void } = { again: false },
): Promise<SentPayout> {
  checkClock(deps);
  const wasClockSet = createClockWatch(deps);
  const { claim, order, earlier } = await claimReference(given, how, deps);
  how.onRecorded?.(order.reference);
  if (claim.kind === "finished")
    return { payout: await knownPayout(order, claim.operation, deps), existing: true };
  const { payout, existing } = await sendClaimed(order, { ...claim, wasClockSet }, deps);
  const isEarlier = payout.payoutId === earlier?.remoteId;
  return { payout, existing: existing || isEarlier, earlier };
}

/**
 * Sends a payout of unknown outcome again, unchanged, if its seal is valid (I11).
 *
 * @param how `moved` creates the failure of an operation that changed since it was read; `restsSinceMs` as for a
 * planned payout; `confirmed`: the request that was shown to a person
 * @throws Failure as `sendPayout` does; `access` without a valid seal (P28)
 */
export async function resendPayout(
  read: Operation,
  how: {
    moved: (now: Operation) => Promise<Failure>;
    restsSinceMs: number | undefined;
    confirmed: Operation["asked"] | undefined;
  },
  deps: OperationDeps,
): Promise<SentPayout> {
  checkClock(deps);
  const sealer = await deps.sealer();
  const ledger = await deps.ledger();
  const wasClockSet = createClockWatch(deps);
  const taken = await ledger.resume({ seen: read, confirmed: how.confirmed, sealer });
  if (taken.kind === "other-key") throw sentWithOtherKey(taken.operation);
  if (taken.kind === "not-sealed") throw await notSealed(taken.operation, ledger);
  if (taken.kind === "denied") throw deniedFailure(taken.denial);
  if (taken.kind === "repeats")
    await checkClaim(orderOf({ id: read.id, asked: taken.asked }), taken.decision, ledger, true);
  if (taken.kind !== "taken")
    throw await how.moved(taken.kind === "moved" ? taken.operation : read);
  const { operation, asked, earlier, declared } = taken;
  const { reference } = operation;
  if (earlier) deps.notice(...possibleDuplicate(earlier, reference));
  if (declared) deps.notice(...declaredByOther(declared, reference));
  const { restsSinceMs } = how;
  const claim = { kind: "resumed", operation, asked, restsSinceMs, wasClockSet } as const;
  return sendClaimed(orderOf({ id: operation.id, asked }), claim, deps);
}

function sendClaimed(order: PayoutOrder, claim: Claimed, deps: OperationDeps): Promise<SentPayout> {
  return recorded(claim.operation, deps, async () => {
    const { created, firstMs, whyUnknown } = await sendOrder(order, claim, deps);
    const payout = await retrievePayout(order, created.payoutId, deps);
    await assertFree(claim.operation, created.payoutId, deps);
    const createdAt = created.createdAt ?? payout.createdAt;
    // A payout that this ledger requests for the first time is new, unless its record is surely older.
    const isNew = claim.kind === "new" && created.status === "Processing";
    const { payoutId: remoteId } = created;
    const existing = isOlder(createdAt, isNew ? firstMs - surelyOlderMs : firstMs, deps);
    // The ledger's own earlier attempt may have created it: then the API did not have it before.
    const openedMs = whyUnknown === undefined ? firstMs : Date.parse(claim.operation.openedAt);
    const existed = existing && isOlder(createdAt, openedMs - surelyOlderMs, deps);
    const found = { remoteId, ...statusIn(payout), ...existedSince(existed, createdAt) };
    return { result: { payout, existing }, ...found };
  });
}

/** A payout of a batch, whose reference was claimed before. */
export interface PlannedOrder {
  order: PayoutOrder;
  claim: ClaimAnswer;
  /** Since when no process works on what an earlier run left, if that is known. Milliseconds since 1970. */
  restsSinceMs: number | undefined;
}

/**
 * Sends a row of a batch; the batch checks the clocks for all rows. A payout that the ledger has as finished
 * is not retrieved. A new one is retrieved only if its response looks old, that is, created before our
 * first attempt or no longer Processing (P16), or after a response for another reference (P15b).
 *
 * @throws Failure as `sendPayout` does
 */
export async function sendPlannedPayout(
  planned: PlannedOrder,
  deps: OperationDeps,
): Promise<Pick<SentPayout, "existing">> {
  const { order, restsSinceMs } = planned;
  const wasClockSet = createClockWatch(deps);
  const claim = await checkClaim(order, planned.claim, await deps.ledger());
  const { operation } = claim;
  if (claim.kind === "finished") {
    if (operation.state !== "CONFIRMED") throw usedBefore(order, operation);
    return { existing: false };
  }
  return recorded(operation, deps, async () => {
    const { created, ...sent } = await sendOrder(
      order,
      { ...claim, restsSinceMs, wasClockSet },
      deps,
    );
    const firstMs = sent.whyUnknown === undefined ? sent.firstMs : Date.parse(operation.openedAt);
    const looksOld =
      created.status !== "Processing" ||
      !created.createdAt ||
      mayBeOlder(created.createdAt, sent.firstMs, deps);
    const { payoutId: remoteId } = created;
    const isToCompare = looksOld || sent.wasMixedUp;
    const seen = isToCompare ? await retrievePayout(order, remoteId, deps) : created;
    const createdAt = created.createdAt ?? seen.createdAt;
    const existing = looksOld && isOlder(createdAt, firstMs - surelyOlderMs, deps);
    const found = { remoteId, ...statusIn(seen), ...existedSince(existing, createdAt) };
    return { result: { existing }, ...found };
  });
}

/** What the ledger stores of a payout that the API had before the ledger first sent it. */
function existedSince(existing: boolean, createdAt: string | null | undefined) {
  if (!existing) return {};
  const message = `the API had it before, since ${formatTime(createdAt ?? "")}`;
  return { message, code: "existing" } as const;
}

/** `restsSinceMs` as for a planned payout, `wasClockSet` since the claim. */
type Claimed = {
  operation: Operation;
  restsSinceMs?: number | undefined;
  wasClockSet: () => boolean;
} & ({ kind: "new" } | { kind: "resumed"; asked: Operation["asked"] });

/**
 * Sends an order that was claimed, and compares the response with it. What is sent again is what the ledger answered to
 * the claim.
 */
async function sendOrder(
  given: PayoutOrder,
  { operation, restsSinceMs, wasClockSet, ...claim }: Claimed,
  deps: OperationDeps,
) {
  const isResumed = claim.kind === "resumed";
  const order = isResumed ? orderOf({ id: operation.id, asked: claim.asked }) : given;
  if (!isDeepStrictEqual(payoutBody(given), payoutBody(order)))
    deps.notice(
      `Payout ${order.reference} is retried with the name, description and number of its last request.`,
      "payout.order-kept",
    );
  const whyUnknown = isResumed ? await earlierAttempt(operation, deps, restsSinceMs) : undefined;
  const { created, ...sent } = await createPayout(
    order,
    { operation, whyUnknown, wasClockSet },
    deps,
  );
  const { payoutId, amount, merchantRef: reference, currency } = created;
  compare(order, { payoutId, amount, reference, currency }, deps.account);
  return { created, ...sent, whyUnknown };
}
