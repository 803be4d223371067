import { payeeOf } from "../../domain/mobile.ts";
import { phaseOf } from "../../domain/state.ts";
import type { Database, Row } from "../../platform/sqlite/database.ts";
import { identityOf, rowKey } from "../batch.ts";
import { listedOf } from "../intent.ts";
import { replayOf } from "../replay.ts";
import { kindIn, numberIn, reader, stateIn } from "../rows.ts";
import { digestOf } from "./batches.ts";
import { setRowDigest } from "./callbacks.ts";
import { recordAcceptance, recordRow } from "./chain.ts";
import { operationsWithHistory, paged, pagedText } from "./operation-rows.ts";

/** A stored profile, which gives the account of its key a name. */
export interface KnownProfile {
  name: string;
  environment: string;
  keyHash: string;
}

/**
 * Creates the newest tables beside the old ones, copies what both have, and fills in what an earlier version
 * did not store. All that a version did not have yet is in the steps below.
 */
export function upgrade(
  database: Database,
  from: number,
  { schema, profiles }: { schema: string; profiles: KnownProfile[] },
): void {
  for (const { name } of schemaOf(database, "index")) database.exec(`DROP INDEX "${name}"`);
  if (from >= 10) {
    // Only indexes changed since then, and the recipients of refunds and one column were added.
    database.exec("ALTER TABLE callbacks ADD COLUMN forwarded_fault TEXT");
    for (const [sql] of schema.matchAll(/CREATE (?:UNIQUE )?INDEX [^;]+/g)) database.exec(sql);
    if (from < 11) fillRefunds(database);
    return;
  }
  const tables = schemaOf(database, "table").map(({ name }) => String(name));
  const old = tables.filter((name) => ownTables.includes(name));
  for (const name of old) database.exec(`ALTER TABLE ${name} RENAME TO old_${name}`);
  database.exec(schema);
  if (from < 3) database.exec(separateAccounts);
  for (const name of old) if (name !== "accounts" || from >= 9) copyRows(database, name);
  if (from < 9) nameAccounts(database, profiles);
  for (const [version, sql] of steps) if (from < version) database.exec(sql);
  if (from < 9) {
    fillOperations(database);
    fillBatches(database);
    recordExisting(database, tables.includes("accepted_new_ledger"));
  } else fillRefunds(database);
  for (const name of ownTables) database.exec(`DROP TABLE IF EXISTS old_${name}`);
}

const ownTables = [
  ...["accounts", "account_keys", "operations", "events", "batches", "batch_rows"],
  ...["callbacks", "listeners"],
];

function schemaOf(database: Database, type: "table" | "index"): Row[] {
  return database
    .prepare("SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%'")
    .all(type);
}

