import * as z from "zod/mini";
import type { Endpoint } from "../api/contract/endpoint.ts";
import { contract, type PaymentMethod, type ServiceContract } from "../api/contract/index.ts";
import { paisaOf } from "../domain/amount.ts";
import { type Resource, resources, type Status, statuses } from "../domain/statuses.ts";
import type { Database } from "../platform/sqlite/database.ts";
import type { Random } from "./random.ts";

/** The methods of the sandbox's account. */
export const paymentMethods = [
  { id: "665f1c2ab8e4", providerName: "bKash", codeName: "bkash" },
  { id: "665f1c2ab8e5", providerName: "Nagad", codeName: "nagad" },
  { id: "665f1c2ab8e6", providerName: "Rocket", codeName: "rocket" },
] satisfies PaymentMethod[];

/** The display name of a method; null for one that does not exist any more. */
export function providerName(paymentMethodId: string): string | null {
  return paymentMethods.find(({ id }) => id === paymentMethodId)?.providerName ?? null;
}

/** All that the sandbox remembers: in memory, or in a file that outlives it. */
export type Store = ReturnType<typeof openStore>;

export interface Stored<K extends Resource> {
  id: string;
  status: Status;
  /** ISO 8601, UTC. */
  createdAt: string;
  updatedAt: string;
  /** The request that created it. */
  body: Bodies[K];
}

export type FinalStatus = Exclude<Status, "Processing">;

interface Bodies {
  payment: BodyOf<ServiceContract["createPayment"]>;
  payout: Omit<BodyOf<ServiceContract["createPayout"]>, "timestamp">;
  refund: BodyOf<ServiceContract["createRefund"]>;
}

type BodyOf<E> = E extends Endpoint<infer _Route, infer Body, infer _Data> ? Body : never;

/** A data file keeps both secrets over a restart. */
export interface SandboxAccount {
  apiKey: string;
  payoutSecret: string;
}

export interface StoreOptions {
  database: Database;
  ids: Random;
  /** For a store that has no account yet. */
  newAccount: SandboxAccount;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Decided when a record is read: no timer runs for it, and a restart changes nothing. */
  autoCompleteMs: number | undefined;
  /** True for a record that does not complete by itself. */
  staysProcessing?: ((kind: Resource, body: Bodies[Resource]) => boolean) | undefined;
}

const schema = `
  CREATE TABLE IF NOT EXISTS account (apiKey TEXT, payoutSecret TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS records (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Processing', 'Completed', 'Cancelled')),
    createdAt TEXT NOT NULL,
    updatedAt TEXT NOT NULL,
    amountPaisa INTEGER NOT NULL CHECK (amountPaisa > 0),
    body TEXT NOT NULL,
    merchantRef TEXT UNIQUE, -- of a payout
    transactionId TEXT REFERENCES records (id) -- of a refund
  ) STRICT;
  CREATE INDEX IF NOT EXISTS processing ON records (createdAt) WHERE status = 'Processing';
  CREATE INDEX IF NOT EXISTS refunds ON records (transactionId);
`;

const storedAccount = z.object({ apiKey: z.string(), payoutSecret: z.string() });
const storedId = z.object({ id: z.string(), kind: z.enum(resources) });
const storedPlace = z.object({
  number: z.coerce.number(),
  id: z.string(),
  kind: z.enum(resources),
});
const storedRecord = z.object({
  status: z.enum(statuses),
  createdAt: z.string(),
  updatedAt: z.string(),
  body: z.string(),
});

const readBody: { [K in Resource]: (json: string) => Bodies[K] } = {
  payment: bodyReader(contract.createPayment),
  payout: bodyReader(contract.createPayout),
  refund: bodyReader(contract.createRefund),
};

const prefixes = { payment: "TX", payout: "PO", refund: "RF" };

