import { Failure } from "../../domain/failure.ts";
import { scalarText } from "../../domain/json.ts";
import { formatTime } from "../../domain/local-time.ts";
import { formatAmount, formatPaisa } from "../../domain/money.ts";
import { newReference, replacedReferences } from "../../domain/new-reference.ts";
import { personIn, personText } from "../../domain/person.ts";
import { isGeneratedReference } from "../../domain/reference.ts";
import { isUnresolved, isUnsettled, isUsedUp } from "../../domain/state.ts";
import { inCommand } from "../../domain/text.ts";
import type { ClaimAnswer } from "../../ledger/change.ts";
import {
  type ClaimDecision,
  isSamePayout,
  type PlannedRow,
  payoutOf,
} from "../../ledger/decide.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { FoundOperation, Operation, ReferencedIntent } from "../../ledger/operation.ts";
import type { Repeat } from "../create.ts";
import { declaredByOther } from "../declared-text.ts";
import type { OperationDeps } from "../deps.ts";
import { commandOf, deniedBy, deniedFailure, repeatFailure } from "../limits.ts";
import { lockedError } from "../record-outcome.ts";
import { resolveHint } from "../response-failure.ts";
import { orderOf, type PayoutOrder, payoutBody } from "./order.ts";

/** How a payout may repeat an earlier one. */
export interface PayoutRepeat extends Repeat {
  /** True if the reference was made for this payout: that of the same payout, which is free, replaces it. */
  isReferenceMade?: boolean;
}

/** A payout that this run may send, or that the ledger knows to be finished. */
type ClaimedPayout = Extract<ClaimAnswer, { kind: "new" | "resumed" | "finished" }>;

/**
 * Claims the reference for this payout. The check for duplicates is part of the claim, so that two processes
 * cannot both pass it.
 *
 * @returns the claim, the payout with the claimed reference, and an earlier payout of the same amount to the same
 * recipient that is worth a warning
 * @throws Failure as `checkClaim` does
 */
export async function claimReference(given: PayoutOrder, how: PayoutRepeat, deps: OperationDeps) {
  const sealer = await deps.sealer();
  const ledger = await deps.ledger();
  const answer = await ledger.claim({ ...claimRequest(given, how), sealer });
  const order = { ...given, reference: referenceOf(given, answer) };
  const earlier = "earlier" in answer ? answer.earlier : undefined;
  if ("declared" in answer && answer.declared)
    deps.notice(...declaredByOther(answer.declared, order.reference));
  return { claim: await checkClaim(order, answer, ledger), order, earlier };
}

function referenceOf({ reference }: PayoutOrder, decision: ClaimAnswer | ClaimDecision): string {
  return (decision.kind === "resumed" && decision.operation.reference) || reference;
}

/**
 * The reference that this payout would claim, and the earlier payout that it may repeat, before anything is recorded.
 *
 * @throws Failure as `claimReference` does if it would be rejected as a duplicate
 */
export async function previewClaim(
  order: PayoutOrder,
  how: PayoutRepeat,
  ledger: Pick<Ledger, "preview" | "account">,
): Promise<{
  reference: string;
  earlier: Operation | undefined;
  declared: FoundOperation | undefined;
}> {
  const decision = await ledger.preview(claimRequest(order, how));
  if (decision.kind === "duplicate")
    throw duplicatePayout(decision.earlier, order.reference, await ledger.account());
  if (decision.kind === "planned") throw plannedInBatch(decision, order.reference);
  if (decision.kind === "not-sealed") throw recordedByOther(decision.operation);
  const denied = deniedBy(decision, order);
  if (denied) throw denied;
  const earlier = "earlier" in decision ? decision.earlier : undefined;
  const declared = "declared" in decision ? decision.declared : undefined;
  return { reference: referenceOf(order, decision), earlier, declared };
}

/** The reference of the same payout that was rejected or not sent, if this one would be sent with it; else its own. */
export async function reusedReference(
  order: PayoutOrder,
  ledger: Pick<Ledger, "preview">,
): Promise<string> {
  const how = { again: false, isReferenceMade: true };
  return referenceOf(order, await ledger.preview(claimRequest(order, how)));
}

function claimRequest(order: PayoutOrder, { again, isReferenceMade = false }: PayoutRepeat) {
  const onDuplicate = isGeneratedReference(order.reference) ? "reject" : "reject-if-unknown";
  return {
    intent: payoutIntent(order),
    onDuplicate: again ? "send" : onDuplicate,
    isReferenceMade,
  } as const;
}

/**
 * The intent of a payout, for the ledger.
 *
 * @param batch the number of the batch that it is a row of
 */
export function payoutIntent(order: PayoutOrder, batch: bigint | null = null): ReferencedIntent {
  const { amountPaisa, reference, methodName = null } = order;
  const asked = payoutBody(order);
  return { kind: "payout", reference, amountPaisa, target: null, asked, methodName, batch };
}

/**
 * Lets through a payout that may be sent, or that is finished.
 *
 * @param ledger gives the name of the account of this run; `isRecorded`: true if the ledger has the reference, of a
 * payout that is sent again
 * @throws Failure `conflict` if the reference belongs to another payout; `locked` if another process works on
 * it; `refused` if it repeats an earlier payout; `uncertain` if another API key sent it
 */
