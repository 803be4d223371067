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

/**
 * Writes down what came of operations, inside a transaction. All of a moment go into one
 * statement: to call SQLite costs more than what it does then.
 */
export function openSettling(database: Database, worker: Worker, history: History) {
  const change = database.prepare(changeInSql);
  return (settled: Settled[]): void => {
    if (settled.length === 0) return;
    worker.assertSeen();
    const now = nowIn(worker);
    const clean = settled.map((one) => cleanOf(one, worker));
    change.run(now, JSON.stringify(clean.map(valuesOf)));
    history.add(now, clean.map(outcomeEvent));
  };
}

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
