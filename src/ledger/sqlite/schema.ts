import { Failure } from "../../domain/failure.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import {
  type KnownProfile,
  nameAccounts,
  payeeInSql,
  recordExisting,
  storeIdentities,
} from "./migrate-accounts.ts";

type Migration = string | ((database: Database, profiles: KnownProfile[]) => void);

/** Each entry brings the schema from the version before to the next; none is ever changed. */
const migrations: Migration[] = [
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
  -- An index of hashes is slow to write: of payouts, only the cancelled ones are looked up by it.
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
  `
  -- An account is a number: its URL and key in six indexes were half of the size of an operation.
  CREATE TABLE accounts (
    number INTEGER PRIMARY KEY,
    base_url TEXT NOT NULL,
    key_id TEXT NOT NULL,
    UNIQUE (base_url, key_id)
  ) STRICT;
  INSERT INTO accounts (base_url, key_id)
    SELECT base_url, key_id FROM operations UNION SELECT base_url, key_id FROM batches;

  DROP INDEX by_reference;
  DROP INDEX by_owner;
  DROP INDEX by_age;
  DROP INDEX by_remote_id;
  DROP INDEX by_status;
  DROP INDEX by_target;
  DROP INDEX unsettled;
  DROP INDEX same_payment;
  DROP INDEX cancelled_payout;
  ALTER TABLE operations ADD COLUMN account INTEGER REFERENCES accounts (number);
  UPDATE operations SET account = (SELECT number FROM accounts a
    WHERE a.base_url = operations.base_url AND a.key_id = operations.key_id);
  ALTER TABLE operations DROP COLUMN base_url;
  ALTER TABLE operations DROP COLUMN key_id;
  CREATE UNIQUE INDEX by_reference ON operations (account, reference) WHERE reference IS NOT NULL;
  CREATE INDEX by_owner ON operations (account, kind, number);
  CREATE INDEX by_age ON operations (account, number);
  CREATE INDEX by_remote_id ON operations (account, remote_id, kind) WHERE remote_id IS NOT NULL;
  CREATE INDEX by_status ON operations (account, kind, status, number) WHERE status IS NOT NULL;
  CREATE INDEX by_target ON operations (account, kind, target) WHERE target IS NOT NULL;
  CREATE INDEX unsettled ON operations (account, number) WHERE state IN ('INTENT', 'UNCERTAIN');
  CREATE INDEX same_payment ON operations (account, fingerprint) WHERE kind = 'payment';
  CREATE INDEX cancelled_payout ON operations (account, fingerprint)
    WHERE kind = 'payout' AND status = 'Cancelled';

  DROP INDEX batches_by_file;
  DROP INDEX batches_by_id;
  DROP INDEX batches_by_name;
  ALTER TABLE batches ADD COLUMN account INTEGER REFERENCES accounts (number);
  UPDATE batches SET account = (SELECT number FROM accounts a
    WHERE a.base_url = batches.base_url AND a.key_id = batches.key_id);
  ALTER TABLE batches DROP COLUMN base_url;
  ALTER TABLE batches DROP COLUMN key_id;
  CREATE UNIQUE INDEX batches_by_file ON batches (account, file_hash);
  CREATE UNIQUE INDEX batches_by_id ON batches (account, id);
  CREATE UNIQUE INDEX batches_by_name ON batches (account, name) WHERE digest IS NOT NULL;
  `,
  `
  -- Requests from outside: they can be forged, so they are not in the chain.
  CREATE TABLE callbacks (
    number INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts (number),
    source TEXT NOT NULL,
    received_at TEXT NOT NULL,
    count INTEGER NOT NULL,
    digest TEXT NOT NULL,
    method TEXT NOT NULL,
    target TEXT NOT NULL,
    headers TEXT NOT NULL,
    body TEXT NOT NULL,
    verdict TEXT,
    because TEXT,
    records TEXT,
    finding TEXT,
    looks INTEGER NOT NULL,
    due_at TEXT,
    holder TEXT,
    forwarded_to TEXT,
    forwarded_status INTEGER,
    forwarded_finding TEXT
  ) STRICT;
  CREATE INDEX callbacks_due ON callbacks (account, looks, number, verdict, due_at)
    WHERE due_at IS NOT NULL;
  CREATE INDEX callbacks_by_age ON callbacks (account, number);
  CREATE INDEX callbacks_by_digest ON callbacks (account, digest, number);
  CREATE INDEX callbacks_by_verdict ON callbacks (account, verdict, number);
  `,
  `
  -- A batch may have a name of its own; a modified file is still found by its file name.
  ALTER TABLE batches ADD COLUMN file_name TEXT;
  UPDATE batches SET file_name = name;
  `,
  `
  -- A payout that was proved not sent can be sent again: its limits count from then.
  ALTER TABLE operations ADD COLUMN reopened_at TEXT;
  -- Processes were known by their numbers until here, which prove nothing later.
  UPDATE operations SET holder = NULL WHERE holder IS NOT NULL;
  UPDATE batches SET holder = NULL WHERE holder IS NOT NULL;
  UPDATE callbacks SET holder = NULL WHERE holder IS NOT NULL;
  `,
  `
  -- An unknown outcome may be resolved a day later: then the time of the last attempt counts.
  ALTER TABLE operations ADD COLUMN resumed_at TEXT;
  UPDATE operations SET resumed_at =
    (SELECT max(at) FROM events e WHERE e.operation = operations.number AND event = 'attempt')
    WHERE kind = 'payout' AND attempts > 0;
  `,
  `
  -- Duplicate checks look for the same amount to the same recipient, and for the same payment request.
  CREATE INDEX same_payout ON operations (amount_paisa,
    ${payeeInSql("json_extract(asked, '$.recipientNumber')")}) WHERE kind = 'payout';
  DROP INDEX same_payment;
  CREATE INDEX same_payment ON operations (amount_paisa, json_extract(asked, '$.description'))
    WHERE kind = 'payment';
  `,
  (database, profiles) => {
    nameAccounts(database, profiles);
    database.exec(batchesByIdentity);
    storeIdentities(database);
  },
  `
  -- One process at a time listens for an account: callbacks have no locks of their own.
  CREATE TABLE listeners (
    account INTEGER PRIMARY KEY REFERENCES accounts (number),
    holder TEXT NOT NULL
  ) STRICT;
  ALTER TABLE callbacks DROP COLUMN holder;
  -- Callbacks about records that the ledger knows come first, whatever else arrives.
  ALTER TABLE callbacks ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
  DROP INDEX callbacks_due;
  CREATE INDEX callbacks_due ON callbacks (account, known DESC, looks, number, verdict, due_at)
    WHERE due_at IS NOT NULL;
  -- What a handler acknowledged is not forwarded again with another callback.
  CREATE INDEX callbacks_delivered ON callbacks (account, forwarded_finding, forwarded_to)
    WHERE forwarded_status BETWEEN 200 AND 299;
  `,
];

