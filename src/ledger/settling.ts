import { forgetsIds } from "../contract/url.ts";
import type { Database } from "../sqlite/database.ts";
import type { History } from "./history.ts";
import type { Outcome } from "./operation.ts";
import { nowIn, type Worker } from "./worker.ts";

/** What came of an operation; `letGo`: nobody works on it any longer. */
export interface Settled {
  number: bigint;
  outcome: Outcome;
  letGo: boolean;
}

/** Another operation has the id that was to be recorded: the outcome was recorded as UNCERTAIN (I10). */
export interface Taken {
  kind: "taken";
  /** The operation that has it. */
  by: string;
}

/**
 * Writes down what came of operations, inside a transaction. All of a moment go into one
 * statement: to call SQLite costs more than what it does then.
 */
export function openSettling(database: Database, worker: Worker, history: History) {
  const change = database.prepare(changeInSql);
  const holders = database.prepare(holdersInSql);
  const idOf = database.prepare("SELECT id FROM operations WHERE number = ?");

  /** Who has the id of each outcome, in their order; undefined if it is free, or is the operation's own. */
  function holdersOf(settled: Settled[]): (string | undefined)[] {
    const confirmed = settled.filter(isConfirmed);
    if (confirmed.length === 0 || forgetsIds(worker.owner)) return settled.map(() => undefined);
    const asked = confirmed.map(({ number, outcome }) => [String(number), outcome.remoteId]);
    const rows = holders.all(JSON.stringify(asked));
    const taken = new Map(rows.map(({ number, id }) => [String(number), String(id)]));
    // Two rows of a batch share a commit, and neither is in the ledger yet.
    const first = new Map<string | undefined, bigint>();
    return settled.map((one) => {
      const holder = taken.get(String(one.number));
      if (holder !== undefined || !isConfirmed(one)) return holder;
      const before = first.get(one.outcome.remoteId) ?? one.number;
      first.set(one.outcome.remoteId, before);
      return before === one.number ? undefined : String(idOf.get(before)?.id);
    });
  }

  function settle(given: Settled[]): (Taken | undefined)[] {
    if (given.length === 0) return [];
    worker.assertSeen();
    const now = nowIn(worker);
    const takenBy = holdersOf(given);
    const settled = given.map((one, index) => withoutTaken(one, takenBy[index]));
    const clean = settled.map((one) => cleanOf(one, worker));
    change.run(now, JSON.stringify(clean.map(valuesOf)));
    history.add(now, clean.map(outcomeEvent));
    return takenBy.map((by) => (by === undefined ? undefined : { kind: "taken", by }));
  }

  return { settle, holderOfId: (one: Settled) => holdersOf([one])[0] };
}

function isConfirmed({ outcome }: Settled): boolean {
  return outcome.state === "CONFIRMED" && outcome.remoteId !== undefined;
}

/** I10: what names another operation's record says nothing about this one. */
function withoutTaken(settled: Settled, by: string | undefined): Settled {
  if (by === undefined) return settled;
  const { remoteId = "", sent } = settled.outcome;
  const outcome: Outcome = {
    state: "UNCERTAIN",
    code: "uncertain",
    message: `The response names ${remoteId}, which belongs to ${by}.`,
    otherId: remoteId,
    ...(sent === undefined ? {} : { sent }),
  };
  return { ...settled, outcome };
}

const holdersInSql = `
  SELECT own.number, min(other.id) AS id
  FROM json_each(?) CROSS JOIN operations own ON own.number = CAST(value ->> 0 AS INTEGER)
    CROSS JOIN operations other ON other.account = own.account AND other.remote_id = value ->> 1
      AND other.kind = own.kind AND other.number != own.number
  GROUP BY own.number`;

const changeInSql = `
  UPDATE operations SET state = value ->> 1, remote_id = coalesce(value ->> 2, remote_id),
    status = coalesce(value ->> 3, status), code = value ->> 4,
    message = CASE state WHEN value ->> 1 THEN coalesce(value ->> 5, message) ELSE value ->> 5 END,
    attempts = attempts + (value ->> 6), updated_at = ?1,
    holder = CASE WHEN value ->> 7 THEN NULL ELSE holder END
  FROM json_each(?2) WHERE number = CAST(value ->> 0 AS INTEGER)`;

/** What came of an operation, without the secrets that the service may have sent back in any text of it. */
interface Clean extends Settled {
  /** The outcome as JSON. */
  data: string;
  clean(text: string): string;
}

function cleanOf(settled: Settled, { scrub }: Worker): Clean {
  const text = JSON.stringify(settled.outcome);
  const data = scrub(text);
  // Where the whole holds no secret, no part of it does.
  return { ...settled, data, clean: data === text ? (part) => part : scrub };
}

/** An outcome as the statement takes it apart. */
function valuesOf({ number, outcome, letGo, clean }: Clean) {
  const { state, remoteId, status, code, message, sent } = outcome;
  const texts = [remoteId, status, code, message].map((text) => text && readable(clean(text)));
  return [String(number), state, ...texts, sent === undefined ? 0 : 1, letGo];
}

/**
 * Half of a character, which JSON can say and a cut can leave, would be no text in SQLite: what reads it
 * there ends the whole process.
 */
function readable(text: string): string {
  return text.toWellFormed();
}

function outcomeEvent({ number, outcome, data }: Clean) {
  const event = outcome.sent === undefined ? "look" : "attempt";
  return { operation: number, event, data };
}
