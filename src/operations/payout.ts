import { amountNumber, amountText, type Paisa, paisaOf } from "../contract/amount.ts";
import type { Data } from "../contract/endpoint.ts";
import type { ServiceContract } from "../contract/index.ts";
import { sameMobile } from "../contract/mobile.ts";
import { Failure } from "../failure.ts";
import type { Answer } from "../http/answer.ts";
import { attempted, checkClock, describe, refused, unsent } from "./outcome.ts";
import { isWaiting, pauseBeforeResending } from "./resend.ts";
import type { World } from "./world.ts";

/** A payout as it was decided; nothing in it changes between attempts. */
export interface PayoutOrder {
  amountPaisa: Paisa;
  reference: string;
  /** As it goes on the wire. */
  recipientNumber: string;
  recipientName?: string | undefined;
  description?: string | undefined;
  paymentMethodId: string;
}

type Created = Data<ServiceContract["createPayout"]>;
type Retrieved = Data<ServiceContract["retrievePayout"]>;

/** A payout that the service confirmed and that is the one that was asked for. */
export interface SentPayout {
  payout: Retrieved;
  /** The service already had this reference before this run. */
  existing: boolean;
}

/**
 * Sends a payout so that it happens once: the same reference and body on every attempt, a fresh
 * timestamp and signature each time, and at the end a retrieve that compares the recipient, whom
 * the signature does not cover (money-safety.md §2).
 *
 * @throws Failure `unreachable` when it is proved that nothing was sent, `refused` or `access` when
 * the service refused the only attempt it can have seen, `conflict` when the reference belongs to
 * another payout, `uncertain` in every other case
 */
export async function sendPayout(order: PayoutOrder, world: World): Promise<SentPayout> {
  checkClock(world);
  const startedMs = world.now();
  const created = await create(order, world);
  compare("answer", order, { amount: created.amount, reference: created.merchantRef });
  const payout = await retrieve(order, created, world);
  return { payout, existing: isOlder(created, startedMs, world) };
}

/** The attempts. Once one of them is in doubt, only an answer with the payout ends the doubt. */
async function create(order: PayoutOrder, world: World): Promise<Created> {
  let doubt: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await attempted(() => world.client.createPayout(payoutBody(order)));
    if (answer.kind === "data") return answer.data;
    if (answer.kind === "unclear") doubt = describe(answer);
    if (answer.kind === "refused" && isWaiting(answer))
      doubt ??= `the service was busy (${answer.status})`;
    const pauseMs = pauseBeforeResending(answer, { attempt, random: world.random() });
    const outOfTime = pauseMs !== undefined && world.now() + pauseMs >= world.deadlineMs;
    if (pauseMs === undefined || outOfTime || world.isStopping())
      throw given(order, answer, doubt, world);
    world.notice(
      `Attempt ${attempt}: ${doubt ?? "no connection"}. The same reference goes out again in ${Math.ceil(pauseMs / 1000)} s.`,
    );
    await world.sleep(pauseMs);
    if (world.isStopping()) throw given(order, answer, doubt, world);
  }
}

/** The body of the request, but for the timestamp, which each attempt gets anew. */
export function payoutBody(order: PayoutOrder) {
  const { amountPaisa, reference, recipientNumber, recipientName, description, paymentMethodId } =
    order;
  return {
    amount: amountNumber(amountPaisa),
    merchantRef: reference,
    recipientNumber,
    ...(recipientName === undefined ? {} : { recipientName }),
    ...(description === undefined ? {} : { description }),
    paymentMethodId,
  };
}

/** What to say when there will be no further attempt. */
function given(
  order: PayoutOrder,
  answer: Exclude<Answer, { kind: "data" }>,
  doubt: string | undefined,
  world: World,
): Failure {
  if (doubt !== undefined) return uncertain(order, `no trustworthy answer (${doubt})`);
  if (answer.kind === "unsent") return unsent(answer);
  if (answer.kind === "refused") return refused(answer, order.reference, world.clockAheadMs());
  return uncertain(order, describe(answer));
}

/**
 * Retrieves the payout and compares all of it: an old payout of the same reference may have gone
 * to somebody else, and the answer to its creation does not say so.
 */
async function retrieve(order: PayoutOrder, created: Created, world: World): Promise<Retrieved> {
  const answer = await world.client.retrievePayout({ payoutId: created.payoutId });
  if (answer.kind !== "data") {
    throw uncertain(
      order,
      `the service has it as ${created.payoutId}, but it could not be retrieved to compare the recipient`,
    );
  }
  const { data } = answer;
  compare("record", order, {
    amount: data.amount,
    reference: data.merchantRef,
    recipient: data.recipientNumber,
  });
  return data;
}

interface Theirs {
  amount: number;
  reference: string;
  recipient?: string;
}

/** Ours beside theirs (P15, P16). */
function compare(what: "answer" | "record", order: PayoutOrder, theirs: Theirs): void {
  const differences = [
    ...(paisaOf(theirs.amount) === order.amountPaisa
      ? []
      : [`amount: asked ${amountText(order.amountPaisa)}, the service has ${theirs.amount}`]),
    ...(theirs.reference === order.reference
      ? []
      : [`reference: asked ${order.reference}, the service has ${theirs.reference}`]),
    ...(theirs.recipient === undefined || sameMobile(order.recipientNumber, theirs.recipient)
      ? []
      : [`recipient: asked ${order.recipientNumber}, the service has ${theirs.recipient}`]),
  ];
  if (differences.length === 0) return;
  throw new Failure(
    "conflict",
    `The service's ${what} for reference ${order.reference} is another payout.`,
    {
      problems: differences,
      hint: "This reference is taken. Look at that payout; if this one is still to be paid, give it a reference of its own.",
      operation: order.reference,
    },
  );
}

function uncertain(order: PayoutOrder, why: string): Failure {
  return new Failure(
    "uncertain",
    `The payout ${order.reference} may or may not have been made: ${why}.`,
    {
      hint: `Run the same command again with --ref ${order.reference}: the service makes one payout for a reference, however often it is sent.`,
      operation: order.reference,
    },
  );
}

/** Whether a payout was there before this run, by the service's clock. */
function isOlder(created: Created, startedMs: number, world: World): boolean {
  const createdMs = Date.parse(created.createdAt ?? "");
  // A service may count whole seconds, in `createdAt` as in `Date`: within one, nobody can tell.
  const latestMs = createdMs % 1000 === 0 ? createdMs + 999 : createdMs;
  const aheadMs = world.clockAheadMs() ?? 0;
  const startedThereMs = Math.abs(aheadMs) > 2_000 ? startedMs + aheadMs - 2_000 : startedMs;
  return created.status !== "Processing" || latestMs < startedThereMs;
}
