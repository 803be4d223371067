import { makeAccount } from "./account.ts";
import type { Database, Row } from "./database.ts";
import type { History } from "./history.ts";
import type { Holder, Intent, Operation, Outcome } from "./operation.ts";
import type { Worker } from "./worker.ts";

/** What came of an operation; `letGo`: nobody works on it any longer. */
export interface Settled {
  number: bigint;
  outcome: Outcome;
  letGo: boolean;
}

/**
 * Writes operations and their history, inside a transaction. All changes of a moment
 * go into one statement of each kind: to call SQLite costs more than what it does then.
 */
export function openWriting(database: Database, worker: Worker, history: History) {
  const { profile, environment, baseUrl, keyId } = worker.owner;
  const { user, command } = worker;
  // The same payout in place of one that was cancelled is a new decision; both are linked (P24).
  const insert = database.prepare(
    `INSERT INTO operations (id, kind, profile, environment, account, reference, fingerprint,
       amount_paisa, target, asked, state, attempts, user, command, created_at, updated_at, holder)
     SELECT value ->> 0, value ->> 1, ?1, ?2, account.number, value ->> 2, value ->> 3,
       CAST(value ->> 4 AS INTEGER),
       coalesce(value ->> 5, (SELECT id FROM operations o WHERE o.account = account.number
         AND kind = 'payout' AND fingerprint = value ->> 3 AND status = 'Cancelled'
         AND value ->> 1 = 'payout' ORDER BY number DESC LIMIT 1)),
       value ->> 6, 'INTENT', 0, ?5, ?6, ?7, ?7, ?8
     FROM (SELECT number FROM accounts WHERE base_url = ?3 AND key_id = ?4) account, json_each(?9)
     WHERE true
     ON CONFLICT DO NOTHING RETURNING number, id, target`,
  );
  const change = database.prepare(
    `UPDATE operations SET state = value ->> 1, remote_id = coalesce(value ->> 2, remote_id),
       status = coalesce(value ->> 3, status), code = value ->> 4, message = value ->> 5,
       attempts = attempts + (value ->> 6), updated_at = ?1,
       holder = CASE WHEN value ->> 7 THEN NULL ELSE holder END
     FROM json_each(?2) WHERE number = CAST(value ->> 0 AS INTEGER)`,
  );
  const hold = database.prepare("UPDATE operations SET holder = ? WHERE number = ?");
  const reopen = database.prepare(
    "UPDATE operations SET state = 'INTENT', updated_at = ? WHERE number = ?",
  );
  const at = () => new Date(worker.now()).toISOString();

  return {
    /** In their order; undefined where there is an operation of the reference already. */
    begin(intents: Intent[]): (Operation | undefined)[] {
      if (intents.length === 0) return [];
      makeAccount(database, worker.owner);
      const now = at();
      const holder = { ...worker.holder, since: now };
      const ids = intents.map(() => worker.newId());
      const rows = insert.all(
        ...[profile, environment, baseUrl, keyId, user, command, now, JSON.stringify(holder)],
        JSON.stringify(intents.map((intent, index) => valuesOf(intent, ids[index] ?? ""))),
      );
      const made = new Map(rows.map((row) => [String(row.id), row]));
      const begun = intents.map((intent, index) => {
        const row = made.get(ids[index] ?? "");
        return row && begunOf(intent, row, now, holder);
      });
      history.add(now, begun.filter((one) => one !== undefined).map(intentEvent));
      return begun;
    },

    settle(settled: Settled[]): void {
      if (settled.length === 0) return;
      const now = at();
      change.run(now, JSON.stringify(settled.map(endOf)));
      history.add(now, settled.map(outcomeEvent));
    },

    /** This process works on it from now on. */
    take(number: bigint): void {
      hold.run(JSON.stringify({ ...worker.holder, since: at() }), number);
    },

    /** It may be sent again, although it had ended. */
    reopen(number: bigint): void {
      reopen.run(at(), number);
      history.add(at(), [{ operation: number, event: "reopened", data: { state: "INTENT" } }]);
    },
  };

  /** Written out: V8 takes twenty microseconds to spread as many objects into one. */
  function begunOf(
    { kind, reference, fingerprint, amountPaisa, asked }: Intent,
    { id, number, target }: Row,
    createdAt: string,
    holder: Holder,
  ): Operation {
    return {
      number: BigInt(number ?? 0n),
      id: String(id),
      kind,
      reference,
      fingerprint,
      amountPaisa,
      target: target === null || target === undefined ? null : String(target),
      asked,
      state: "INTENT",
      remoteId: null,
      status: null,
      code: null,
      message: null,
      attempts: 0,
      createdAt,
      updatedAt: createdAt,
      holder,
      user,
      command,
      profile,
      environment,
      baseUrl,
    };
  }

  function endOf({ number, outcome, letGo }: Settled) {
    const { state, remoteId = null, status = null, code = null, message = null, sent } = outcome;
    const said = message === null ? null : worker.scrub(message);
    return [String(number), state, remoteId, status, code, said, sent === undefined ? 0 : 1, letGo];
  }
}

function valuesOf(intent: Intent, id: string) {
  const { kind, reference, fingerprint, amountPaisa, target, asked } = intent;
  const amount = amountPaisa === null ? null : String(amountPaisa);
  return [id, kind, reference, fingerprint, amount, target, JSON.stringify(asked)];
}

/** What the history keeps of it: all that must never change later. */
function intentEvent(operation: Operation) {
  const { id, kind, reference, fingerprint, target, asked, user, command } = operation;
  const amountPaisa = operation.amountPaisa?.toString() ?? null;
  return {
    operation: operation.number,
    event: "intent",
    data: { id, kind, reference, fingerprint, amountPaisa, target, asked, user, command },
  };
}

function outcomeEvent({ number, outcome }: Settled) {
  const event = outcome.sent === undefined ? "look" : "attempt";
  return { operation: number, event, data: outcome };
}
