import { phaseOf, type State } from "../../domain/state.ts";
import type { Database, Row } from "../../platform/sqlite/database.ts";
import { identityOf, rowKey } from "../batch.ts";
import { newName } from "./accounts.ts";
import { batchOf, digestOf } from "./batches.ts";
import { setRowDigest } from "./callbacks.ts";
import {
  type Acceptance,
  recordAcceptance,
  recordAccount,
  recordKey,
  recordPlan,
} from "./chain.ts";
import { listedOf, numberIn, reader, stateIn } from "./operation-rows.ts";

/** A stored profile, which gives the account of its key a name. */
export interface KnownProfile {
  name: string;
  environment: string;
  keyHash: string;
}

const pageSize = 1_000;

/**
 * Gives accounts names, and operations the columns that guards and lists read. Each account of before (a base
 * URL and an API key) stays an account of its own: operations without a profile all have the same text in its
 * place, so merging by it would mix merchants.
 */
export function nameAccounts(database: Database, profiles: KnownProfile[]): void {
  const before = accountsBefore(database, profiles);
  database.exec(newTables);
  storeAccounts(database, before, profiles);
  database.exec(newColumns);
  for (const { number, keyHash, baseUrl } of before) {
    database
      .prepare("UPDATE operations SET key_hash = ?, base_url = ? WHERE account = ?")
      .run(keyHash, baseUrl, number);
  }
  fillColumns(database);
  database.exec(afterColumns);
}

interface AccountBefore {
  number: bigint;
  environment: string;
  baseUrl: string;
  keyHash: string;
  /** The newest operation of the account. */
  newest: bigint;
}

function accountsBefore(database: Database, profiles: KnownProfile[]): AccountBefore[] {
  const rows = database
    .prepare(`
      SELECT number, base_url, key_id, coalesce(
          (SELECT environment FROM operations o WHERE o.account = a.number LIMIT 1),
          (SELECT environment FROM batches b WHERE b.account = a.number LIMIT 1)) AS environment,
        (SELECT max(number) FROM operations o WHERE o.account = a.number) AS newest
      FROM accounts a ORDER BY number`)
    .all();
  return rows.map((row) => {
    const { text, maybe } = reader(row);
    const [baseUrl, keyHash] = [text("base_url"), text("key_id")];
    const profile = profiles.find((one) => one.keyHash === keyHash);
    // Only callbacks were received for such an account: nothing was sent with its key.
    const guess = baseUrl.startsWith("https:") ? "production" : "sandbox";
    const environment = maybe("environment") ?? profile?.environment ?? guess;
    return {
      number: numberIn(row.number),
      environment,
      baseUrl,
      keyHash,
      newest: numberIn(row.newest),
    };
  });
}

