import type { Answer } from "../api/response.ts";
import { Failure, whatHappened } from "../domain/failure.ts";
import { isObject } from "../domain/json.ts";
import { type Resource, statuses } from "../domain/statuses.ts";
import { dataOf, describe as inWords, isFromApi } from "../operations/response-failure.ts";
import { requestRecord } from "../operations/status.ts";
import { cancelRefund } from "../operations/status-transition.ts";
import type { Result } from "./stored.ts";
import type { Trial } from "./trial.ts";

/** What was seen, in one or two sentences. */
type Seen = Pick<Result, "verdict" | "seen">;

/** What lenden relies on although the API's specification does not show it. */
interface Assumption {
  name: string;
  expected: string;
  tried: string;
  /** What lenden does if it does not hold. */
  otherwise: string;
  /** The guard that is stricter then. */
  guard?: Result["guard"];
  check(trial: Trial): Promise<Seen>;
}

const notResent =
  "lenden sends no payout of unknown outcome again: check the dashboard, then run 'lenden ledger resolve'.";
const provesNothing = "lenden treats each rejection as an unknown outcome (exit 75).";
const unusable = "lenden cannot use such a response, and shows no record (exit 69).";

/**
 * All of them, in the order in which they are tried: the pause comes last. A new one is an entry here, and a
 * deviation in test/support/fake-api.ts.
 */