export async function checkClaim(
  order: PayoutOrder,
  claim: ClaimAnswer,
  ledger: Pick<Ledger, "account">,
  isRecorded = false,
): Promise<ClaimedPayout> {
  const again = isRecorded ? `run '${commandOf(order, true)}'` : undefined;
  switch (claim.kind) {
    case "new":
    case "resumed":
    case "finished":
      if (claim.operation.reference !== order.reference)
        throw new Error("a claim of another payout");
      if (claim.kind === "resumed") assertSameOrder(order, claim);
      return claim;
    case "different":
      throw otherPayout(order, claim.operation);
    case "locked":
      throw lockedError(order.reference, claim.holder, "Reference");
    case "other-key":
      throw sentWithOtherKey(claim.operation);
    case "not-sealed":
      throw recordedByOther(claim.operation);
    case "duplicate":
      throw duplicatePayout(claim.earlier, order.reference, await ledger.account(), again);
    case "planned":
      throw plannedInBatch(claim, order.reference);
    case "repeat":
      throw repeatFailure(claim, order, isRecorded);
    case "above-limit":
    case "limits-missing":
    case "agent-without-limits":
    case "not-of-agent":
    case "planned-ahead":
      throw deniedFailure(claim);
    case "over-limit":
      throw new Error("a payout exceeds no payment");
  }
}

/** What is sent again may have another name or description than what is ordered now, and nothing else. */
function assertSameOrder(
  order: PayoutOrder,
  { operation, asked }: Extract<ClaimAnswer, { kind: "resumed" }>,
): void {
  const { amountPaisa, reference } = orderOf({ id: operation.id, asked });
  const isSame =
    reference === order.reference &&
    isSamePayout(
      payoutOf({ ...payoutIntent(order), amountPaisa, asked }),
      payoutOf(payoutIntent(order)),
    );
  if (!isSame) throw new Error("a request of another payout");
}

/** P25b: whether references are unique for a key or for a merchant is not shown (docs/api.md). */
export function sentWithOtherKey(operation: Operation): Failure {
  const { id, reference, createdAt } = operation;
  return new Failure(
    "payout.other-key",
    `Cannot send payout ${reference} again: another API key of this account may have sent it since ${formatTime(createdAt)}.`,
    {
      hint: `If only one key sent it, use that key. If not, resolve it by hand. ${resolveHint(id, "payout", operation)}`,
      operation: reference ?? id,
      untried: true,
    },
  );
}

/** P28: of an operation that another login recorded, and that no holder of this payout secret ordered. */
function recordedByOther(operation: FoundOperation): Failure {
  const { id, reference, login, createdAt } = operation;
  const next = isUnsettled(operation)
    ? `resolve it first. ${resolveHint(id, "payout", operation)}`
    : "use another --ref.";
  return new Failure(
    "payout.not-sealed",
    `Cannot send payout ${reference}: login ${login} recorded it on ${formatTime(createdAt)}, and it has no valid seal of this payout secret.`,
    {
      hint: `If ${login} ordered it, ${login} runs the same command. If not, ${next}`,
      operation: reference ?? id,
      untried: true,
    },
  );
}

/** P28: of an order from the ledger without a valid seal. Whoever made it can make it again. */
export async function notSealed(
  operation: FoundOperation,
  ledger: Pick<Ledger, "historyOf" | "account">,
): Promise<Failure> {
  const { id, reference, lastAsked, batch, batchId, wasPlanned, createdAt } = operation;
  const name = reference ?? id;
  if (operation.isArriving) return arriving(operation);
  const { amountPaisa, recipient } = payoutOf({ ...operation, asked: lastAsked });
  const [intent] = await ledger.historyOf(operation);
  const by = intent?.event === "intent" ? personIn(intent.data.origin) : undefined;
  const person = personText(by?.user ?? operation.user, operation.login, by?.machine);
  const isLate = batch !== null && !wasPlanned;
  const own = await ledger.account();
  const isOfOther = operation.account !== own;
  const again = isOfOther
    ? "run the same command with the API key of its account"
    : batch === null || isLate
      ? `run 'lenden payout send' with this amount and recipient, and --ref ${inCommand(name)}`
      : `run 'lenden payout batch send' again, with the file of batch ${batchId}`;
  const why = isOfOther
    ? `it belongs to another account than ${own}`
    : isLate
      ? "its batch was cancelled, or not created, when this payout was ordered"
      : "it has no valid seal of this payout secret";
  return new Failure("payout.not-sealed", `Cannot send payout ${name} from the ledger: ${why}.`, {
    problems: [
      `amount: ${formatPaisa(amountPaisa ?? 0n)}`,
      `recipient: ${recipient}`,
      `recorded: on ${formatTime(createdAt)} by ${person}`,
    ],
    hint: `If you ordered it, ${again}. If you did not, do not send it. ${resolveHint(isOfOther ? id : name, "payout", operation)}`,
    operation: name,
    untried: true,
  });
}

