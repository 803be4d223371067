import { Failure } from "../../domain/failure.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { guardColumn } from "../account.ts";
import { allColumns, changingColumns, definitions } from "../columns.ts";
import { isEntryEvent, keyIn } from "../entry.ts";
import { fixedBatchColumns } from "../plan.ts";
import { newerVersion, newestVersion, type SchemaStep, sqlFrom } from "../version.ts";

const operationColumns = definitions(
  { text: "TEXT", number: "INTEGER" },
  {
    number: "PRIMARY KEY CHECK (number > 0)",
    id: "NOT NULL UNIQUE",
    amountPaisa: "CHECK (amount_paisa >= 0)",
    account: "NOT NULL REFERENCES accounts (number)",
    batch: "REFERENCES batches (number)",
  },
);

/** On a server the role may not update them. Guards find operations by some of them. */
const fixedColumns = allColumns
  .filter((column) => !changingColumns.includes(column))
  .map(({ name }) => `"${name}"`);

/**
 * The tables of a ledger of the newest version. `ledger check` compares a ledger with this text. An account is a
 * number, because a URL and a key in each of its indexes were half of the size of an operation.
 */
export const schema = `
  CREATE TABLE accounts (
    number INTEGER PRIMARY KEY,
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (environment, name)
  ) STRICT;
  CREATE TABLE account_keys (
    environment TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    account INTEGER NOT NULL REFERENCES accounts (number),
    first_used_at TEXT,
    PRIMARY KEY (environment, key_hash)
  ) STRICT, WITHOUT ROWID;

  -- The processes that worked on something. The operating system shows which of them still run.
  CREATE TABLE processes (
    id TEXT PRIMARY KEY,
    user_name TEXT NOT NULL,
    machine TEXT NOT NULL,
    pid INTEGER NOT NULL,
    command TEXT NOT NULL,
    origin TEXT NOT NULL,
    started_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE operations (
    -- Who recorded it.
    login TEXT NOT NULL,
    -- The process that works on it, and since when.
    process TEXT,
    held_since TEXT,
    ${operationColumns}
  ) STRICT;
  CREATE UNIQUE INDEX by_reference ON operations (account, reference) WHERE reference IS NOT NULL;
  -- With what lists filter by, so that rows that do not match are passed over in the index.
  CREATE INDEX by_owner ON operations (account, kind, number, created_at, amount_paisa);
  CREATE INDEX by_age ON operations (account, number, created_at, amount_paisa);
  CREATE INDEX by_time ON operations (created_at);
  -- What counts against the limits of a day.
  CREATE INDEX by_day ON operations (${guardColumn()} + 0, kind, created_at, amount_paisa, actor);
  CREATE INDEX by_remote_id ON operations (account, remote_id, kind) WHERE remote_id IS NOT NULL;
  CREATE INDEX by_status ON operations (account, kind, status, number) WHERE status IS NOT NULL;
  CREATE INDEX by_target ON operations (target, kind, ${guardColumn()}, login) WHERE target IS NOT NULL;
  CREATE INDEX refunds_by_phase ON operations (target, ${guardColumn()}, phase, state, updated_at)
    WHERE kind = 'refund';
  CREATE INDEX unconfirmed ON operations (account, state, number) WHERE state != 'CONFIRMED';
  -- What guards read: the newest equal payouts of each login, and those of a phase that were accepted since a time.
  CREATE INDEX by_recipient ON operations (recipient_key, amount_paisa, ${guardColumn()}, login)
    WHERE recipient_key IS NOT NULL;
  CREATE INDEX same_payout ON operations (recipient_key, amount_paisa, ${guardColumn()}, phase, accepted_at)
    WHERE recipient_key IS NOT NULL;
  CREATE INDEX by_batch ON operations (batch, number) WHERE batch IS NOT NULL;
  CREATE INDEX equal_payment ON operations (amount_paisa, description, payer_key, ${guardColumn()}, login)
    WHERE kind = 'payment';
  CREATE INDEX same_payment ON operations
    (amount_paisa, description, payer_key, ${guardColumn()}, phase, status, created_at) WHERE kind = 'payment';
  CREATE TRIGGER fixed_columns BEFORE UPDATE OF ${fixedColumns} ON operations
    BEGIN SELECT RAISE(ABORT, 'an order in the ledger does not change'); END;

  CREATE TABLE events (
    -- No one can insert a number below all others, which would be read first.
    number INTEGER PRIMARY KEY CHECK (number > 0),
    operation INTEGER REFERENCES operations (number),
    batch INTEGER REFERENCES batches (number),
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    -- The same for all events of a write: whether it was committed can be looked up by it.
    commit_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    -- Who wrote it. The hash does not cover it.
    login TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_operation ON events (operation, number) WHERE operation IS NOT NULL;
  CREATE INDEX events_by_batch ON events (batch, number) WHERE batch IS NOT NULL;
  CREATE INDEX events_of_takeovers ON events (at) WHERE event IN ('resumed', 'reopened');
  CREATE INDEX entries_by_key ON events (${keyIn("data")}, number) WHERE ${isEntryEvent};

  CREATE TABLE batches (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    id TEXT NOT NULL,
    environment TEXT NOT NULL,
    account INTEGER NOT NULL REFERENCES accounts (number),
    profile TEXT NOT NULL,
    name TEXT NOT NULL,
    file_name TEXT NOT NULL,
    file_hash TEXT NOT NULL,
    identity TEXT NOT NULL,
    columns TEXT NOT NULL,
    method TEXT,
    user TEXT NOT NULL,
    -- Who claimed it first.
    login TEXT NOT NULL,
    row_count INTEGER,
    total_paisa INTEGER,
    -- The amounts of its rows that were not sent: they count against limits while the batch is open.
    reserved_paisa INTEGER NOT NULL DEFAULT 0,
    -- Who planned it: a person, a script or an agent.
    actor TEXT,
    seal TEXT,
    created_at TEXT NOT NULL,
    cancelled_at TEXT,
    process TEXT,
    held_since TEXT
  ) STRICT;
  CREATE UNIQUE INDEX batches_by_id ON batches (account, id);
  CREATE UNIQUE INDEX batches_by_identity ON batches (account, identity);
  CREATE INDEX batches_by_file ON batches (account, file_hash);
  CREATE INDEX batches_by_name ON batches (account, name);
  CREATE INDEX batches_by_file_name ON batches (account, file_name);
  CREATE INDEX batches_by_age ON batches (account, number);
  CREATE INDEX batches_that_reserve ON batches (environment, account) WHERE reserved_paisa > 0;
  CREATE TRIGGER fixed_plan BEFORE UPDATE OF ${fixedBatchColumns} ON batches WHEN OLD.row_count IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a planned batch in the ledger does not change'); END;

  CREATE TABLE batch_rows (
    batch INTEGER NOT NULL REFERENCES batches (number),
    row INTEGER NOT NULL CHECK (row > 0),
    line INTEGER NOT NULL,
    reference TEXT NOT NULL,
    amount_paisa INTEGER NOT NULL CHECK (amount_paisa > 0),
    recipient TEXT NOT NULL,
    recipient_key TEXT NOT NULL,
    method_id TEXT NOT NULL,
    method TEXT NOT NULL,
    name TEXT,
    description TEXT,
    cells TEXT NOT NULL,
    accepted INTEGER NOT NULL,
    seal TEXT,
    PRIMARY KEY (batch, row)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX planned_payout ON batch_rows (recipient_key, amount_paisa);
  CREATE INDEX planned_reference ON batch_rows (reference);

  -- What may be sent at most, in production by all accounts together, and each change of it. The newest one of a name
  -- counts, and null removes the limit.
  CREATE TABLE limits (
    number INTEGER PRIMARY KEY,
    environment TEXT NOT NULL,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    set_at TEXT NOT NULL,
    login TEXT NOT NULL
  ) STRICT;
  CREATE INDEX limits_of_account ON limits (environment, account, number);

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
    known INTEGER NOT NULL,
    verdict TEXT,
    because TEXT,
    records TEXT,
    finding TEXT,
    looks INTEGER NOT NULL,
    due_at TEXT,
    forwarded_to TEXT,
    forwarded_status INTEGER,
    forwarded_fault TEXT,
    forwarded_finding TEXT,
    row_digest TEXT
  ) STRICT;
  CREATE INDEX callbacks_by_age ON callbacks (account, number);
  CREATE INDEX callbacks_by_digest ON callbacks (account, digest, number);
  CREATE INDEX callbacks_by_verdict ON callbacks (account, verdict, number);
  -- Callbacks about records that the ledger knows come first, whatever else arrives.
  CREATE INDEX callbacks_due ON callbacks (account, known DESC, looks, number, verdict, due_at)
    WHERE due_at IS NOT NULL;
  -- A handler gets nothing a second time that it acknowledged with another callback.
  CREATE INDEX callbacks_delivered ON callbacks (account, forwarded_finding, forwarded_to)
    WHERE forwarded_status BETWEEN 200 AND 299;

  -- One process at a time listens for an account.
  CREATE TABLE listeners (
    account INTEGER PRIMARY KEY REFERENCES accounts (number),
    process TEXT NOT NULL,
    held_since TEXT NOT NULL
  ) STRICT;
`;