const assumptions: Assumption[] = [
  {
    name: "clock",
    expected: "The API's clock and this machine's differ by less than a minute.",
    tried: "The Date header of the responses.",
    otherwise: "Set this machine's clock with NTP. From 4 minutes on, lenden sends no payout.",
    check: async ({ deps }) => {
      const aheadMs = deps.clockAheadMs();
      if (aheadMs === undefined) return refuted("The responses have no Date header.");
      const seen = `They differ by ${Math.round(Math.abs(aheadMs) / 1000)} s.`;
      return Math.abs(aheadMs) <= 60_000 ? holds(seen) : refuted(seen);
    },
  },
  {
    name: "method-fields",
    expected: "Each payment method has an ID, a code name and a provider name.",
    tried: "The list of payment methods.",
    otherwise: unusable,
    check: async ({ deps }) =>
      shapeOf(await deps.client.listMethods({}), "id codeName providerName"),
  },
  {
    name: "payout-fields",
    expected: "A payout has all documented fields.",
    tried: "A payout is sent and retrieved.",
    otherwise: unusable,
    check: async (trial) =>
      shapeOf(
        (await trial.payout()).record,
        "payoutId merchantRef recipientNumber recipientName description status createdAt updatedAt",
      ),
  },
  {
    name: "number-format",
    expected: "A recipient's number is returned as it was sent.",
    tried: "The same payout.",
    otherwise:
      "lenden compares the last eleven digits; a number without them leaves the outcome unknown. To send the API's format, run 'lenden profile set number-format e164' (profile add --number-format).",
    check: async (trial) => {
      const { order, record } = await trial.payout();
      const { recipientNumber: sent } = order;
      const { recipientNumber: returned } = dataOf(record);
      return sent === returned
        ? holds(`Sent and returned as ${sent}.`)
        : refuted(`Sent as ${sent}, returned as ${returned}.`);
    },
  },
  {
    name: "created-at",
    expected: "createdAt and the Date header come from the same clock.",
    tried: "The same payout.",
    otherwise: "lenden cannot tell a new payout from an old one by its time, and retrieves each.",
    check: async (trial) => {
      const { createdAt, sentMs, receivedMs } = await trial.payout();
      const aheadMs = trial.deps.clockAheadMs();
      if (!createdAt || aheadMs === undefined) return refuted("One of them is missing.");
      const createdMs = Date.parse(createdAt) - aheadMs;
      const isBetween = createdMs >= sentMs - unsureMs && createdMs <= receivedMs + unsureMs;
      if (isBetween) return holds(`Created at ${createdAt}, as by the Date header.`);
      const differMs = Math.abs(createdMs - sentMs);
      return refuted(`Created at ${createdAt}, ${Math.round(differMs / 1000)} s off.`);
    },
  },
  {
    name: "unknown-id",
    expected: "An unknown ID is rejected with 404 or 410.",
    tried: "A payout that does not exist is retrieved.",
    otherwise: "'get' and 'wait' end with exit 3 or 69 instead of 9.",
    check: async ({ deps, run }) => {
      const answer = await deps.client.retrievePayout({ payoutId: `${run}-none` });
      if (answer.kind === "data") return refuted("The API returned a payout.");
      const isRight = answer.kind === "refused" && answer.why === "unknown id";
      return isRight ? holds(sentence(inWords(answer))) : refuted(sentence(inWords(answer)));
    },
  },
  {
    name: "bad-signature",
    expected: "A payout with a wrong signature is rejected, and creates nothing.",
    tried: "A payout with a wrong signature, then a right one with the same reference.",
    otherwise: provesNothing,
    guard: "rejections",
    check: async (trial) => createdNothing(await trial.wrongSignature()),
  },
  {
    name: "bad-method",
    expected: "A rejected payout creates nothing.",
    tried: "A payout with an unknown method, then a right one with the same reference.",
    otherwise: provesNothing,
    guard: "rejections",
    check: async (trial) => {
      const tried = await trial.unknownMethod();
      return tried.right ? createdNothing(tried) : skipped("The API accepted an unknown method.");
    },
  },
  {
    name: "rejection-shape",
    expected: "A rejection is a JSON object with a 4xx status.",
    tried: "The two rejected payouts.",
    otherwise: "lenden treats such a rejection as an unknown outcome (exit 75).",
    check: async (trial) => {
      const { wrong: first } = await trial.wrongSignature();
      const { wrong: second } = await trial.unknownMethod();
      const found = [first.answer, second.answer].flatMap((one) =>
        one.kind === "data" ? [] : one,
      );
      const bad = found.find((one) => one.kind !== "refused" || !isFromApi("payout", one));
      if (bad) return refuted(sentence(inWords(bad)));
      const statuses = found.map((one) => ("status" in one ? one.status : "none"));
      return found.length > 0
        ? holds(`Statuses: ${statuses.join(", ")}.`)
        : skipped("The API rejected neither of them.");
    },
  },
  {
    name: "payment-fields",
    expected: "A payment has all documented fields.",
    tried: "A payment is created, completed and retrieved.",
    otherwise: unusable,
    check: async (trial) =>
      recordShape(
        trial,
        "payment",
        await trial.payment(),
        "transactionId description paymentMethod",
      ),
  },
  {
    name: "refund-fields",
    expected: "A refund has all documented fields.",
    tried: "A refund of that payment is created and retrieved.",
    otherwise: unusable,
    check: async (trial) =>
      recordShape(
        trial,
        "refund",
        await trial.refund(),
        "refundRequestId transactionId accountType accountNumber note",
      ),
  },
  {
    name: "cancel-twice",
    expected: "To cancel a cancelled refund is rejected, and changes nothing.",
    tried: "That refund is cancelled twice.",
    otherwise: "A second 'refund cancel' succeeds; lenden shows the status that it retrieves.",
    check: async (trial) => {
      const id = await trial.refund();
      await cancelRefund(id, trial.run, trial.deps);
      const second = await cancelRefund(id, trial.run, trial.deps).catch(rejectionIn);
      const { status } = dataOf(await requestRecord("refund", id, trial.deps));
      if (status !== "Cancelled") return refuted(`The refund is ${status} now.`);
      return second instanceof Failure
        ? holds(whatHappened(second))
        : refuted("The second one was not rejected.");
    },
  },
  {
    name: "ref-amount",
    expected: "A used reference with another amount creates nothing and changes nothing.",
    tried: "The first payout's reference with another amount.",
    otherwise: notResent,
    guard: "references",
    check: (trial) => unchangedBy(trial, { amount: trial.otherAmount }),
  },
  {
    name: "ref-recipient",
    expected: "A used reference with another recipient creates nothing and changes nothing.",
    tried: "The first payout's reference with another recipient.",
    otherwise: notResent,
    guard: "references",
    check: (trial) => unchangedBy(trial, { recipientNumber: trial.otherRecipient }),
  },
  {
    name: "ref-method",
    expected: "A used reference with another method creates nothing and changes nothing.",
    tried: "The first payout's reference with another method.",
    otherwise: notResent,
    guard: "references",
    check: async (trial) => {
      const [, other] = await trial.methods();
      if (!other) return skipped("The account has one method.");
      return unchangedBy(trial, { paymentMethodId: other.id });
    },
  },
  {
    name: "ref-later",
    expected: "The same payout sent later is the existing one.",
    tried: "The first payout is sent again after the pause.",
    otherwise: notResent,
    guard: "references",
    check: async (trial) => {
      await trial.untilPauseIsOver();
      const { sentMs } = await trial.payout();
      const later = `after ${Math.round((trial.deps.now() - sentMs) / 1000)} s`;
      const { order, payoutId } = await trial.payout();
      const { answer } = await trial.send(order);
      if (answer.kind === "refused") return refuted(sentence(`${inWords(answer)}, ${later}`));
      if (answer.kind !== "data") return undecided(answer);
      return answer.data.payoutId === payoutId
        ? holds(`The API returned the existing payout ${later}.`)
        : refuted(`The API created a second payout, ${answer.data.payoutId}, ${later}.`);
    },
  },
];

/** `createdAt` may count whole seconds, as `Date` does. */
const unsureMs = 5_000;

