import type { Paisa } from "../domain/amount.ts";
import { type AmountLimit, amountLimits, type LimitName } from "../domain/limit.ts";
import type { Kind } from "./columns.ts";

/**
 * Limits bound what lenden sends, whoever runs the command. Pure: a store reads the limits and what counts against them
 * under its write lock, and decides here.
 */

/** Those that bound one operation; all others bound the sum of a day. */
const singleLimits = ["payout", "agent-payout"] as const;
export type SumLimit = Exclude<AmountLimit, (typeof singleLimits)[number]>;
export const sumLimits = amountLimits.filter((one): one is SumLimit => !isSingle(one));

function isSingle(limit: AmountLimit): limit is (typeof singleLimits)[number] {
  return singleLimits.some((one) => one === limit);
}

/** The limits of an environment, or in a sandbox of an account. */
export interface Limits {
  amounts: Partial<Record<AmountLimit, Paisa | undefined>>;
  /** True if the same amount to the same recipient is not sent twice within a day, whoever sends it. */
  rejectsRepeats: boolean;
  /** True if a limit was ever set, also if it was removed again. */
  wereSet: boolean;
}

/** A change of a limit; the value of an amount is in paisa, as text, and of `repeat` it is `reject` or `warn`. */
export interface LimitChange {
  name: LimitName;
  /** Null if the limit was removed. */
  value: string | null;
  /** ISO 8601. */
  at: string;
  login: string;
}

/** The limits after their changes, which are in the order in which they were made. */
export function limitsAfter(changes: LimitChange[]): Limits {
  const newest = new Map(changes.map(({ name, value }) => [name, value]));
  const amounts: Limits["amounts"] = {};
  for (const name of amountLimits) {
    const value = newest.get(name);
    if (value != null) amounts[name] = BigInt(value);
  }
  return {
    amounts,
    rejectsRepeats: newest.get("repeat") === "reject",
    wereSet: changes.length > 0,
  };
}

/** What an intent asks for. An amount that cannot be read is above each limit. */
export function askedBy(
  { kind, amountPaisa }: { kind: Kind; amountPaisa: Paisa | null },
  isAgent: boolean,
): Asked {
  const paisa = amountPaisa ?? unreadablePaisa;
  return { kind, sumPaisa: paisa, largestPaisa: paisa, isAgent };
}

/** More than any limit. */
const unreadablePaisa = 10n ** 15n;

/** What is to be sent: a payout or a refund, or all rows of a file. */
export interface Asked {
  kind: Kind;
  sumPaisa: Paisa;
  /** The largest of its rows. */
  largestPaisa: Paisa;
  isAgent: boolean;
}

/** An operation, or the unsent rows of a batch, that counts against limits. */
export interface Use {
  kind: Kind;
  paisa: Paisa;
  isAgent: boolean;
  /** The recipient of a payout, as it is compared; null for the rows of a batch. */
  payee: string | null;
  /** When it was last taken to be sent, ISO 8601; null if it counts until it is resolved or cancelled. */
  takenAt: string | null;
  /** When the API accepted it, ISO 8601: a day later its recipient is no longer new. Null if that is not certain. */
  acceptedAt?: string | null;
  /** The number of an operation. */
  operation?: bigint;
  /** The batch that reserves it, and the profile that planned it. */
  batch?: { number: bigint; id: string; createdAt: string; profile: string };
  /** Planned rows to one recipient: all limits but one count their whole batch. */
  only?: SumLimit;
}

/** What counts against each limit; undefined for `new-recipient` if the recipient is none, or several. */
export type Used = Record<Exclude<SumLimit, "new-recipient">, Paisa> & {
  "new-recipient"?: Paisa | undefined;
};

export const nothingUsed: Used = { day: 0n, "agent-day": 0n, "refund-day": 0n };

/** Who sends something, and where. */
export interface Sender {
  isAgent: boolean;
  isProduction: boolean;
  /** True if the profile remembers that its environment had limits. */
  expectsLimits: boolean;
}

/** The facts about a claim or a plan. */
export interface LimitFacts {
  limits: Limits;
  used: Used;
  /** What counts, one by one: read only if a limit would be exceeded. */
  uses?: Use[] | undefined;
}

/** A limit that an order would exceed. */
export interface Excess {
  limit: AmountLimit;
  allowedPaisa: Paisa;
  /** Null for a limit of one operation. */
  usedPaisa: Paisa | null;
  askedPaisa: Paisa;
  /** When the order would be within the limit, ISO 8601; null if time alone does not free enough. */
  freesAt: string | null;
  /** The batches whose unsent rows count. */
  batches: Use[];
  /** The rows of a file that are above the limit, in its order; none if only all of them together are. */
  rows?: LimitedRow[] | undefined;
}

/** The one that needs the highest limit; of several, the first. */
export function worstOf([first, ...others]: Excess[]): Excess | undefined {
  const neededOf = ({ usedPaisa, askedPaisa }: Excess) => (usedPaisa ?? 0n) + askedPaisa;
  return others.reduce((worst, one) => {
    return worst && neededOf(one) > neededOf(worst) ? one : worst;
  }, first);
}

/** A row of a file that is judged; or of those above a limit: also the first one to a recipient, for all of them. */
export interface LimitedRow {
  line: number;
  recipient: string;
  paisa: Paisa;
}

/** Why limits do not let something be sent. */
export type Denial =
  | { kind: "above-limit"; excess: Excess }
  /** The environment once had limits, and this ledger has none. */
  | { kind: "limits-missing" }
  /** An agent sends nothing in production without limits of its own. */
  | { kind: "agent-without-limits" }
  /** An agent sends no batch that a person planned: its own limits did not judge the rows. */
  | { kind: "not-of-agent"; batch: string }
  /** A plan that was judged by a clock that was ahead, so for another day. */
  | { kind: "planned-ahead"; batch: string; createdAt: string };

