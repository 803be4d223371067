import { contract } from "../api/contract/index.ts";
import type { Answer } from "../api/response.ts";
import { Failure, type FailureDetails } from "../domain/failure.ts";
import type { Operation } from "../ledger/operation.ts";
import { orderOf } from "../payouts/order.ts";
import { confirmedUnseen, knownPayout, retrievePayout } from "../payouts/record.ts";
import { earlierDoubt } from "../payouts/unknown.ts";
import { anotherRecord, assertFree, compared } from "./compare.ts";
import type { Repeat } from "./create.ts";
import { type Call, intended, type Made } from "./raw-intent.ts";
import { type Confirmed, recorded } from "./record-outcome.ts";
import {
  beginningOf,
  describe,
  evidenceOf,
  provesNothingDone,
  rejectedCreation,
  rejectedLater,
  unread,
} from "./response-failure.ts";
import type { World } from "./world.ts";
import { checkStop } from "./world.ts";

type Answered = Exclude<Answer, { kind: "unsent" }>;

/** What came of a call, and how it ended where that is no success. */
interface Ended<Raw> {
  raw: Raw;
  failure?: Failure;
  /** A payout that this one may repeat. */
  earlier?: Operation | undefined;
  /** Nothing was sent: the ledger had it already, and this is that. */
  isKnown?: true;
}

/**
 * Sends a call that makes something, once. By hand or not: its intent is durable before it leaves
 * (I1), a reference belongs to one payout (I2, I3), and what may have happened is not sent again.
 *
 * @param send makes a call and gives the answer, whatever it is; it throws where nothing left
 * @throws Failure where nothing was sent, or where a payout may have been sent before
 */
export async function sendByHand<Raw extends { answer: Answered }>(
  kind: Made,
  call: Call,
  send: (call: Call) => Promise<Raw>,
  how: Repeat,
  world: World,
): Promise<Ended<Raw>> {
  const { operation, isResumed, earlier } = await intended(kind, call.body ?? {}, how, world);
  if (operation.state === "CONFIRMED") return known(operation, send, world);
  let ended: { raw: Raw } | undefined;
  try {
    await recorded(operation, world, async () => {
      const doubt = isResumed ? await earlierDoubt(operation, world) : undefined;
      if (doubt === undefined) checkStop(world);
      else if (world.isStopping()) throw uncertain(operation, doubt, { untried: true });
      (await world.ledger()).assertStillOurs();
      const same = isResumed ? { ...call, body: { ...call.body, ...operation.asked } } : call;
      const raw = await send(same).catch((error) => rethrow(error, operation, doubt));
      ended = { raw };
      const made = judged(raw.answer, { operation, doubt }, world);
      await assertFree(operation, made.remoteId, world);
      if (kind !== "payout") return made;
      const { status } = await retrievePayout(orderOf(operation), made.remoteId, world);
      return { ...made, status };
    });
  } catch (error) {
    if (!ended || !(error instanceof Failure)) throw error;
    return { ...ended, failure: error, earlier };
  }
  if (ended) return { ...ended, earlier };
  throw new Error("a call was written down as sent, and has no answer");
}

/**
 * P5: nothing is sent, because the API may forget a reference; the payout is
 * retrieved instead, and compared.
 */
async function known<Raw extends { answer: Answered }>(
  operation: Operation,
  send: (call: Call) => Promise<Raw>,
  world: World,
): Promise<Ended<Raw>> {
  const { payoutId, status } = await knownPayout(orderOf(operation), operation, world);
  world.notice(
    `The ledger has ${operation.reference} already, as ${payoutId}; nothing was sent. This is how it is now.`,
    "payout.existing",
  );
  const path = contract.retrievePayout.path.replace(":payoutId", encodeURIComponent(payoutId));
  const get = { method: "GET", path, body: undefined } as const;
  const raw = await send(get).catch((error) => rethrowUnseen(error, operation, payoutId));
  if (raw.answer.kind !== "data")
    return { raw, isKnown: true, failure: unseen(operation, payoutId, unread(raw.answer)) };
  if (status !== "Cancelled") return { raw, isKnown: true };
  const message = `Payout ${operation.reference} is Cancelled. Nothing was sent.`;
  return { raw, isKnown: true, failure: new Failure("cancelled", message) };
}

