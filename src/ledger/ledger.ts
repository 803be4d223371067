import { type Batches, openBatches } from "./batches.ts";
import { openChain } from "./chain.ts";
import type { Database, Row, Value } from "./database.ts";
import { openListing } from "./listing.ts";
import type { Holder, Intent, Operation, Outcome, Owner } from "./operation.ts";
import { operationOf } from "./rows.ts";
import { migrate } from "./schema.ts";

/** Who works, when, and how to tell whether another process still does. */
export interface Worker {
  owner: Owner;
  user: string;
  /** The command line's name, without its arguments: they may hold anything. */
  command: string;
  holder: Omit<Holder, "since">;
  now(): number;
  newId(): string;
  /** Whether the process that holds an operation still runs. */
  isAlive(holder: Holder): boolean;
  /** Takes secrets out of what the service said: it may have sent one back. */
  scrub(text: string): string;
}

/** What came of asking for an operation. */
export type Claim =
  | { kind: "new"; operation: Operation }
  /** It was begun before and may go on; nobody else works on it. */
  | { kind: "resumed"; operation: Operation }
  /** It is known, and its outcome is certain. */
  | { kind: "known"; operation: Operation }
  /** The reference belongs to something else. */
  | { kind: "other"; operation: Operation }
  | { kind: "held"; operation: Operation; by: Holder };

/** The durable record of everything this machine sent; the only list there is. */
export type Ledger = ReturnType<typeof openLedger>;

/** Opens the ledger over a database. Every change is one transaction, durable when it returns. */
export function openLedger(database: Database, worker: Worker) {
  migrate(database);
  const chain = openChain(database);
  const { baseUrl, keyId } = worker.owner;
  const insert = database.prepare(
    `INSERT INTO operations (id, kind, profile, environment, base_url, key_id, reference, fingerprint,
       amount_paisa, target, asked, state, attempts, user, command, created_at, updated_at, holder)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'INTENT', 0, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const byReference = database.prepare(
    "SELECT * FROM operations WHERE base_url = ? AND key_id = ? AND reference = ?",
  );
  const cancelled = database.prepare(
    `SELECT id FROM operations WHERE base_url = ? AND key_id = ? AND kind = ? AND fingerprint = ?
       AND status = 'Cancelled' ORDER BY number DESC LIMIT 1`,
  );
  const byNumber = database.prepare("SELECT * FROM operations WHERE number = ?");
  const hold = database.prepare("UPDATE operations SET holder = ? WHERE number = ?");
  const reopen = database.prepare(
    "UPDATE operations SET state = 'INTENT', updated_at = ? WHERE number = ?",
  );
  const change = database.prepare(
    `UPDATE operations SET state = ?, remote_id = coalesce(?, remote_id), status = coalesce(?, status),
       code = ?, message = ?, attempts = attempts + ?, holder = ?, updated_at = ? WHERE number = ?`,
  );

  const at = () => new Date(worker.now()).toISOString();
  const one = (row: Row | undefined): Operation => {
    if (!row) throw new Error("the ledger lost an operation that it just had");
    return operationOf(row);
  };
  const record = (number: bigint, event: string, data: unknown) =>
    chain.append({ operation: number, at: at(), event, data: worker.scrub(JSON.stringify(data)) });
  const take = (number: bigint): void => {
    hold.run(JSON.stringify({ ...worker.holder, since: at() }), number);
  };

  function begin(intent: Intent): Operation {
    const { profile, environment } = worker.owner;
    const values: Value[] = [
      worker.newId(),
      intent.kind,
      profile,
      environment,
      baseUrl,
      keyId,
      intent.reference,
      intent.fingerprint,
      intent.amountPaisa,
      intent.target,
      JSON.stringify(intent.asked),
      worker.user,
      worker.command,
      at(),
      at(),
      JSON.stringify({ ...worker.holder, since: at() }),
    ];
    const operation = one(insert.get(...values));
    const { id, kind, reference, fingerprint, amountPaisa, target, asked, user, command } =
      operation;
    record(operation.number, "intent", {
      id,
      kind,
      reference,
      fingerprint,
      amountPaisa: amountPaisa === null ? null : String(amountPaisa),
      target,
      asked,
      user,
      command,
    });
    return operation;
  }

  /** The same payout in place of one that was cancelled is a new decision; both are linked (P24). */
  function linked(intent: Intent): Intent {
    const replaced = cancelled.get(baseUrl, keyId, intent.kind, intent.fingerprint);
    return replaced ? { ...intent, target: String(replaced.id) } : intent;
  }

  const listing = openListing(database, worker.owner);
  let batches: Batches | undefined;
  return {
    ...listing,
    verify: () => chain.verify(),

    /** The batches of the account; opened when they are first asked for. */
    batches: (): Batches => {
      batches ??= openBatches(database, worker);
      return batches;
    },

    /** Several changes as one: all of them durable when it returns, or none. */
    together: <Result>(changes: () => Result): Result => database.transaction(changes),

    /**
     * Writes down an intent that has no reference. `check` sees what there was before (of the same
     * target, or the same request) in the same transaction, and throws to forbid it.
     */
    begin: (intent: Intent, check: (before: Operation[]) => void): Operation =>
      database.transaction(() => {
        check(listing.similarTo(intent));
        return begin(intent);
      }),

    /** Asks for a reference: one process at a time, one fingerprint for ever (I2, I3). */
    claim: (intent: Intent & { reference: string }): Claim =>
      database.transaction(() => {
        const row = byReference.get(baseUrl, keyId, intent.reference);
        if (!row) return { kind: "new", operation: begin(linked(intent)) };
        const operation = operationOf(row);
        if (operation.fingerprint !== intent.fingerprint) return { kind: "other", operation };
        if (operation.holder && worker.isAlive(operation.holder)) {
          return { kind: "held", operation, by: operation.holder };
        }
        if (!isOpen(operation)) return { kind: "known", operation };
        take(operation.number);
        if (operation.state !== "UNCERTAIN" && operation.state !== "INTENT") {
          reopen.run(at(), operation.number);
          record(operation.number, "reopened", { state: "INTENT" });
        }
        return { kind: "resumed", operation };
      }),

    /** The process that works on an operation, where one still does. */
    holderOf: ({ number }: Operation): Holder | undefined => {
      const { holder } = one(byNumber.get(number));
      return holder && worker.isAlive(holder) ? holder : undefined;
    },

    /** Writes down what came of an attempt. `letGo`: nobody works on it any longer. */
    settle: ({ number }: Operation, outcome: Outcome, { letGo }: { letGo: boolean }): Operation =>
      database.transaction(() => {
        const before = one(byNumber.get(number));
        const { state, remoteId = null, status = null, code = null, message = null } = outcome;
        const said = message === null ? null : worker.scrub(message);
        const isAttempt = outcome.sent === undefined ? 0n : 1n;
        const holder = letGo || !before.holder ? null : JSON.stringify(before.holder);
        change.run(state, remoteId, status, code, said, isAttempt, holder, at(), number);
        record(number, isAttempt ? "attempt" : "look", outcome);
        return one(byNumber.get(number));
      }),
  };
}

/**
 * Whether it may be sent again with the same reference. A refusal for want of access said nothing
 * about the payout itself; any other one retires the reference (P17).
 */
function isOpen({ state, code }: Operation): boolean {
  return (
    ["INTENT", "NOT_SENT", "UNCERTAIN"].includes(state) ||
    (state === "REFUSED" && code === "access")
  );
}
