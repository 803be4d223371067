import type { Resource } from "../domain/statuses.ts";
import type { Database } from "../platform/sqlite/database.ts";
import type { Random } from "./random.ts";
import {
  type PaymentDetails,
  type Payout,
  type PayoutDetails,
  paymentKind,
  payoutKind,
  type Refund,
  type RefundDetails,
  refundKind,
  text,
  whole,
} from "./records.ts";
import { openTable, type Table, type TableOptions } from "./table.ts";

/** All that the sandbox remembers: in memory, or in a file that outlives it. */
export interface Store {
  account: Account;
  payments: Table<PaymentDetails>;
  payouts: Table<PayoutDetails>;
  refunds: Table<RefundDetails>;
  /** The payout that has this reference: what makes creation idempotent (service.md §4). */
  payoutOf(merchantRef: string): Payout | undefined;
  /** What is refunded of a payment or about to be: Processing and Completed refunds. */
  refundedPaisa(transactionId: string): bigint;
  /** Cancels a refund, with a note in place of the old one; undefined when it cannot be. */
  cancelRefund(id: string, note: string | undefined): Refund | undefined;
  /** An id that no record has yet, of the look `TX8F3K2Q9A0B`. */
  newId(prefix: "TX" | "PO" | "RF"): string;
  /** Tells of every record that leaves `Processing`; ends with what it returns. */
  onMove(listener: MoveListener): () => void;
  /** All of it or nothing, also beside another sandbox on the same file. */
  transaction: Database["transaction"];
  close(): void;
}

type MoveListener = (kind: Resource, id: string) => void;

/** Both secrets of the one account; a data file keeps them over a restart. */
export interface Account {
  apiKey: string;
  payoutSecret: string;
}

export interface StoreOptions extends TableOptions {
  ids: Random;
  /** The account of a sandbox that has none yet. */
  newAccount: Account;
}

export function openStore({ ids, newAccount, ...options }: StoreOptions): Store {
  const { database } = options;
  const account = database.transaction(() => openAccount(database, newAccount));
  const listeners = new Set<MoveListener>();
  const moved = (kind: Resource) => (id: string) => {
    for (const listener of listeners) listener(kind, id);
  };
  const payments = openTable(paymentKind, options, moved("payment"));
  const payouts = openTable(payoutKind, options, moved("payout"));
  const refunds = openTable(refundKind, options, moved("refund"));
  const byReference = database.prepare("SELECT id FROM payouts WHERE merchantRef = ?");
  const refunded = database.prepare(
    "SELECT coalesce(sum(amountPaisa), 0) AS paisa FROM refunds " +
      "WHERE transactionId = ? AND status <> 'Cancelled'",
  );
  database.exec("CREATE INDEX IF NOT EXISTS refundsOfPayment ON refunds (transactionId)");
  const replaceNote = database.prepare("UPDATE refunds SET note = ? WHERE id = ?");
  const tables = { TX: payments, PO: payouts, RF: refunds };

  return {
    account,
    payments,
    payouts,
    refunds,
    payoutOf(merchantRef) {
      const row = byReference.get(merchantRef);
      return row && payouts.find(text(row.id));
    },
    refundedPaisa: (transactionId) => whole(refunded.get(transactionId)?.paisa),
    cancelRefund: (id, note) =>
      database.transaction(() => {
        if (!refunds.move(id, "Cancelled")) return undefined;
        if (note !== undefined) replaceNote.run(note, id);
        return refunds.find(id);
      }),
    newId(prefix) {
      for (;;) {
        const id = `${prefix}${ids.letters(12)}`;
        // The ids in the service's own examples hold a digit: they are no words. And a seeded sandbox that
        // is restarted on its old file meets its own ids again.
        if (/\d/.test(id) && !tables[prefix].find(id)) return id;
      }
    },
    onMove(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    transaction: database.transaction,
    close: database.close,
  };
}

function openAccount(database: Database, made: Account): Account {
  database.exec("CREATE TABLE IF NOT EXISTS account (apiKey TEXT, payoutSecret TEXT) STRICT");
  const row = database.prepare("SELECT apiKey, payoutSecret FROM account").get();
  if (row) return { apiKey: text(row.apiKey), payoutSecret: text(row.payoutSecret) };
  database.prepare("INSERT INTO account VALUES (?, ?)").run(made.apiKey, made.payoutSecret);
  return made;
}
