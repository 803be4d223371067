import { Failure } from "../domain/failure.ts";
import { isCorrectable, isUnsettled } from "../domain/state.ts";
import { columns } from "./columns.ts";
import { notAfter } from "./decide.ts";
import type { Intent, Operation, Outcome } from "./operation.ts";
import { type Row, storable } from "./values.ts";
import type { Recorder } from "./worker.ts";

/** The values of a request that have their own columns, so that SQL can find them. */
export function listedOf(request: Pick<Intent, "kind" | "asked">) {
  const { recipientKey, recipientName, methodId, description, payerKey } = columns;
  return {
    recipient: recipientKey.of(request),
    recipientName: recipientName.of(request),
    methodId: methodId.of(request),
    description: description.of(request),
    payer: payerKey.of(request),
  };
}

/**
 * The body of a request as JSON. It is compared with the API's record and sent again, so a secret in it cannot
 * be masked.
 *
 * @throws Failure `request.contains-secret`
 */
function askedJson({ asked }: Pick<Intent, "asked">, { scrub }: Pick<Recorder, "scrub">): string {
  const text = JSON.stringify(asked);
  if (scrub(text) === text) return text;
  throw new Failure(
    "request.contains-secret",
    "The request contains the API key or the payout secret.",
    { hint: "Remove the key or the secret from the texts of the request." },
  );
}

interface NewOperation extends Pick<Operation, "number" | "target" | "account" | "holder"> {
  /** ISO 8601. */
  at: string;
  /** The record of the API that the operation is recorded from, if it was not sent from here. */
  found?: Outcome | undefined;
}

/**
 * A new operation, which this process works on. Without `...`: V8 creates a hidden class for each object that
 * has a property beside one.
 *
 * @param account its name
 */
export function createOperation(
  intent: Intent,
  { number, target, account, holder, at, found }: NewOperation,
  worker: Recorder,
): Operation {
  const createdAt = notAfter(at, found?.recordCreatedAt);
  const { kind, reference, amountPaisa, asked, methodName = null, batch = null } = intent;
  const { user, command, owner } = worker;
  return {
    number,
    id: worker.newId(),
    kind,
    reference,
    amountPaisa,
    target,
    asked,
    methodName,
    batch,
    state: "INTENT",
    remoteId: null,
    status: null,
    code: null,
    message: null,
    attempts: 0,
    createdAt,
    openedAt: createdAt,
    updatedAt: at,
    acceptedAt: null,
    completedAt: null,
    paymentUrl: null,
    holder,
    user,
    command,
    profile: owner.profile,
    environment: owner.environment,
    baseUrl: owner.baseUrl,
    account,
    keyHash: owner.keyId,
  };
}

/** What is stored beside a new operation. */
interface StoredBy {
  /** The number of the account. */
  account: bigint;
  /** JSON. */
  actor: string;
}

/** The columns of a new operation, without those of the process that works on it. */
export function newRow(
  operation: Operation,
  { account, actor }: StoredBy,
  recorder: Pick<Recorder, "scrub">,
): Row {
  const { number, id, kind, profile, environment, reference, target, state } = operation;
  const { user, command, batch } = operation;
  const { recipient, recipientName, methodId, description, payer } = listedOf(operation);
  return {
    number,
    id,
    kind,
    profile,
    environment,
    reference,
    amount_paisa: operation.amountPaisa,
    target,
    asked: askedJson(operation, recorder),
    state,
    attempts: 0n,
    user,
    command,
    created_at: operation.createdAt,
    updated_at: operation.updatedAt,
    account,
    key_hash: operation.keyHash,
    base_url: operation.baseUrl,
    actor,
    recipient_key: recipient,
    recipient_name: recipientName,
    method_id: methodId,
    method_name: operation.methodName,
    description,
    payer_key: payer,
    batch,
    phase: "unresolved",
  };
}

/** An intent as JSON, for the history: every value that never changes later, and no secret. */
export function intentData(operation: Operation, { account, actor }: StoredBy): string {
  const { id, kind, reference, target, asked, user, command, methodName, batch } = operation;
  const { environment, profile, baseUrl, keyHash, createdAt, updatedAt } = operation;
  return JSON.stringify({
    // Otherwise the time of the event.
    ...(createdAt === updatedAt ? {} : { createdAt }),
    id,
    kind,
    reference,
    target,
    asked,
    user,
    command,
    methodName,
    actor,
    account: account.toString(),
    environment,
    profile,
    baseUrl,
    keyHash,
    amountPaisa: operation.amountPaisa?.toString() ?? null,
    batch: batch?.toString() ?? null,
  });
}

/**
 * The event of an operation that a process takes over. A reopened one is an INTENT of the key that sends it; after a
 * rejection it is sent as it is requested now, which may be corrected.
 *
 * @param holder JSON
 * @param intent what is requested now, if that decides about it
 * @throws Failure `request.contains-secret`
 */
export function takeoverEvent(
  operation: Operation,
  holder: string,
  { actor: by, owner, scrub }: Pick<Recorder, "actor" | "owner" | "scrub">,
  intent?: Intent,
): { event: string; data: string } {
  const actor = JSON.stringify(by);
  if (isUnsettled(operation)) {
    const wasReleased = operation.holder === null;
    return { event: "resumed", data: JSON.stringify({ holder, actor, wasReleased }) };
  }
  const data = { state: "INTENT", keyHash: owner.keyId, holder, actor };
  if (!intent || !isCorrectable(operation))
    return { event: "reopened", data: JSON.stringify(data) };
  const asked = { ...intent.asked, merchantRef: operation.reference };
  askedJson({ asked }, { scrub });
  return { event: "reopened", data: JSON.stringify({ ...data, asked }) };
}

/**
 * An outcome and its JSON without secrets that the API sent back, and with text that can be stored. If a person
 * reported it, the JSON says who.
 */
export function storableOutcome(
  outcome: Outcome,
  { scrub, actor }: Pick<Recorder, "scrub" | "actor">,
): { outcome: Outcome; data: string } {
  const { isReported } = outcome;
  const by = isReported && { isReported: undefined, actor: JSON.stringify(actor) };
  const text = JSON.stringify(by ? { ...outcome, ...by } : outcome);
  const scrubbed = scrub(text);
  if (scrubbed === text && !notStorable.test(text)) return { outcome, data: text };
  const cleaned: Outcome = JSON.parse(scrubbed, (_, value: unknown) =>
    typeof value === "string" ? storable(value) : value,
  );
  return { outcome: cleaned, data: JSON.stringify(cleaned) };
}

/** In JSON: half of a character, or NUL. */
const notStorable = /\\u(?:d[89a-f]|0000)/i;