/** Its row looks unsent as long as its payouts are not here. */
function arriving({ id, reference, batchId }: FoundOperation): Failure {
  return new Failure(
    "ledger.not-moved",
    `Cannot send payout ${reference ?? id}: its batch ${batchId} is from a ledger file whose move is not complete.`,
    {
      hint: "On the machine with that file, run 'lenden ledger move <url>' again with the same login.",
      operation: reference ?? id,
      untried: true,
    },
  );
}

/** P6: says what differs between this payout and the one that the ledger has. */
function otherPayout(order: PayoutOrder, operation: Operation): Failure {
  const { asked } = operation;
  const reference = operation.reference ?? "";
  const ours: Record<string, unknown> = payoutBody(order);
  const names = { amount: "amount", recipientNumber: "recipient", paymentMethodId: "method" };
  const shown = (value: unknown) =>
    typeof value === "number" ? formatAmount(value) : scalarText(value);
  // The names that people typed, if both are known.
  const typed = [order.methodName, operation.methodName];
  const methods = typed.every(Boolean) ? typed : [order.paymentMethodId, asked.paymentMethodId];
  const problems = Object.entries(names)
    // The record of an imported payout does not name the method.
    .filter(([key]) => asked[key] !== undefined && asked[key] !== ours[key])
    .map(([key, name]) => {
      const [mine, theirs] = key === "paymentMethodId" ? methods : [ours[key], asked[key]];
      return `${name}: requested ${shown(mine)}, the ledger has ${shown(theirs)}`;
    });
  // The reference may have been typed again for the same payout, with a correction. A new reference would
  // pay that twice, so none is named while the payout in the ledger may have been made.
  const next = newReference(reference);
  const advice = isUsedUp(operation)
    ? `To send that payout again with corrected values, use --ref ${inCommand(next)}.`
    : isUnresolved(operation)
      ? `That payout may have been paid: run 'lenden ledger resolve ${inCommand(reference)}' first.`
      : `To see that payout, run 'lenden ledger show ${inCommand(reference)}'. For a new payout, use a new reference.`;
  return new Failure(
    "payout.reference-used",
    `Reference ${reference} already belongs to a different payout.`,
    {
      problems,
      hint: advice,
      operation: reference,
    },
  );
}

/**
 * Describes an earlier payout of the same amount to the same recipient, or of a reference that is replaced, for an error
 * or a warning.
 *
 * @param replacing the reference of the payout that is sent now
 */
export function describeEarlier(
  { reference, id, state, createdAt, actor }: Operation,
  replacing: string | null,
): string {
  const name = reference ?? id;
  const by = actor === "agent" ? " by an agent" : "";
  const isReplaced = replacing !== null && replacedReferences(replacing).includes(reference ?? "");
  const what = isReplaced
    ? `payout ${name}, which ${replacing} replaces, was sent${by}`
    : `the same amount to this recipient was sent${by} as ${name}`;
  const sent = `${what} on ${formatTime(createdAt)}`;
  if (state === "CONFIRMED") return `${sent} and accepted`;
  return state === "CONFLICT"
    ? `${sent}, and the API has a different payout for it`
    : `${sent}, and its outcome is unknown`;
}

/** The warning about an earlier payout, if the payout is sent because it has a reference of its own. */
export function possibleDuplicate(
  earlier: Operation,
  by: string | null,
): [message: string, reason: string] {
  return [`Possible duplicate: ${describeEarlier(earlier, by)}.`, "payout.possible-duplicate"];
}

/** @param account the name of the account of this run; `again`: what sends a second payout */
function duplicatePayout(
  earlier: Operation,
  by: string,
  account: string,
  again = "add --again",
): Failure {
  const { reference, id } = earlier;
  const name = reference ?? id;
  const named = earlier.account === account ? inCommand(name) : id;
  const inspect = isUnsettled(earlier)
    ? `To find out if it was accepted, run 'lenden ledger resolve ${named}'.`
    : `To see it, run 'lenden ledger show ${named}'.`;
  return new Failure("payout.duplicate", `Duplicate payout: ${describeEarlier(earlier, by)}.`, {
    // A payout whose outcome is unknown may have been paid: no hint leads to a second one.
    hint: isUnresolved(earlier) ? inspect : `${inspect} To send a second payout, ${again}.`,
    operation: name,
  });
}

/**
 * The failure of a payout that an open batch is still to send. With the same reference, the batch would find
 * the payout, or another one.
 */
function plannedInBatch(
  { row: { batch, reference }, isFinal }: { row: PlannedRow; isFinal: boolean },
  own: string,
): Failure {
  const [message, hint] =
    own === reference
      ? [
          `Reference ${reference} belongs to batch ${batch}, which has not sent it yet.`,
          `To send it, run 'lenden payout batch send' with the file of the batch. For a different payout, use another --ref.`,
        ]
      : [
          `Duplicate payout: batch ${batch} will send the same amount to this recipient (${reference}).`,
          `To see the batch, run 'lenden payout batch status ${batch}'. ${isFinal ? "No payout is repeated within a day." : "To send a second payout, add --again."}`,
        ];
  return new Failure("payout.planned-in-batch", message, { hint, operation: reference });
}