export function openStore(options: StoreOptions) {
  const { database, ids, now, autoCompleteMs = Number.POSITIVE_INFINITY } = options;
  database.exec(schema);
  const account = database.transaction(() => accountOf(options));
  const { insert, select, byReference, counted, update, refunded, due, page } = prepare(database);
  let changed = (_kind: Resource, _id: string, _change: "added" | "moved"): void => {};

  function find<K extends Resource>(kind: K, id: string): Stored<K> | undefined {
    const row = select.get(id, kind);
    if (!row) return undefined;
    const { body: json, ...rest } = storedRecord.parse(row);
    const record = { id, ...rest, body: readBody[kind](json) };
    const dueMs = Date.parse(record.createdAt) + autoCompleteMs;
    if (record.status !== "Processing" || dueMs > now()) return record;
    if (options.staysProcessing?.(kind, record.body)) return record;
    const updatedAt = new Date(dueMs).toISOString();
    if (update.run("Completed", updatedAt, json, id) === 1) changed(kind, id, "moved");
    return { ...record, status: "Completed", updatedAt };
  }

  return {
    account,
    /** Adds a record in `Processing`. */
    add<K extends Resource>(kind: K, body: Bodies[K]): Stored<K> {
      const isTaken = (id: string) => resources.some((any) => select.get(id, any));
      const id = newId(prefixes[kind], ids, isTaken);
      const at = new Date(now()).toISOString();
      const amountPaisa = wholePaisa(body.amount);
      const merchantRef = "merchantRef" in body ? body.merchantRef : null;
      const transactionId = "transactionId" in body ? body.transactionId : null;
      const json = JSON.stringify(body);
      insert.run(id, kind, "Processing", at, at, amountPaisa, json, merchantRef, transactionId);
      changed(kind, id, "added");
      return { id, status: "Processing", createdAt: at, updatedAt: at, body };
    },
    find,
    /** The payout with this reference, which acts as an idempotency key (docs/api.md §4). */
    payoutOf(merchantRef: string): Stored<"payout"> | undefined {
      const row = byReference.get(merchantRef);
      return row && find("payout", storedId.parse(row).id);
    },
    /** Processing and completed refunds of a payment. */
    refundedPaisa: (transactionId: string) => BigInt(refunded.get(transactionId)?.paisa ?? 0),
    /** Moves a record out of `Processing`, the only move there is (docs/api.md §3); false if it is not in it. */
    move<K extends Resource>(
      kind: K,
      id: string,
      to: FinalStatus,
      changes: Partial<Bodies[K]> = {},
    ): boolean {
      // Reading a record completes it if that is due.
      const record = find(kind, id);
      if (record?.status !== "Processing") return false;
      const json = JSON.stringify({ ...record.body, ...changes });
      const isMoved = update.run(to, new Date(now()).toISOString(), json, id) === 1;
      if (isMoved) changed(kind, id, "moved");
      return isMoved;
    },
    /** Completes some hundreds of due payments and refunds, whose callbacks wait for it. */
    completeDue(): void {
      if (autoCompleteMs === Number.POSITIVE_INFINITY) return;
      const createdBefore = new Date(now() - autoCompleteMs).toISOString();
      // The newest were selected, because the oldest may stay Processing.
      for (const row of due.all(createdBefore).reverse()) {
        const { kind, id } = storedId.parse(row);
        find(kind, id);
      }
    },
    /** A page of all records, oldest first. */
    page: (after: number) => page.all(BigInt(after)).map((row) => storedPlace.parse(row)),
    count: (kind: Resource) => Number(counted.get(kind)?.count),
    /** Sets the listener for each record that is added, or that leaves `Processing`. */
    onChange: (listener: typeof changed) => {
      changed = listener;
    },
    /** All of it or nothing, also beside another sandbox on the same file. */
    transaction: database.transaction,
    close: database.close,
  };
}

function prepare(database: Database) {
  return {
    insert: database.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    select: database.prepare("SELECT * FROM records WHERE id = ? AND kind = ?"),
    byReference: database.prepare("SELECT id, kind FROM records WHERE merchantRef = ?"),
    page: database.prepare(
      "SELECT rowid AS number, id, kind FROM records WHERE rowid > ? ORDER BY rowid LIMIT 1000",
    ),
    counted: database.prepare("SELECT count(*) AS count FROM records WHERE kind = ?"),
    update: database.prepare(
      "UPDATE records SET status = ?, updatedAt = ?, body = ? WHERE id = ? AND status = 'Processing'",
    ),
    refunded: database.prepare(
      `SELECT coalesce(sum(amountPaisa), 0) AS paisa FROM records
       WHERE transactionId = ? AND status <> 'Cancelled'`,
    ),
    due: database.prepare(
      `SELECT id, kind FROM records
       WHERE status = 'Processing' AND kind <> 'payout' AND createdAt <= ?
       ORDER BY createdAt DESC, rowid DESC LIMIT 500`,
    ),
  };
}

function newId(prefix: string, ids: Random, isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = prefix + ids.letters(12);
    // The IDs of the API's examples contain a digit. A seeded sandbox that is restarted on its old file
    // draws its old IDs first.
    if (/\d/.test(id) && !isTaken(id)) return id;
  }
}

function accountOf({ database, newAccount }: StoreOptions): SandboxAccount {
  const row = database.prepare("SELECT apiKey, payoutSecret FROM account").get();
  if (row) return storedAccount.parse(row);
  database
    .prepare("INSERT INTO account VALUES (?, ?)")
    .run(newAccount.apiKey, newAccount.payoutSecret);
  return newAccount;
}

/** Of an amount whose request was checked. */
export function wholePaisa(amount: number): bigint {
  const amountPaisa = paisaOf(amount);
  if (amountPaisa === undefined) throw new TypeError("an amount that was not checked");
  return amountPaisa;
}

function bodyReader<Body>({ body }: Endpoint<Endpoint["route"], Body>): (json: string) => Body {
  if (!body) throw new TypeError("an endpoint without a body");
  return (json) => body.parse(JSON.parse(json));
}
