import { Failure } from "../domain/failure.ts";
import { isUnsettled } from "../domain/state.ts";
import { fieldsBy, type Recorded } from "./columns.ts";
import { notAfter, type Ordered } from "./decide.ts";
import { type IntentData, type IntentEvent, recordedAt, type TakeoverEvent } from "./events.ts";
import type { Holder, Intent, Operation, Outcome } from "./operation.ts";
import { storable } from "./values.ts";
import { loginOf, type Recorder } from "./worker.ts";

/**
 * The body of a request is compared with the API's record and sent again, so a secret in it cannot be masked.
 *
 * @throws Failure `request.contains-secret`
 */
function assertNoSecret(asked: Intent["asked"], { scrub }: Pick<Recorder, "scrub">): void {
  const text = JSON.stringify(asked);
  if (scrub(text) === text) return;
  throw new Failure(
    "request.contains-secret",
    "The request contains the API key or the payout secret.",
    { hint: "Remove the key or the secret from the texts of the request." },
  );
}

interface NewOperation extends Pick<Operation, "number" | "target" | "holder"> {
  account: { number: bigint; name: string };
  /** ISO 8601. */
  at: string;
  /** The record of the API that the operation is recorded from, if it was not sent from here. */
  found?: Outcome | undefined;
  seal?: string | null;
}

/**
 * A new operation, which this process works on, with its event and its columns.
 *
 * @throws Failure `request.contains-secret`
 */
export function createOperation(
  intent: Intent,
  { number, target, account, holder, at, found, seal = null }: NewOperation,
  recorder: Recorder,
): { operation: Operation; recorded: Recorded; event: IntentEvent } {
  assertNoSecret(intent.asked, recorder);
  const { kind, reference, amountPaisa, asked, methodName = null, batch = null } = intent;
  const { profile, environment, baseUrl, keyId: keyHash } = recorder.owner;
  const createdAt = notAfter(at, found?.recordCreatedAt);
  const data: IntentData = {
    createdAt: createdAt === at ? undefined : createdAt,
    id: recorder.newId(),
    kind,
    reference,
    target,
    asked,
    user: recorder.user,
    command: recorder.command,
    methodName,
    origin: JSON.stringify(recorder.origin),
    actor: recorder.actor,
    account: account.number.toString(),
    environment,
    profile,
    baseUrl,
    keyHash,
    amountPaisa: amountPaisa?.toString() ?? null,
    batch: batch?.toString() ?? null,
    seal,
  };
  const event = { at, event: "intent", data } as const;
  const recorded = recordedAt(number, event);
  const fields = fieldsBy(({ field }) => recorded[field]);
  const by = { account: account.name, login: loginOf(recorder) };
  const operation = { ...by, ...fields, openedAt: createdAt, holder };
  return { operation, recorded, event };
}

/**
 * The event of an operation that a process takes over. A reopened one is an INTENT of the key that sends it.
 *
 * @throws Failure `request.contains-secret`
 */
export function takeoverEvent(
  operation: Operation,
  { holder: process, at }: { holder: Holder; at: string },
  { asked, seal }: Ordered,
  recorder: Pick<Recorder, "actor" | "origin" | "owner" | "scrub">,
): TakeoverEvent {
  const [holder, origin] = [JSON.stringify(process), JSON.stringify(recorder.origin)];
  const taker = { holder, origin, actor: recorder.actor };
  if (seal !== undefined) assertNoSecret(asked, recorder);
  const ordered = seal === undefined ? {} : { asked, seal };
  if (isUnsettled(operation)) {
    const wasReleased = operation.holder === null;
    return { at, event: "resumed", data: { ...taker, wasReleased, ...ordered } };
  }
  const { keyId: keyHash } = recorder.owner;
  return { at, event: "reopened", data: { state: "INTENT", keyHash, ...taker, ...ordered } };
}

/**
 * An outcome and its JSON without secrets that the API sent back, and with text that can be stored. If a person
 * reported it, the JSON says who.
 */
export function storableOutcome(
  outcome: Outcome,
  { scrub, origin }: Pick<Recorder, "scrub" | "origin">,
): { outcome: Outcome; data: string } {
  const { isReported } = outcome;
  const by = isReported && { isReported: undefined, origin: JSON.stringify(origin) };
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