/** A row of a file that repeats a payout or another row. `at`: when a person reported that payout as not sent, ISO 8601. */
export interface RepeatingRow {
  line: number;
  at?: string;
}

/** Rows of a file that repeat a payout or each other, which a limit does not allow, or that for agents alone. */
export interface RepeatingRows {
  kind: "repeating-rows";
  lines: number[];
  isOfAgents: boolean;
}

const denialKinds = [
  "above-limit",
  "limits-missing",
  "agent-without-limits",
  "not-of-agent",
  "planned-ahead",
];

export function isDenial(decision: { kind: string }): decision is Denial {
  return denialKinds.includes(decision.kind);
}

/**
 * Why a payout or a refund is not sent, whatever its amount; undefined if there is no such reason.
 */
export function denialOf({ wereSet, amounts }: Limits, sender: Sender): Denial | undefined {
  const { isAgent, isProduction, expectsLimits } = sender;
  if (isProduction && expectsLimits && !wereSet) return { kind: "limits-missing" };
  const isBounded = amounts["agent-payout"] !== undefined && amounts["agent-day"] !== undefined;
  return isProduction && isAgent && !isBounded ? { kind: "agent-without-limits" } : undefined;
}

/** True if an order or a use counts against a limit. */
function isLimitedBy(limit: AmountLimit, { kind, isAgent }: Pick<Asked, "kind" | "isAgent">) {
  if (kind !== "payout" && kind !== "refund") return false;
  if (limit === "agent-payout" || limit === "agent-day") return isAgent;
  return kind === (limit === "refund-day" ? "refund" : "payout");
}

/** True if a use counts against a limit, for an order to a recipient. */
export function counts(limit: SumLimit, use: Use, payee: string | undefined): boolean {
  if (use.only !== undefined && use.only !== limit) return false;
  return isLimitedBy(limit, use) && (limit !== "new-recipient" || use.payee === payee);
}

/**
 * What uses add up to.
 *
 * @param payee the new recipient of a payout
 */
export function usedBy(uses: Use[], payee: string | undefined): Used {
  const sumOf = (limit: SumLimit) =>
    uses.reduce((sum, use) => (counts(limit, use, payee) ? sum + use.paisa : sum), 0n);
  return {
    ...{ day: sumOf("day"), "agent-day": sumOf("agent-day"), "refund-day": sumOf("refund-day") },
    "new-recipient": payee === undefined ? undefined : sumOf("new-recipient"),
  };
}

/**
 * The facts without some uses, which are judged again.
 *
 * @param payee as for `excessOf`
 */
export function withoutUses(
  facts: LimitFacts,
  isJudged: (use: Use) => boolean,
  payee: string | undefined,
): LimitFacts {
  const uses = facts.uses?.filter((use) => !isJudged(use));
  const isNew = facts.used["new-recipient"] !== undefined;
  return uses ? { ...facts, uses, used: usedBy(uses, isNew ? payee : undefined) } : facts;
}

/**
 * The first limit that an order would exceed.
 *
 * @param payee the new recipient of a payout
 */
export function excessOf(
  asked: Asked,
  { limits, used, uses = [] }: LimitFacts,
  payee: string | undefined,
): Excess | undefined {
  for (const limit of amountLimits) {
    const allowedPaisa = limits.amounts[limit];
    if (allowedPaisa === undefined || !isLimitedBy(limit, asked)) continue;
    if (isSingle(limit)) {
      if (asked.largestPaisa <= allowedPaisa) continue;
      const askedPaisa = asked.largestPaisa;
      return { limit, allowedPaisa, usedPaisa: null, askedPaisa, freesAt: null, batches: [] };
    }
    const [usedPaisa, askedPaisa] = [used[limit], asked.sumPaisa];
    if (usedPaisa === undefined || usedPaisa + askedPaisa <= allowedPaisa) continue;
    const counted = uses.filter((use) => counts(limit, use, payee));
    return {
      ...{ limit, allowedPaisa, usedPaisa, askedPaisa },
      freesAt: firstOf([
        freesAt(counted, usedPaisa + askedPaisa - allowedPaisa),
        ...(limit === "new-recipient" ? counted.map(({ acceptedAt }) => endIn(acceptedAt)) : []),
      ]),
      batches: counted.filter(({ batch }) => batch),
    };
  }
  return undefined;
}

const dayMs = 24 * 60 * 60_000;

/** Since when operations count at a moment, ISO 8601. */
export function countedSince(nowMs: number): string {
  return new Date(nowMs - dayMs).toISOString();
}

/** When a use no longer counts, ISO 8601. */
export function endOf(takenAt: string): string {
  return new Date(Date.parse(takenAt) + dayMs).toISOString();
}

function endIn(at: string | null | undefined): string | null {
  return at ? endOf(at) : null;
}

/** The first of some times; null if there is none. */
function firstOf(times: (string | null)[]): string | null {
  return times.reduce(
    (first, one) => (one !== null && (!first || one < first) ? one : first),
    null,
  );
}

/** When uses that end by themselves have freed an amount, ISO 8601; null if they never do. */
export function freesAt(uses: Use[], neededPaisa: Paisa): string | null {
  const ending = uses
    .flatMap(({ takenAt, paisa }) => (takenAt === null ? [] : [{ takenAt, paisa }]))
    .sort((one, other) => (one.takenAt < other.takenAt ? -1 : 1));
  let freed = 0n;
  for (const { takenAt, paisa } of ending) {
    freed += paisa;
    if (freed >= neededPaisa) return endOf(takenAt);
  }
  return null;
}