interface Sent {
  operation: Operation;
  /** Why it may have happened before. */
  doubt: string | undefined;
}

/** That the payout cannot be shown does not make it unsent. */
function rethrowUnseen(error: unknown, operation: Operation, payoutId: string): never {
  if (!(error instanceof Failure)) throw error;
  throw unseen(operation, payoutId, error);
}

function unseen({ reference, id }: Operation, payoutId: string, why: Failure): Failure {
  return confirmedUnseen(reference ?? id, payoutId, why);
}

/** That this call never left proves nothing about the one before it. */
function rethrow(error: unknown, operation: Operation, doubt: string | undefined): never {
  if (doubt === undefined || !(error instanceof Failure)) throw error;
  const why = `${doubt}, and now it could not be sent: ${error.message}`;
  throw uncertain(operation, why, { neverLeft: true });
}

interface ConfirmedRecord extends Confirmed<void> {
  remoteId: string;
}

/** @throws Failure where the answer does not say that this very thing was made */
function judged(answer: Answered, { operation, doubt }: Sent, world: World): ConfirmedRecord {
  if (answer.kind === "data") return made(answer.data, operation);
  const isSure = answer.kind === "refused" && provesNothingDone(operation.kind, answer);
  if (isSure && doubt === undefined)
    throw rejectedCreation(answer, operation.reference ?? undefined, world.clockAheadMs());
  if (isSure && doubt !== undefined) {
    const reference = operation.reference ?? operation.id;
    throw rejectedLater(answer, { reference, earlier: doubt, clockAheadMs: world.clockAheadMs() });
  }
  throw uncertain(operation, doubt ?? describe(answer), { evidence: evidenceOf(answer) });
}

const ids = new Map([
  ["payment", "transactionId"],
  ["payout", "payoutId"],
  ["refund", "refundRequestId"],
]);

/** Compares the response with what was asked for (P15); one for another reference proves nothing (P15b). */
function made(data: unknown, operation: Operation): ConfirmedRecord {
  const told = new Map(Object.entries(data ?? {}));
  const remoteId: unknown = told.get(ids.get(operation.kind) ?? "");
  const status: unknown = told.get("status");
  if (typeof remoteId !== "string" || typeof status !== "string")
    throw uncertain(operation, "the answer names no id and status");
  const { kind, amountPaisa, reference, target } = operation;
  const merchantRef = String(told.get("merchantRef") ?? "");
  if (kind === "payout" && merchantRef !== reference)
    throw uncertain(operation, `the response is for reference ${merchantRef || "none"}`, {
      evidence: { answer: beginningOf(JSON.stringify(data)), otherId: remoteId },
    });
  const asked = { amountPaisa, payment: kind === "refund" ? target : null };
  const { different } = compared(asked, {
    amount: Number(told.get("amount")),
    payment: String(told.get("transactionId") ?? ""),
  });
  const url: unknown = told.get("payment_url");
  const paymentUrl = kind === "payment" && typeof url === "string" ? url : undefined;
  if (different.length === 0) return { result: undefined, remoteId, status, paymentUrl };
  throw anotherRecord(operation, remoteId, different);
}

function uncertain(
  { id, kind, reference }: Operation,
  why: string,
  more: Pick<FailureDetails, "evidence" | "untried" | "neverLeft"> = {},
): Failure {
  return new Failure(
    "uncertain",
    `The ${kind} ${reference ?? id} may or may not have been made: ${why}.`,
    {
      hint: reference
        ? "Make the same call again: the service makes one payout for a reference, however often it is sent."
        : `Do not make the call again: the service would make a second ${kind}. Look in the merchant dashboard, then say what you found with 'lenden ledger resolve ${id}'.`,
      operation: reference ?? id,
      ...more,
    },
  );
}
