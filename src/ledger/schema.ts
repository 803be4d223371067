import { Failure } from "../failure.ts";
import type { Database } from "./database.ts";

/** Each entry brings the schema from the version before to the next; none is ever changed. */
const migrations = [
  `
  CREATE TABLE operations (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    profile TEXT NOT NULL,
    environment TEXT NOT NULL,
    base_url TEXT NOT NULL,
    key_id TEXT NOT NULL,
    reference TEXT,
    fingerprint TEXT NOT NULL,
    amount_paisa INTEGER,
    target TEXT,
    asked TEXT NOT NULL,
    state TEXT NOT NULL,
    remote_id TEXT,
    status TEXT,
    code TEXT,
    message TEXT,
    attempts INTEGER NOT NULL,
    user TEXT NOT NULL,
    command TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    holder TEXT
  ) STRICT;
  CREATE UNIQUE INDEX by_reference ON operations (base_url, key_id, reference) WHERE reference IS NOT NULL;
  CREATE INDEX by_owner ON operations (base_url, key_id, kind, number);
  CREATE INDEX by_age ON operations (base_url, key_id, number);
  CREATE INDEX by_remote_id ON operations (base_url, key_id, remote_id, kind) WHERE remote_id IS NOT NULL;
  CREATE INDEX by_status ON operations (base_url, key_id, kind, status, number);
  CREATE INDEX by_target ON operations (base_url, key_id, kind, target) WHERE target IS NOT NULL;
  CREATE INDEX by_fingerprint ON operations (base_url, key_id, kind, fingerprint);
  CREATE INDEX unsettled ON operations (base_url, key_id, number) WHERE state IN ('INTENT', 'UNCERTAIN');

  CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operations (number),
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_operation ON events (operation, number);
  `,
  `
  -- Hashes scatter: for payouts, of which there are many, only those are indexed that are looked for.
  DROP INDEX by_fingerprint;
  CREATE INDEX same_payment ON operations (base_url, key_id, fingerprint) WHERE kind = 'payment';
  CREATE INDEX cancelled_payout ON operations (base_url, key_id, fingerprint)
    WHERE kind = 'payout' AND status = 'Cancelled';

  CREATE TABLE batches (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    profile TEXT NOT NULL,
    environment TEXT NOT NULL,
    base_url TEXT NOT NULL,
    key_id TEXT NOT NULL,
    name TEXT NOT NULL,
    file_hash TEXT NOT NULL,
    columns TEXT NOT NULL,
    method TEXT,
    row_count INTEGER,
    total_paisa INTEGER,
    digest TEXT,
    user TEXT NOT NULL,
    created_at TEXT NOT NULL,
    holder TEXT
  ) STRICT;
  CREATE UNIQUE INDEX batches_by_file ON batches (base_url, key_id, file_hash);
  CREATE UNIQUE INDEX batches_by_id ON batches (base_url, key_id, id);
  CREATE UNIQUE INDEX batches_by_name ON batches (base_url, key_id, name) WHERE digest IS NOT NULL;

  CREATE TABLE batch_rows (
    batch INTEGER NOT NULL REFERENCES batches (number),
    row INTEGER NOT NULL,
    line INTEGER NOT NULL,
    reference TEXT NOT NULL,
    amount_paisa INTEGER NOT NULL,
    recipient TEXT NOT NULL,
    method_id TEXT NOT NULL,
    method TEXT NOT NULL,
    name TEXT,
    description TEXT,
    cells TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (batch, row)
  ) STRICT, WITHOUT ROWID;
  `,
];

/**
 * Brings a ledger to the newest schema, in one transaction.
 *
 * @throws Failure `internal` when a newer lenden has written it
 */
export function migrate(database: Database): void {
  const version = () => Number(database.prepare("PRAGMA user_version").get()?.user_version ?? 0n);
  if (version() === migrations.length) return;
  database.transaction(() => {
    const from = version();
    if (from > migrations.length) {
      throw new Failure("internal", "The ledger was written by a newer lenden.", {
        hint: "Update lenden; nothing was changed, and nothing was sent.",
      });
    }
    for (const migration of migrations.slice(from)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}
