import { accountInSql } from "./account.ts";
import { type Batches, openBatches } from "./batches.ts";
import { type Callbacks, openCallbacks } from "./callbacks.ts";
import type { Database, Row } from "./database.ts";
import { openHistory } from "./history.ts";
import { openListing } from "./listing.ts";
import { openLookups } from "./lookups.ts";
import type { Holder, Intent, Operation, Outcome } from "./operation.ts";
import { operationOf } from "./rows.ts";
import { migrate } from "./schema.ts";
import { openSimilar } from "./similar.ts";
import type { Worker } from "./worker.ts";
import { openWriting, type Settled } from "./writing.ts";

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
  | ({ kind: "settle" } & Settled);
/** What came of it: a claim has an answer. */
export type Changed = Claim | undefined;

/** The durable record of everything this machine sent; the only list there is. */
export type Ledger = ReturnType<typeof openLedger>;

/** Opens the ledger over a database. Every change is one transaction, durable when it returns. */
export function openLedger(database: Database, worker: Worker) {
  migrate(database);
  const history = openHistory(database, worker);
  const writing = openWriting(database, worker, history);
  const { baseUrl, keyId } = worker.owner;
  const byReference = database.prepare(
    `SELECT * FROM operations WHERE account = ${accountInSql} AND reference = ?`,
  );
  const byNumber = database.prepare("SELECT * FROM operations WHERE number = ?");
  const one = (row: Row | undefined): Operation => {
    if (!row) throw new Error("the ledger lost an operation that it just had");
    return operationOf(row, worker.owner);
  };

  /** Several changes as one; what is let go of is free for what is claimed. */
  function apply(changes: Change[]): Changed[] {
    writing.settle(changes.filter((change) => change.kind === "settle"));
    const intents = changes.flatMap((one) => (one.kind === "claim" ? [one.intent] : []));
    const begun = writing.begin(intents).values();
    return changes.map((change) => {
      if (change.kind === "settle") return undefined;
      return claim(change.intent, begun.next().value);
    });
  }

  /** What was not begun is in the ledger already. */
  function claim(
    { reference, fingerprint }: Intent & { reference: string },
    begun: Operation | undefined,
  ): Claim {
    if (begun) return { kind: "new", operation: begun };
    const operation = one(byReference.get(baseUrl, keyId, reference));
    if (operation.fingerprint !== fingerprint) return { kind: "other", operation };
    if (operation.holder && worker.isAlive(operation.holder)) {
      return { kind: "held", operation, by: operation.holder };
    }
    if (!isOpen(operation)) return { kind: "known", operation };
    writing.take(operation.number);
    if (operation.state !== "UNCERTAIN" && operation.state !== "INTENT")
      writing.reopen(operation.number);
    return { kind: "resumed", operation };
  }

  const similar = openSimilar(database, worker.owner);
  let batches: Batches | undefined;
  let callbacks: Callbacks | undefined;
  return {
    ...openLookups(database, worker.owner),
    ...openListing(database, worker.owner),
    ...similar,
    historyOf: history.of,
    verify: history.verify,

    /** The batches of the account; opened when they are first asked for. */
    batches: (): Batches => {
      batches ??= openBatches(database, worker);
      return batches;
    },

    /** The callbacks of the account; opened when they are first asked for. */
    callbacks: (): Callbacks => {
      callbacks ??= openCallbacks(database, worker);
      return callbacks;
    },

    /**
     * Writes down an intent that has no reference. `check` sees what there was before (of the same
     * target, or the same request) in the same transaction, and throws to forbid it.
     */
    begin: (intent: Intent, check: (before: Operation[]) => void): Operation =>
      database.transaction(() => {
        check(similar.similarTo(intent));
        const [operation] = writing.begin([intent]);
        if (!operation) throw new Error("the ledger made an id that it has already");
        return operation;
      }),

    /** Asks for a reference: one process at a time, one fingerprint for ever (I2, I3). */
    claim: (intent: Intent & { reference: string }): Claim =>
      database.transaction(() => claim(intent, writing.begin([intent])[0])),

    /** The process that works on an operation, where one still does. */
    holderOf: ({ number }: Operation): Holder | undefined => {
      const { holder } = one(byNumber.get(number));
      return holder && worker.isAlive(holder) ? holder : undefined;
    },

    /** Writes down what came of an attempt. `letGo`: nobody works on it any longer. */
    settle: ({ number }: Operation, outcome: Outcome, { letGo }: { letGo: boolean }): void =>
      database.transaction(() => writing.settle([{ number, outcome, letGo }])),

    /** Several changes as one: all of them durable when it returns, or none. */
    apply: (changes: Change[]): Changed[] => database.transaction(() => apply(changes)),
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
