import type { Answer } from "../api/response.ts";
import { Failure, whatHappened } from "../domain/failure.ts";
import { isObject } from "../domain/json.ts";
import { statuses } from "../domain/statuses.ts";
import {
  dataOf,
  describe as inWords,
  isFromApi,
  isWaiting,
} from "../operations/response-failure.ts";
import { requestRecord } from "../operations/status.ts";
import { cancelRefund } from "../operations/status-transition.ts";
import type { Result } from "./stored.ts";
import type { Trial } from "./trial.ts";

/** What was seen, in one or two sentences. */
type Seen = Pick<Result, "verdict" | "seen"> & Partial<Pick<Result, "guard" | "hint">>;

type Order = Parameters<Trial["send"]>[0];

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

/** Tries a used reference with something else; undefined if the account has nothing else. */
function reusedWith(
  what: string,
  changed: (trial: Trial) => Promise<Partial<Order> | undefined>,
): Assumption {
  return {
    name: `ref-${what}`,
    expected: `A used reference with another ${what} creates nothing and changes nothing.`,
    tried: `The first payout's reference is sent with another ${what}.`,
    otherwise: notResent,
    guard: "references",
    check: async (trial) => {
      const change = await changed(trial);
      if (change) return unchangedBy(trial, change);
      return { verdict: "skipped", seen: `The account has one ${what}.` };
    },
  };
}

/** Reads all documented fields that are texts; without an amount no response is valid. */
function hasFields(
  what: string,
  names: string,
  answerOf: (trial: Trial) => Promise<Answer>,
): Assumption {
  return {
    name: `${what}-fields`,
    expected: `A ${what} has all documented fields.`,
    tried: `A ${what} is retrieved, and its fields are checked.`,
    otherwise:
      "lenden shows what there is. Without a required field it cannot use the response (exit 69).",
    check: async (trial) => shapeOf(await answerOf(trial), names),
  };
}

/**
 * All of them, in the order in which they are tried: the pause comes last. A new one is an entry here, and a
 * deviation in test/support/fake-api.ts.
 */
