import type { LimitName } from "../../src/domain/limit.ts";
import { payeeOf } from "./repeats.ts";
import type { Universe } from "./universe.ts";
import type { Watch } from "./watch.ts";

/**
 * I13, by what an observer outside of the tool knows: the API's books, and when the ledger took something to send it. It
 * shares no code with the checks of src.
 */

const dayMs = 24 * 3_600_000;
/** Between a claim and its record a payout may take this long: whether it counts then is left open. */
const slackMs = 120_000;

/** The limits of a scenario: amounts in paisa, and `reject`. */
export type SetLimits = Partial<Record<LimitName, string>>;

/** A payout or a refund that is in the books. */
interface Paid {
  id: string;
  isPayout: boolean;
  payee: string;
  paisa: number;
  isAgent: boolean;
  /** When it was last taken to be sent. */
  takenMs: number;
  isUnknown: boolean;
}

/** What is in the books, and what counts of it at this moment, is within every limit. */
export function judgeLimits(limits: SetLimits, universe: Universe, watch: Watch): void {
  const nowMs = universe.timeline.now();
  const all = paidIn(universe, watch);
  const counted = all.filter(({ takenMs, isUnknown }) => isUnknown || takenMs > nowMs - dayMs);
  const payouts = counted.filter(({ isPayout }) => isPayout);
  const within = (limit: LimitName, of: string, some: Paid[]) => {
    const [most, sum] = [limits[limit], some.reduce((paisa, one) => paisa + one.paisa, 0)];
    if (most !== undefined && sum > Number(most))
      universe.report("exceeded", `I13: ${of} are ${sum} paisa, and ${limit} is ${most}`);
  };
  for (const one of all) {
    if (one.isPayout) within("payout", one.id, [one]);
    if (one.isAgent) within("agent-payout", one.id, [one]);
  }
  within("day", "the payouts of a day", payouts);
  within(
    "refund-day",
    "the refunds of a day",
    counted.filter(({ isPayout }) => !isPayout),
  );
  within(
    "agent-day",
    "what agents sent in a day",
    counted.filter(({ isAgent }) => isAgent),
  );
  const made = [...watch.madeAtMs];
  for (const payee of new Set(payouts.map((one) => one.payee))) {
    const isKnown = made.some(
      ([id, atMs]) => atMs <= nowMs - dayMs + slackMs && payeeOfId(id, universe) === payee,
    );
    const theirs = payouts.filter((one) => one.payee === payee);
    if (!isKnown) within("new-recipient", `payouts to the new recipient ${payee}`, theirs);
  }
  if (limits.repeat === "reject") judgeRepetition(payouts, universe);
}

function judgeRepetition(payouts: Paid[], universe: Universe): void {
  for (const [at, one] of payouts.entries())
    for (const other of payouts.slice(at + 1)) {
      const isAlike = one.payee === other.payee && one.paisa === other.paisa;
      const isLater = Math.abs(one.takenMs - other.takenMs) >= dayMs - slackMs;
      if (isAlike && !isLater)
        universe.report("exceeded", `I13: ${one.id} and ${other.id} repeat each other in a day`);
    }
}

function paidIn(universe: Universe, watch: Watch): Paid[] {
  const { payouts, refunds } = universe.service;
  const records = [
    ...payouts.map((one) => ({ ...one, id: one.payoutId, payee: payeeOf(one.recipientNumber) })),
    ...refunds.map((one) => ({ ...one, id: one.refundRequestId, payee: "" })),
  ];
  return records.flatMap(({ id, payee, amount, status }) => {
    const operation = watch.made.get(id)?.operation;
    if (operation === undefined || status === "Cancelled") return [];
    const paisa = Math.round(amount * 100);
    return [{ id, isPayout: payee !== "", payee, paisa, ...takenBy(operation, universe) }];
  });
}

function payeeOfId(id: string, { service }: Universe): string | undefined {
  const record = service.payouts.find(({ payoutId }) => payoutId === id);
  return record && payeeOf(record.recipientNumber);
}

const takings = `SELECT e.at, e.event, json_extract(e.data, '$.actor') AS actor, o.state
  FROM events e JOIN operations o ON o.number = e.operation
  WHERE o.number = ? AND e.event IN ('intent', 'resumed', 'reopened') ORDER BY e.number`;

/** Who sent an operation, and when. Who resumes it continues what another process sent. */
function takenBy(operation: bigint, { disk }: Universe) {
  const rows = disk.durableRows(takings, operation);
  const last = rows.at(-1);
  const judged = rows.findLast(({ event }) => event !== "resumed");
  return {
    takenMs: Date.parse(String(last?.at)),
    isAgent: judged?.actor === "agent",
    isUnknown: ["INTENT", "UNCERTAIN", "CONFLICT"].includes(String(last?.state)),
  };
}