export function versionOf(database: Database): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version ?? 0n);
}

/**
 * Brings a ledger to the newest schema, in one transaction.
 *
 * @throws Failure `ledger.newer-version`; `ledger.schema-modified` if its tables are not those of its version
 */
export function migrate(database: Database, steps?: readonly SchemaStep[]): void {
  const newest = steps ? steps.length + 1 : newestVersion;
  if (versionOf(database) === newest) return;
  try {
    database.transaction(() => {
      const version = versionOf(database);
      if (version > newest) throw newerVersion(version);
      if (version === newest) return;
      database.exec(version === 0 ? schema : sqlFrom(version, "sqlite", steps));
      database.exec(`PRAGMA user_version = ${newest}`);
    });
  } catch (cause) {
    if (!schemaErrors.test(String(cause))) throw cause;
    throw otherSchema(cause);
  }
}

/** What SQLite reports if a file has other tables, columns or indexes than its version. */
const schemaErrors =
  /no such|already exists|another table or index|(?:UNIQUE|NOT NULL) constraint|has no column/;

function otherSchema(cause: unknown): Failure {
  return new Failure(
    "ledger.schema-modified",
    "Cannot update the ledger: its schema is not that of its version.",
    { hint: "Restore the ledger from a backup: the file was modified by another program.", cause },
  );
}