/** The version since which accounts and plans are part of the chain. */
const recordedSince = 9;

/**
 * A batch is known by its rows, no longer by its file's bytes or its name: the same file may be a batch
 * again under a name of its own, and other rows may come under the name of a finished batch.
 */
const batchesByIdentity = `
  ALTER TABLE batches ADD COLUMN identity TEXT;
  ALTER TABLE batches ADD COLUMN cancelled_at TEXT;
  ALTER TABLE batch_rows ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
  DROP INDEX batches_by_file;
  DROP INDEX batches_by_name;
  CREATE INDEX batches_by_file ON batches (account, file_hash);
  CREATE INDEX batches_by_name ON batches (account, name);
  CREATE UNIQUE INDEX batches_by_identity ON batches (account, identity);
`;

function versionOf(database: Database): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version ?? 0n);
}

/** The version of a ledger that an earlier version of lenden wrote; undefined for any other. */
export function outdatedVersion(database: Database): number | undefined {
  const version = versionOf(database);
  return version > 0 && version < migrations.length ? version : undefined;
}

/**
 * Brings a ledger to the newest schema, in one transaction.
 *
 * @param profiles the stored profiles: the accounts of their keys take their names
 * @throws Failure `internal` when a newer lenden has written it
 */
export function migrate(database: Database, profiles: KnownProfile[] = []): void {
  const version = () => versionOf(database);
  if (version() === migrations.length) return;
  // A table that others refer to is replaced; the setting cannot be changed inside a transaction.
  database.exec("PRAGMA foreign_keys = OFF");
  try {
    database.transaction(() => {
      const from = version();
      if (from > migrations.length) throw newerSchema();
      for (const migration of migrations.slice(from)) bring(database, migration, profiles);
      if (from < recordedSince) recordExisting(database);
      database.exec(`PRAGMA user_version = ${migrations.length}`);
    });
  } finally {
    database.exec("PRAGMA foreign_keys = ON");
  }
}

function newerSchema(): Failure {
  return new Failure(
    "ledger.newer-version",
    "Cannot open the ledger: a newer version of lenden wrote it.",
    { hint: "Update lenden." },
  );
}

/** Fails where the schema is not that of the version that the file states. */
function bring(database: Database, migration: Migration, profiles: KnownProfile[]): void {
  try {
    if (typeof migration === "string") database.exec(migration);
    else migration(database, profiles);
  } catch (cause) {
    if (!/no such|already exists|duplicate column/.test(String(cause))) throw cause;
    throw new Failure(
      "ledger.schema-modified",
      "Cannot update the ledger: its schema is not that of its version.",
      {
        hint: "Restore the ledger from a backup: the file was modified by another program.",
        cause,
      },
    );
  }
}