/**
 * Tries all of them, one after the other.
 *
 * @throws Failure `access` or `unreachable` if the API cannot be used at all
 */
export async function* verify(trial: Trial): AsyncIterable<Result> {
  for (const fixture of [trial.methods, trial.payout])
    await fixture().catch((error: unknown) => {
      if (endsAll(error) || (error instanceof Failure && error.kind === "access")) throw error;
    });
  for (const { check, guard = null, ...assumption } of assumptions) {
    const found = await check(trial).catch((error: unknown) => {
      if (endsAll(error) || !(error instanceof Failure)) throw error;
      const { hint = "Fix the cause, then run the same command again." } = error.details;
      return { verdict: "undecided" as const, seen: whatHappened(error), hint };
    });
    const { otherwise } = assumption;
    yield { ...assumption, guard, hint: found.verdict === "refuted" ? otherwise : null, ...found };
  }
}

/** True for an error after which nothing else can be tried. */
function endsAll(error: unknown): boolean {
  if (!(error instanceof Failure)) return true;
  const { kind, reason } = error;
  return (
    ["interrupted", "internal", "locked"].includes(kind) ||
    ["api.unreachable", "run.timeout", "clock.differs", "ledger.not-recorded"].includes(reason)
  );
}

async function unchangedBy(
  trial: Trial,
  change: Partial<Parameters<Trial["send"]>[0]>,
): Promise<Seen> {
  const { order, payoutId, record } = await trial.payout();
  const before = dataOf(record);
  const { answer } = await trial.send({ ...order, ...change });
  if (answer.kind === "data" && answer.data.payoutId !== payoutId)
    return refuted(`The API created a second payout, ${answer.data.payoutId}.`);
  const after = dataOf(await requestRecord("payout", payoutId, trial.deps));
  const changed = (["amount", "recipientNumber"] as const)
    .filter((name) => name in change && after[name] !== before[name])
    .map((name) => `${name} was ${before[name]} and is ${after[name]}`);
  if (changed.length > 0) return refuted(`The payout changed: ${changed.join(", ")}.`);
  if (answer.kind === "refused" && isFromApi("payout", answer))
    return holds(sentence(`${inWords(answer)}; the payout is unchanged`));
  if (answer.kind !== "data") return undecided(answer);
  return answer.data.amount === before.amount
    ? holds("The API returned the existing payout, unchanged.")
    : refuted(`The response shows the amount ${answer.data.amount}; the payout is unchanged.`);
}

function createdNothing({ wrong, right }: Awaited<ReturnType<Trial["wrongSignature"]>>): Seen {
  if (!right) return refuted("The API accepted it, and created a payout.");
  if (wrong.answer.kind === "data") throw new TypeError("an accepted request with a second one");
  if (right.answer.kind !== "data") return undecided(right.answer);
  return right.isOfWrong
    ? refuted(`The rejected request created payout ${right.answer.data.payoutId}.`)
    : holds(sentence(`${inWords(wrong.answer)}; the right payout is new`));
}

async function recordShape(trial: Trial, kind: Resource, id: string, names: string) {
  const answer = await requestRecord(kind, id, trial.deps);
  return shapeOf(answer, `${names} status createdAt updatedAt`);
}

/** Every documented field has to be a text; only amounts are none, without which no response is valid. */
function shapeOf(answer: Answer, names: string): Seen {
  if (answer.kind === "unclear" && answer.why === "wrong shape")
    return refuted(sentence(inWords(answer)));
  const data = dataOf(answer);
  const records = Array.isArray(data) ? data : [data];
  const problems = records.flatMap((record: unknown) =>
    names.split(" ").flatMap((name) => {
      const value = isObject(record) ? record[name] : undefined;
      if (typeof value !== "string") return `${name} is missing`;
      const isTime = name === "createdAt" || name === "updatedAt";
      if (isTime && Number.isNaN(Date.parse(value))) return `${name} is not a time: ${value}`;
      const isStatus = name !== "status" || statuses.some((one) => one === value);
      return isStatus ? [] : `the status ${value} is not documented`;
    }),
  );
  return problems.length > 0
    ? refuted(sentence([...new Set(problems)].join(", ")))
    : holds("All fields are there.");
}

function rejectionIn(error: unknown): Failure {
  if (error instanceof Failure && error.kind === "refused") return error;
  throw error;
}

function holds(seen: string): Seen {
  return { verdict: "holds", seen };
}

function refuted(seen: string): Seen {
  return { verdict: "refuted", seen };
}

function skipped(seen: string): Seen {
  return { verdict: "skipped", seen };
}

function undecided(answer: Exclude<Answer, { kind: "data" }>): Seen {
  return { verdict: "undecided", seen: sentence(inWords(answer)) };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
