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

/** A change that can share a commit with others. */
export type Change =
  | { kind: "claim"; intent: Intent & { reference: string } }
  | { kind: "settle"; number: bigint; outcome: Outcome; letGo: boolean };
/** What came of it: a claim has an answer. */
export type Changed = Claim | undefined;

/** The durable record of everything this machine sent; the only list there is. */
export type Ledger = ReturnType<typeof openLedger>;

/** Opens the ledger over a database. Every change is one transaction, durable when it returns. */
export function openLedger(database: Database, worker: Worker) {
  migrate(database);
  const chain = openChain(database);
  const { baseUrl, keyId } = worker.owner;
  // The same payout in place of one that was cancelled is a new decision; both are linked (P24).
  const insert = database.prepare(
    `INSERT INTO operations (id, kind, profile, environment, base_url, key_id, reference, fingerprint,
       amount_paisa, target, asked, state, attempts, user, command, created_at, updated_at, holder)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,
       coalesce(?, (SELECT id FROM operations WHERE base_url = ? AND key_id = ? AND kind = 'payout'
         AND fingerprint = ? AND status = 'Cancelled' AND ? = 'payout' ORDER BY number DESC LIMIT 1)),
       ?, 'INTENT', 0, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING RETURNING number, target`,
  );
  const byReference = database.prepare(
    "SELECT * FROM operations WHERE base_url = ? AND key_id = ? AND reference = ?",
  );
  const byNumber = database.prepare("SELECT * FROM operations WHERE number = ?");
  const hold = database.prepare("UPDATE operations SET holder = ? WHERE number = ?");
  const reopen = database.prepare(
    "UPDATE operations SET state = 'INTENT', updated_at = ? WHERE number = ?",
  );
  const change = database.prepare(
    `UPDATE operations SET state = ?, remote_id = coalesce(?, remote_id), status = coalesce(?, status),
       code = ?, message = ?, attempts = attempts + ?, updated_at = ?,
       holder = CASE ? WHEN 'held' THEN holder END
     WHERE number = ?`,
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

  /** Undefined where there is an operation of this reference already. */
  function begin(intent: Intent): Operation | undefined {
    const { profile, environment } = worker.owner;
    const { user, command } = worker;
    const { kind, reference, fingerprint, amountPaisa, asked } = intent;
    const id = worker.newId();
    const now = at();
    const holder = { ...worker.holder, since: now };
    const times = { createdAt: now, updatedAt: now, holder };
    const values: Value[] = [
      ...[id, kind, profile, environment, baseUrl, keyId, reference, fingerprint, amountPaisa],
      ...[intent.target, baseUrl, keyId, fingerprint, kind],
      ...[JSON.stringify(asked), user, command, now, now, JSON.stringify(holder)],
    ];
    const row = insert.get(...values);
    if (!row) return undefined;
    const number = BigInt(row.number ?? 0n);
    const target = row.target === null ? null : String(row.target);
    record(number, "intent", {
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
    return { ...intent, ...untried, id, number, target, user, command, ...worker.owner, ...times };
  }

  function claim(intent: Intent & { reference: string }): Claim {
    const begun = begin(intent);
    if (begun) return { kind: "new", operation: begun };
    const operation = one(byReference.get(baseUrl, keyId, intent.reference));
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
  }

  function settle(number: bigint, outcome: Outcome, letGo: boolean): undefined {
    const { state, remoteId = null, status = null, code = null, message = null } = outcome;
    const said = message === null ? null : worker.scrub(message);
    const isAttempt = outcome.sent === undefined ? 0n : 1n;
    const held = letGo ? "free" : "held";
    change.run(state, remoteId, status, code, said, isAttempt, at(), held, number);
    record(number, isAttempt ? "attempt" : "look", outcome);
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

    /**
     * Writes down an intent that has no reference. `check` sees what there was before (of the same
     * target, or the same request) in the same transaction, and throws to forbid it.
     */
    begin: (intent: Intent, check: (before: Operation[]) => void): Operation =>
      database.transaction(() => {
        check(listing.similarTo(intent));
        const operation = begin(intent);
        if (!operation) throw new Error("the ledger made an id that it has already");
        return operation;
      }),

    /** Asks for a reference: one process at a time, one fingerprint for ever (I2, I3). */
    claim: (intent: Intent & { reference: string }): Claim =>
      database.transaction(() => claim(intent)),

    /** The process that works on an operation, where one still does. */
    holderOf: ({ number }: Operation): Holder | undefined => {
      const { holder } = one(byNumber.get(number));
      return holder && worker.isAlive(holder) ? holder : undefined;
    },

    /** Writes down what came of an attempt. `letGo`: nobody works on it any longer. */
    settle: ({ number }: Operation, outcome: Outcome, { letGo }: { letGo: boolean }): void =>
      database.transaction(() => settle(number, outcome, letGo)),

    /** Several changes as one: all of them durable when it returns, or none. */
    apply: (changes: Change[]): Changed[] =>
      database.transaction(() =>
        changes.map((change) =>
          change.kind === "claim"
            ? claim(change.intent)
            : settle(change.number, change.outcome, change.letGo),
        ),
      ),
  };
}

/** What an operation is before anything came of it. */
const untried = {
  state: "INTENT",
  remoteId: null,
  status: null,
  code: null,
  message: null,
  attempts: 0,
} as const;

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