const assumptions: Assumption[] = [
  {
    name: "clock",
    expected: "The API's clock and this machine's differ by less than a minute.",
    tried: "The Date header of responses is compared with this machine's clock.",
    otherwise: "Set this machine's clock with NTP. From 4 minutes on, lenden sends no payout.",
    check: async ({ deps }) => {
      const aheadMs = deps.clockAheadMs();
      if (aheadMs === undefined) return refuted("The responses have no Date header.");
      const seen = `The clocks differ by ${Math.round(Math.abs(aheadMs) / 1000)} s.`;
      return Math.abs(aheadMs) <= 60_000 ? holds(seen) : refuted(seen);
    },
  },
  hasFields("method", "id codeName providerName", ({ deps }) => deps.client.listMethods({})),
  hasFields(
    "payout",
    "payoutId merchantRef recipientNumber recipientName description status createdAt updatedAt",
    async (trial) => (await trial.payout()).record,
  ),
  {
    name: "number-format",
    expected: "A recipient's number is returned as it was sent.",
    tried: "The number of that payout is compared.",
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
    tried: "The time of that payout is compared with the Date header.",
    otherwise: "lenden cannot tell a new payout from an old one by its time, and retrieves each.",
    check: async (trial) => {
      const { createdAt, sentMs, receivedMs } = await trial.payout();
      const aheadMs = trial.deps.clockAheadMs();
      if (!createdAt || aheadMs === undefined)
        return refuted("createdAt or the Date header is missing.");
      const createdMs = Date.parse(createdAt) - aheadMs;
      const isBetween = createdMs >= sentMs - unsureMs && createdMs <= receivedMs + unsureMs;
      const byDate = new Date(sentMs + aheadMs).toISOString();
      const seen = `It was created at ${createdAt}; by the Date header at ${byDate}.`;
      return isBetween ? holds(seen) : refuted(seen);
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
    tried: "A payout with a wrong signature is sent, then a correct one with the same reference.",
    otherwise: provesNothing,
    guard: "rejections",
    check: async (trial) => createdNothing(await trial.wrongSignature()),
  },
  {
    name: "bad-method",
    expected: "A rejected payout creates nothing.",
    tried: "A payout with an unknown method is sent, then a correct one with the same reference.",
    otherwise: provesNothing,
    guard: "rejections",
    check: async (trial) => {
      const tried = await trial.unknownMethod();
      if (tried.right) return createdNothing(tried);
      return { verdict: "skipped", seen: "The API accepted an unknown method." };
    },
  },
  {
    name: "rejection-shape",
    expected: "A rejection is a JSON object with a 4xx status.",
    tried: "The responses to the two rejected payouts are checked.",
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
      if (found.length > 0) return holds(`Statuses: ${statuses.join(", ")}.`);
      return { verdict: "skipped", seen: "The API rejected neither payout." };
    },
  },
  hasFields(
    "payment",
    "transactionId description paymentMethod status createdAt updatedAt",
    async (trial) => requestRecord("payment", await trial.payment(), trial.deps),
  ),
  hasFields(
    "refund",
    "refundRequestId transactionId accountType accountNumber note status createdAt updatedAt",
    async (trial) => requestRecord("refund", await trial.refund(), trial.deps),
  ),
  {
    name: "cancel-twice",
    expected: "The API rejects a second cancellation of a refund, and changes nothing.",
    tried: "The refund of this run is cancelled twice.",
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
  reusedWith("amount", async ({ otherAmount }) => ({ amount: otherAmount })),
  reusedWith("recipient", async ({ otherRecipient }) => ({ recipientNumber: otherRecipient })),
  reusedWith("method", async ({ methods }) => {
    const [, other] = await methods();
    return other && { paymentMethodId: other.id };
  }),
  {
    name: "ref-later",
    expected: "The same payout, sent later, returns the existing one.",
    tried: "The first payout is sent again after the pause.",
    otherwise: notResent,
    guard: "references",
    check: async (trial) => {
      await trial.untilPauseIsOver();
      const { order, payoutId, sentMs } = await trial.payout();
      const later = `after ${Math.round((trial.deps.now() - sentMs) / 1000)} s`;
      const { answer } = await trial.send(order);
      if (answer.kind === "refused" && isOwnRejection(answer))
        return refuted(sentence(`${inWords(answer)}, ${later}`));
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
      const { hint = "Fix this problem, then run the same command again." } = error.details;
      return { verdict: "undecided" as const, seen: whatHappened(error), hint };
    });
    const { otherwise } = assumption;
    yield { ...assumption, guard, hint: found.verdict === "refuted" ? otherwise : null, ...found };
  }
}

/** What `verify` would try. */
export function planned(): Result[] {
  return assumptions.map(({ check: _, guard = null, ...assumption }) => ({
    ...assumption,
    guard,
    verdict: "skipped",
    seen: `Would be tried: ${assumption.tried}`,
    hint: null,
  }));
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

async function unchangedBy(trial: Trial, change: Partial<Order>): Promise<Seen> {
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
  if (answer.kind === "refused" && isOwnRejection(answer))
    return holds(sentence(`${inWords(answer)}; the payout is unchanged`));
  if (answer.kind !== "data") return undecided(answer);
  return answer.data.amount === before.amount
    ? holds("The API returned the existing payout, unchanged.")
    : refuted(`The response shows the amount ${answer.data.amount}; the payout is unchanged.`);
}

function createdNothing({ wrong, right }: Awaited<ReturnType<Trial["wrongSignature"]>>): Seen {
  // That the API checks less says nothing about what it rejects.
  if (!right)
    return {
      ...refuted("The API accepted the wrong signature, and created a payout."),
      guard: null,
      hint: "Report this to the payment provider.",
    };
  if (wrong.answer.kind === "data") throw new TypeError("an accepted request with a second one");
  if (right.answer.kind !== "data") return undecided(right.answer);
  if (right.isOfWrong)
    return refuted(`The rejected request created payout ${right.answer.data.payoutId}.`);
  // Only the API's own rejection shows that the API has read the request.
  const { answer } = wrong;
  return answer.kind === "refused" && isFromApi("payout", answer) && !isWaiting(answer)
    ? holds(sentence(`${inWords(answer)}; the correct payout is new`))
    : undecided(answer);
}

function isOwnRejection(answer: Extract<Answer, { kind: "refused" }>): boolean {
  return isFromApi("payout", answer) && (answer.why === "refused" || answer.why === "clash");
}

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
    : holds("All documented fields are present.");
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

function undecided(answer: Exclude<Answer, { kind: "data" }>): Seen {
  return { verdict: "undecided", seen: sentence(inWords(answer)) };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