/** The accounts keep their numbers. Of several with one key, the key belongs to the one used last. */
function storeAccounts(
  database: Database,
  before: AccountBefore[],
  profiles: KnownProfile[],
): void {
  const addAccount = database.prepare(
    "INSERT INTO accounts (number, environment, name) VALUES (?, ?, ?)",
  );
  const addKey = database.prepare(
    "INSERT INTO account_keys (environment, key_hash, account) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const taken = new Set<string>();
  const newestFirst = [...before].sort((one, other) => (one.newest < other.newest ? 1 : -1));
  for (const { number, environment, keyHash } of newestFirst) {
    const profile = profiles.find(
      (one) => one.keyHash === keyHash && one.environment === environment,
    );
    const isTaken = (name: string) => taken.has(`${environment} ${name}`);
    const named = profile && !isTaken(profile.name) ? profile.name : undefined;
    const name = named ?? unusedName(newName({ profile: undefined, keyHash }, isTaken), isTaken);
    taken.add(`${environment} ${name}`);
    addAccount.run(number, environment, name);
    addKey.run(environment, keyHash, number);
  }
}

/** Before, one key with two base URLs had two accounts. */
function unusedName(name: string, isTaken: (name: string) => boolean): string {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name}-${count}`;
    if (!isTaken(candidate)) return candidate;
  }
}

const newTables = `
  DROP TABLE accounts;
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
`;

const newColumns = `
  ALTER TABLE operations ADD COLUMN key_hash TEXT NOT NULL DEFAULT '';
  ALTER TABLE operations ADD COLUMN base_url TEXT NOT NULL DEFAULT '';
  ALTER TABLE operations ADD COLUMN actor TEXT;
  ALTER TABLE operations ADD COLUMN recipient_key TEXT;
  ALTER TABLE operations ADD COLUMN recipient_name TEXT;
  ALTER TABLE operations ADD COLUMN method_id TEXT;
  ALTER TABLE operations ADD COLUMN method_name TEXT;
  ALTER TABLE operations ADD COLUMN description TEXT;
  ALTER TABLE operations ADD COLUMN batch INTEGER REFERENCES batches (number);
  ALTER TABLE operations ADD COLUMN phase TEXT NOT NULL DEFAULT 'unresolved';
  ALTER TABLE operations ADD COLUMN accepted_at TEXT;
  ALTER TABLE operations ADD COLUMN completed_at TEXT;
  ALTER TABLE operations ADD COLUMN payment_url TEXT;
  DROP INDEX cancelled_payout;
  DROP INDEX same_payout;
  DROP INDEX same_payment;
`;

/** In JavaScript: a JSON function of SQLite makes invalid text of half a character. */
function fillColumns(database: Database): void {
  const page = database.prepare(`
    SELECT number, kind, asked, state, status, code, created_at, reopened_at, updated_at
    FROM operations WHERE number > ? ORDER BY number LIMIT ${pageSize}`);
  const events = database.prepare(
    "SELECT at, data FROM events WHERE operation = ? AND event IN ('attempt', 'look') ORDER BY number",
  );
  const fill = database.prepare(`
    UPDATE operations SET recipient_key = ?, recipient_name = ?, method_id = ?, description = ?,
      phase = ?, accepted_at = ?, completed_at = ? WHERE number = ?`);
  for (let after = 0n; ; ) {
    const rows = page.all(after);
    for (const row of rows) {
      const times = timesIn(row, events.all(row.number ?? null));
      const { kind, ...request } = requestIn(row);
      const { recipient, recipientName, methodId, description } = listedOf({ kind, ...request });
      const listed = [recipient, recipientName, methodId, description];
      fill.run(...listed, phaseIn(row), times.acceptedAt, times.completedAt, row.number ?? null);
    }
    const last = rows.at(-1);
    if (!last) return;
    after = numberIn(last.number);
  }
}

function requestIn(row: Row) {
  const { text } = reader(row);
  const kind = text("kind") === "payout" ? ("payout" as const) : ("payment" as const);
  const asked: Record<string, unknown> = JSON.parse(text("asked"));
  return { kind, asked };
}

function phaseIn(row: Row): string {
  const { maybe } = reader(row);
  const state: State = stateIn(row) ?? "UNCERTAIN";
  return phaseOf({ state, status: maybe("status"), code: maybe("code") });
}

/** When the API confirmed an operation, and when it was first seen as Completed. */
function timesIn(
  row: Row,
  events: Row[],
): { acceptedAt: string | null; completedAt: string | null } {
  const { text, maybe } = reader(row);
  const openedAt = maybe("reopened_at") ?? text("created_at");
  let [acceptedAt, completedAt]: (string | null)[] = [null, null];
  for (const event of events) {
    const at = String(event.at);
    const data: { state?: unknown; status?: unknown } = JSON.parse(String(event.data));
    if (data.state === "CONFIRMED" && at >= openedAt) acceptedAt ??= at;
    if (data.state === "CONFIRMED" && data.status === "Completed") completedAt ??= at;
  }
  if (text("state") === "CONFIRMED") acceptedAt ??= text("updated_at");
  return { acceptedAt: acceptedAt ?? null, completedAt: completedAt ?? null };
}

const afterColumns = `
  ALTER TABLE batch_rows ADD COLUMN recipient_key TEXT NOT NULL DEFAULT '';
  UPDATE batch_rows SET recipient_key = ${payeeInSql("recipient")};
  UPDATE operations SET batch = r.batch
    FROM batch_rows r CROSS JOIN batches b ON b.number = r.batch
    WHERE operations.account = b.account AND operations.reference = r.reference
      AND operations.fingerprint = r.fingerprint AND b.digest IS NOT NULL;
  CREATE INDEX same_payout ON operations (recipient_key, amount_paisa, phase) WHERE kind = 'payout';
  CREATE INDEX same_payment ON operations (amount_paisa, description) WHERE kind = 'payment';
  CREATE INDEX planned_payout ON batch_rows (recipient_key, amount_paisa);
  CREATE INDEX planned_reference ON batch_rows (reference);

  CREATE TABLE events_new (
    number INTEGER PRIMARY KEY,
    operation INTEGER REFERENCES operations (number),
    batch INTEGER REFERENCES batches (number),
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    -- The same for all events of a write: whether it was committed can be looked up by it.
    commit_id TEXT,
    hash TEXT NOT NULL
  ) STRICT;
  INSERT INTO events_new (number, operation, at, event, data, hash)
    SELECT number, operation, at, event, data, hash FROM events;
  DROP TABLE events;
  ALTER TABLE events_new RENAME TO events;
  CREATE INDEX events_by_operation ON events (operation, number) WHERE operation IS NOT NULL;
  CREATE INDEX events_by_batch ON events (batch, number) WHERE batch IS NOT NULL;

  -- Callbacks are pruned, so they are not in the chain: a digest of its own shows a change of a row.
  ALTER TABLE callbacks ADD COLUMN row_digest TEXT;
  UPDATE callbacks SET verdict = CASE verdict WHEN 'genuine' THEN 'verified'
    WHEN 'contradicted' THEN 'mismatched' WHEN 'unanswered' THEN 'unchecked' ELSE verdict END;
`;

/**
 * Gives plans that were made before there were identities theirs. Of two plans of an account with the
 * same rows the older one gets it: the other one is still found by its file's bytes.
 */
export function storeIdentities(database: Database): void {
  const planned = database.prepare(
    "SELECT number, account, name, file_name, columns FROM batches WHERE digest IS NOT NULL ORDER BY number",
  );
  const store = database.prepare("UPDATE batches SET identity = ? WHERE number = ?");
  const known = new Set<string>();
  for (const { number, account, name, file_name, columns } of planned.all()) {
    const ownName = name === file_name ? null : String(name);
    const hasReferences = /"(?:ref|merchantRef)"/.test(String(columns));
    const keys = keysOf(database, BigInt(number ?? 0n), hasReferences);
    const identity = identityOf(keys, ownName);
    if (known.has(`${account} ${identity}`)) continue;
    known.add(`${account} ${identity}`);
    store.run(identity, number ?? null);
  }
}

function keysOf(database: Database, batch: bigint, hasReferences: boolean): string[] {
  const page = database.prepare(
    `SELECT row, amount_paisa, recipient, method_id, reference, name, description
     FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row LIMIT ${pageSize}`,
  );
  const text = (value: unknown) => (value === null ? null : String(value));
  const keys: string[] = [];
  for (let after = 0n; ; ) {
    const rows = page.all(batch, after);
    for (const row of rows) {
      keys.push(
        rowKey({
          amountPaisa: BigInt(row.amount_paisa ?? 0n),
          recipient: String(row.recipient),
          methodId: String(row.method_id),
          reference: hasReferences ? String(row.reference) : null,
          name: text(row.name),
          description: text(row.description),
        }),
      );
    }
    if (rows.length < pageSize) return keys.sort();
    after = BigInt(rows.at(-1)?.row ?? 0n);
  }
}

/**
 * Records what was in the ledger before accounts and plans were part of the chain. A plan that was
 * modified before stays without an event, so that `ledger check` reports it.
 */
export function recordExisting(database: Database): void {
  const at = new Date().toISOString();
  for (const { number } of database.prepare("SELECT number FROM accounts").all())
    recordAccount(database, BigInt(number ?? 0n), at);
  for (const row of database.prepare("SELECT environment, key_hash FROM account_keys").all())
    recordKey(database, {
      ...{ environment: String(row.environment), keyHash: String(row.key_hash), at },
    });
  const planned = database.prepare("SELECT * FROM batches WHERE digest IS NOT NULL").all();
  for (const { number, plan } of planned.map(batchOf))
    if (plan?.digest === digestOf(database, number)) recordPlan(database, number, at);
  for (const row of acceptancesIn(database)) recordAcceptance(database, row);
  database.exec("DROP TABLE IF EXISTS accepted_new_ledger");
  for (const row of database.prepare("SELECT * FROM callbacks").all()) setRowDigest(database, row);
}

/** Acceptances were in a separate table, which only some ledgers had. */
function acceptancesIn(database: Database): Acceptance[] {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'accepted_new_ledger'";
  if (!database.prepare(table).get()) return [];
  return database
    .prepare("SELECT at, user, state FROM accepted_new_ledger ORDER BY rowid")
    .all()
    .map(({ at, user, state }) => ({ at: String(at), user: String(user), state: String(state) }));
}

/** `payeeOf` in SQL, which has no patterns: without the characters that are usual between digits. */
export function payeeInSql(recipient: string): string {
  const digits = [" ", "\u00a0", "-", ".", "(", ")", "/"].reduce(
    (text, between) => `replace(${text}, '${between}', '')`,
    recipient,
  );
  return `substr(${digits}, -11)`;
}