/** Copies the columns that a table had before. */
function copyRows(database: Database, table: string): void {
  const columns = database
    .prepare(
      `SELECT group_concat(name) AS names FROM pragma_table_info('${table}')
       WHERE name IN (SELECT name FROM pragma_table_info('old_${table}'))`,
    )
    .get()?.names;
  database.exec(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM old_${table}`);
}

/** Before version 3 each operation named its URL and its key, and in version 1 there were no batches. */
const separateAccounts = `
  CREATE TABLE IF NOT EXISTS old_batches (number INTEGER, environment TEXT, base_url TEXT, key_id TEXT);
  CREATE TABLE old_accounts (number INTEGER PRIMARY KEY, base_url TEXT, key_id TEXT);
  INSERT INTO old_accounts (base_url, key_id)
    SELECT base_url, key_id FROM old_operations UNION SELECT base_url, key_id FROM old_batches;
  ALTER TABLE old_operations ADD COLUMN account INTEGER;
  UPDATE old_operations SET account = (SELECT number FROM old_accounts a
    WHERE a.base_url = old_operations.base_url AND a.key_id = old_operations.key_id);
  ALTER TABLE old_batches ADD COLUMN account INTEGER;
  UPDATE old_batches SET account = (SELECT number FROM old_accounts a
    WHERE a.base_url = old_batches.base_url AND a.key_id = old_batches.key_id);
`;

/** The version that changed something, and how it is brought into the copied tables. */
const steps: [version: number, sql: string][] = [
  // A batch got a name of its own; a modified file is still found by its file name.
  [5, "UPDATE batches SET file_name = name"],
  // Processes were known by their numbers until here, which prove nothing later.
  [6, "UPDATE operations SET holder = NULL; UPDATE batches SET holder = NULL"],
  // The time of the last attempt counts for an unknown outcome.
  [
    7,
    `UPDATE operations SET resumed_at =
       (SELECT max(at) FROM events e WHERE e.operation = operations.number AND event = 'attempt')
     WHERE kind = 'payout' AND attempts > 0`,
  ],
  [
    9,
    `UPDATE operations SET key_hash = a.key_id, base_url = a.base_url
       FROM old_accounts a WHERE a.number = operations.account;
     UPDATE operations SET batch = r.batch FROM batch_rows r CROSS JOIN batches b ON b.number = r.batch
       WHERE operations.account = b.account AND operations.reference = r.reference
         AND operations.fingerprint = r.fingerprint AND b.digest IS NOT NULL;
     UPDATE callbacks SET verdict = CASE verdict WHEN 'genuine' THEN 'verified'
       WHEN 'contradicted' THEN 'mismatched' WHEN 'unanswered' THEN 'unchecked' ELSE verdict END;`,
  ],
];

/**
 * Each account of before (a base URL and an API key) stays an account of its own: operations without a profile
 * all have the same text in its place, so merging by it would mix merchants. Of several with one key, the one
 * that was used last gets the key and the name of its profile.
 */
function nameAccounts(database: Database, profiles: KnownProfile[]): void {
  const newestFirst = database.prepare(`
    SELECT number, base_url, key_id, coalesce(
        (SELECT environment FROM old_operations o WHERE o.account = a.number LIMIT 1),
        (SELECT environment FROM old_batches b WHERE b.account = a.number LIMIT 1)) AS environment
    FROM old_accounts a
    ORDER BY (SELECT max(number) FROM operations o WHERE o.account = a.number) DESC, number DESC`);
  const add = database.prepare(
    "INSERT INTO accounts (number, environment, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const addKey = database.prepare(
    "INSERT INTO account_keys (environment, key_hash, account) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  for (const row of newestFirst.all()) {
    const { text, maybe } = reader(row);
    const [number, key] = [numberIn(row.number), text("key_id")];
    const ofKey = profiles.filter(({ keyHash }) => keyHash === key);
    // Only callbacks were received for an account without an environment: nothing was sent with its key.
    const guess = text("base_url").startsWith("https:") ? "production" : "sandbox";
    const environment = maybe("environment") ?? ofKey[0]?.environment ?? guess;
    const profile = ofKey.find((one) => one.environment === environment);
    const names = [
      ...(profile ? [profile.name] : []),
      ...Array.from(key, (_, index) => `key-${key.slice(0, index + 1)}`).slice(5),
      `key-${key}-${number}`,
    ];
    names.find((name) => add.run(number, environment, name) > 0);
    addKey.run(environment, key, number);
  }
}

function fillOperations(database: Database): void {
  const fill = database.prepare(`
    UPDATE operations SET recipient_key = ?, recipient_name = ?, method_id = ?, description = ?,
      phase = ?, accepted_at = ?, completed_at = ? WHERE number = ?`);
  for (const stored of pagedText(...operationsWithHistory(database))) {
    const { text, maybe } = reader(stored);
    // In JavaScript: a JSON function of SQLite makes invalid text of half a character.
    const listed = listedOf({ kind: kindIn(text("kind")), asked: JSON.parse(text("asked")) });
    const state = stateIn(stored) ?? "UNCERTAIN";
    const { accepted_at: accepted = null, completed_at: completed = null } =
      replayOf(stored)?.columns ?? {};
    fill.run(
      ...[listed.recipient, listed.recipientName, listed.methodId, listed.description],
      phaseOf({ state, status: maybe("status"), code: maybe("code") }),
      ...[accepted ?? (state === "CONFIRMED" ? text("updated_at") : null), completed],
      BigInt(text("number")),
    );
  }
}

/** Refunds are found by their accounts. */
function fillRefunds(database: Database): void {
  const fill = database.prepare("UPDATE operations SET recipient_key = ? WHERE number = ?");
  const all = "SELECT * FROM operations WHERE kind = 'refund' AND number > ? ORDER BY number";
  for (const row of paged(database, all)) {
    const { recipient } = listedOf({ kind: "refund", asked: JSON.parse(String(row.asked)) });
    fill.run(recipient, numberIn(row.number));
  }
}

/**
 * A batch is known by its rows, no longer by its file's bytes. Of two plans of an account with the same rows
 * the older one gets the identity: the other one is still found by its file's bytes.
 */
function fillBatches(database: Database): void {
  const setPayee = database.prepare(
    "UPDATE batch_rows SET recipient_key = ? WHERE batch = ? AND row = ?",
  );
  const setIdentity = database.prepare(
    "UPDATE OR IGNORE batches SET identity = ? WHERE number = ? AND digest IS NOT NULL",
  );
  for (const batch of database.prepare("SELECT * FROM batches ORDER BY number").all()) {
    const number = numberIn(batch.number);
    const hasReferences = /"(?:ref|merchantRef)"/.test(String(batch.columns));
    const keys: string[] = [];
    const all = "SELECT * FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row";
    for (const row of paged(database, all, { by: "row", values: [number] })) {
      const { text, maybe } = reader(row);
      setPayee.run(payeeOf(text("recipient")), number, numberIn(row.row));
      keys.push(
        rowKey({
          amountPaisa: numberIn(row.amount_paisa),
          recipient: text("recipient"),
          methodId: text("method_id"),
          reference: hasReferences ? text("reference") : null,
          name: maybe("name"),
          description: maybe("description"),
        }),
      );
    }
    const ownName = batch.name === batch.file_name ? null : String(batch.name);
    setIdentity.run(identityOf(keys.sort(), ownName), number);
  }
}

/**
 * Records what was in the ledger before accounts and plans were part of the chain. A plan that was
 * modified before stays without an event, so that `ledger check` reports it.
 */
function recordExisting(database: Database, hasAcceptances: boolean): void {
  const at = new Date().toISOString();
  for (const row of database.prepare("SELECT * FROM accounts").all())
    recordRow(database, "account", row, at);
  for (const row of database.prepare("SELECT * FROM account_keys").all())
    recordRow(database, "key", row, at);
  for (const row of database.prepare("SELECT * FROM batches WHERE digest IS NOT NULL").all())
    if (row.digest === digestOf(database, numberIn(row.number)))
      recordRow(database, "plan", row, at);
  for (const row of database.prepare("SELECT * FROM callbacks").all()) setRowDigest(database, row);
  if (!hasAcceptances) return;
  // Acceptances were in a separate table, which only some ledgers had.
  for (const row of database.prepare("SELECT * FROM accepted_new_ledger ORDER BY rowid").all()) {
    const { text } = reader(row);
    recordAcceptance(database, { at: text("at"), user: text("user"), state: text("state") });
  }
  database.exec("DROP TABLE accepted_new_ledger");
}
