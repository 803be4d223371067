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
    change.run(now, JSON.stringify(settled.map((one) => valuesOf(one, worker))));
    history.add(
      now,
      settled.map((one) => outcomeEvent(one, worker)),
    );
  };
}

const changeInSql = `
  UPDATE operations SET state = value ->> 1, remote_id = coalesce(value ->> 2, remote_id),
    status = coalesce(value ->> 3, status), code = value ->> 4,
    message = CASE state WHEN value ->> 1 THEN coalesce(value ->> 5, message) ELSE value ->> 5 END,
    attempts = attempts + (value ->> 6), updated_at = ?1,
    holder = CASE WHEN value ->> 7 THEN NULL ELSE holder END
  FROM json_each(?2) WHERE number = CAST(value ->> 0 AS INTEGER)`;

/** An outcome as the statement takes it apart. */
function valuesOf({ number, outcome, letGo }: Settled, worker: Worker) {
  const { state, remoteId, status, code, message, sent } = outcome;
  const said = message === undefined ? undefined : worker.scrub(message);
  const texts = [remoteId, status, code, said].map(readable);
  return [String(number), state, ...texts, sent === undefined ? 0 : 1, letGo];
}

/**
 * Half of a character, which JSON can say and a cut can leave, would be no text in SQLite: what reads it
 * there ends the whole process.
 */
function readable(text: string | undefined): string | null {
  return text?.toWellFormed() ?? null;
}

/** The service may have sent a secret back. */
function outcomeEvent({ number, outcome }: Settled, worker: Worker) {
  const event = outcome.sent === undefined ? "look" : "attempt";
  return { operation: number, event, data: worker.scrub(JSON.stringify(outcome)) };
}
