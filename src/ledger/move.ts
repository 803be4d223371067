import { randomUUID } from "node:crypto";
import { Failure } from "../domain/failure.ts";
import type { Database } from "../platform/sqlite/database.ts";
import { idsOf } from "./batch.ts";
import { rowDigestOf } from "./callback-rows.ts";
import { planColumns, rowEvent, rowsDigest } from "./chain.ts";
import { type Connection, type Query, rowsJson } from "./postgres/connection.ts";
import { pagesOf } from "./sqlite/operation-rows.ts";
import { type Row as AnyRow, numberIn, type TextRow, textOrNull, textRow } from "./values.ts";

/** What was copied, and what the server had already. */
export interface Moved {
  operations: number;
  existing: number;
  batches: number;
  callbacks: number;
}

interface MovedBy {
  at: string;
  user: string;
  machine: string;
  path: string;
}

/** @throws Failure `ledger.move-conflict` if a reference belongs to another operation on the server */
export async function rejectConflicts(file: Database, { read }: Connection): Promise<void> {
  const accounts = await mapAccounts(file, read);
  for (const page of operationPages(file)) await existingOf(read, page, accounts);
}

/**
 * Copies a ledger file to a server, and compares every copied operation with the file. What is there already is
 * passed over, so that a run that ended early can be repeated. Operations keep their IDs, and get new numbers;
 * their events are appended to the chain of the server. Others use the server meanwhile: whatever takes long
 * comes before its ledger is locked.
 *
 * @throws Failure `ledger.move-conflict` if a reference or an ID belongs to another operation there
 */
export async function moveLedger(
  file: Database,
  connection: Connection,
  by: MovedBy,
): Promise<Moved> {
  const accounts = await copyAccounts(file, connection, by.at);
  const batches = new Map<string, bigint>();
  for (const batch of file
    .prepare("SELECT * FROM batches WHERE digest IS NOT NULL ORDER BY number")
    .all())
    batches.set(
      String(batch.number),
      await copyBatch(file, connection, { batch, accounts, at: by.at }),
    );
  const moved: Moved = { operations: 0, existing: 0, batches: batches.size, callbacks: 0 };
  for (const page of operationPages(file)) {
    const copied = await copyOperations(file, connection, { page, accounts, batches });
    await compare(connection.read, copied, accounts);
    moved.operations += copied.length;
    moved.existing += page.length - copied.length;
  }
  moved.callbacks = await copyCallbacks(file, connection, { accounts, by });
  // Statistics for the planner. For a login that does not own the tables, the server only warns.
  await connection.read("ANALYZE lenden.operations, lenden.events, lenden.batch_rows");
  return moved;
}

type Numbers = Map<string, bigint>;

/** Each page is one commit there. */
function* operationPages(file: Database): Iterable<TextRow[]> {
  const sql = "SELECT * FROM operations WHERE number > ? ORDER BY number";
  for (const page of pagesOf(file, sql)) if (page.length > 0) yield page.map(textRow);
}

/** The server's number of each account of the file that has a key there. */
async function mapAccounts(file: Database, query: Query): Promise<Numbers> {
  const keys = file.prepare("SELECT * FROM account_keys").all();
  const found = await query(
    `SELECT k.environment, k.key_hash, k.account FROM lenden.account_keys k
     JOIN json_to_recordset($1::json) AS a(environment text, key_hash text)
       ON k.environment = a.environment AND k.key_hash = a.key_hash`,
    rowsJson(keys),
  );
  const accounts: Numbers = new Map();
  for (const { environment, key_hash: hash, account } of found) {
    const own = keys.find((key) => key.environment === environment && key.key_hash === hash);
    const number = BigInt(account ?? 0);
    const other = accounts.get(String(own?.account));
    if (other !== undefined && other !== number)
      throw conflict(`two keys of one account belong to different accounts there`);
    accounts.set(String(own?.account), number);
  }
  return accounts;
}

/** An account without a key there is a new one, whatever its name: names prove nothing between machines. */
async function copyAccounts(file: Database, connection: Connection, at: string): Promise<Numbers> {
  return connection.write(async (write) => {
    const accounts = await mapAccounts(file, write.query);
    const taken = await write.query("SELECT environment, name FROM lenden.accounts");
    for (const account of file.prepare("SELECT * FROM accounts ORDER BY number").all()) {
      const { environment } = account;
      const keys = file
        .prepare("SELECT * FROM account_keys WHERE account = ?")
        .all(account.number ?? 0n);
      const isTaken = (name: string) =>
        taken.some((one) => one.environment === environment && one.name === name);
      let number = accounts.get(String(account.number));
      if (number === undefined) {
        const names = [
          account.name,
          ...keys.map((key) => `${account.name}-${String(key.key_hash).slice(0, 6)}`),
        ];
        const name = names.map(String).find((one) => !isTaken(one)) ?? `${account.name}-${at}`;
        const [row = {}] = await write.query(
          "INSERT INTO lenden.accounts (environment, name) VALUES ($1, $2) RETURNING *",
          ...[String(environment), name],
        );
        write.append(rowEvent("account", row, at));
        number = numberIn(row.number);
        accounts.set(String(account.number), number);
      }
      for (const key of keys) {
        const [row] = await write.query(
          `INSERT INTO lenden.account_keys (environment, key_hash, account, first_used_at)
           VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING *`,
          ...[String(key.environment), String(key.key_hash), number, textOrNull(key.first_used_at)],
        );
        if (row) write.append(rowEvent("key", row, at));
      }
    }
    return accounts;
  });
}

/** The number of a plan there, which is copied unless it exists. */
async function copyBatch(
  file: Database,
  connection: Connection,
  { batch, accounts, at }: { batch: AnyRow; accounts: Numbers; at: string },
): Promise<bigint> {
  const account = required(accounts, batch.account);
  let copied: { number: bigint; digest: string } | undefined;
  return connection.write(
    async (write) => {
      const { same, id } = await findBatch(write.query, batch, account);
      if (same !== undefined) {
        if (copied) await write.query("ROLLBACK TO SAVEPOINT no_rows");
        return same;
      }
      if (!copied) throw new Error("the server's ledger lost a batch");
      const { number, digest } = copied;
      const columns = { ...textRow(batch), id, account: String(account), number: String(number) };
      const [row = {}] = await write.query(
        `INSERT INTO lenden.batches (${batchColumns}) SELECT ${batchColumns}
         FROM json_populate_recordset(NULL::lenden.batches, $1::json) RETURNING *`,
        rowsJson([columns]),
      );
      write.append(rowEvent("plan", row, at, digest));
      return number;
    },
    {
      before: async (query) => {
        copied = undefined;
        const { same } = await findBatch(query, batch, account);
        if (same !== undefined) return;
        const number = await newBatchNumber(query);
        await query("SAVEPOINT no_rows");
        copied = { number, digest: await copyRows(file, query, batch, number) };
      },
    },
  );
}

/** The number of the same batch there, or an ID that is free there. */
async function findBatch(
  query: Query,
  { id, identity, digest }: AnyRow,
  account: bigint,
): Promise<{ same?: bigint; id: string }> {
  const others = await query(
    "SELECT number, id, identity, digest FROM lenden.batches WHERE account = $1",
    account,
  );
  const same = others.find((other) => other.identity === identity);
  if (same && same.digest !== digest) throw conflict(`batch ${id} has other rows there`);
  const ids = [String(id), ...idsOf(String(identity))];
  const free = ids.find((one) => !others.some((other) => other.id === one)) ?? String(id);
  return { id: free, ...(same ? { same: numberIn(same.number) } : {}) };
}

/** A number for rows that come before their batch: a sequence never returns a number twice. */
async function newBatchNumber(query: Query): Promise<bigint> {
  await query("SAVEPOINT no_batch");
  const [row] = await query(
    `INSERT INTO lenden.batches (id, identity, profile, environment, name, file_name, file_hash, columns, "user",
       created_at, account) VALUES ($1, $1, '', '', '', '', '', '', '', '', 0) RETURNING number`,
    randomUUID(),
  );
  await query("ROLLBACK TO SAVEPOINT no_batch");
  return numberIn(row?.number);
}

/** @returns the digest of all columns */
async function copyRows(
  file: Database,
  query: Query,
  batch: AnyRow,
  number: bigint,
): Promise<string> {
  const digest = rowsDigest();
  const sql = `SELECT ${planColumns.join(", ")} FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row`;
  const pages = pagesOf(file, sql, { by: "row", values: [batch.number ?? 0n] });
  for (const page of pages) {
    const rows = page.map(textRow);
    for (const row of rows) digest.add(row);
    await query(insertRowsSql, rowsJson(rows.map((row) => ({ ...row, batch: number }))));
  }
  return digest.value();
}

const batchColumns = `number, id, profile, environment, name, file_hash, columns, method, row_count, total_paisa,
  digest, "user", created_at, account, file_name, identity, cancelled_at`;

const quotedPlanColumns = ["batch", ...planColumns].map((name) => `"${name}"`).join(", ");
const insertRowsSql = `INSERT INTO lenden.batch_rows (${quotedPlanColumns}) SELECT ${quotedPlanColumns}
  FROM json_populate_recordset(NULL::lenden.batch_rows, $1::json)`;

/**
 * The IDs of the operations of a page that the server has: those of an earlier run, and payouts that both recorded
 * with the same result.
 */
async function existingOf(query: Query, page: TextRow[], accounts: Numbers): Promise<Set<string>> {
  const asked = page.map(({ id, reference, account }) => ({
    id,
    reference,
    account: textOrNull(accounts.get(String(account)) ?? null),
  }));
  const found = await query(
    `SELECT a.id AS own, o.* FROM json_to_recordset($1::json) AS a(id text, reference text, account bigint)
     JOIN lenden.operations o ON o.id = a.id OR (o.account = a.account AND o.reference = a.reference)`,
    rowsJson(asked),
  );
  const own = new Map(page.map((row) => [row.id, row]));
  const existing = new Set<string>();
  const conflicts: string[] = [];
  for (const there of found) {
    const here = own.get(there.own ?? null);
    if (!here) continue;
    const isCopy = there.id === here.id;
    const isKnown = here.remote_id !== null;
    const isSame = isCopy || (isKnown && sameColumns.every((name) => there[name] === here[name]));
    if (isSame) existing.add(here.id ?? "");
    else conflicts.push(`reference ${here.reference} (${here.id} here, ${there.id} there)`);
  }
  if (conflicts.length > 0) throw conflict(conflicts.slice(0, 5).join("; "));
  return existing;
}

/** Payouts that both recorded are the same only if both know that the API has the same one. */
const sameColumns = ["amount_paisa", "recipient_key", "method_id", "state", "remote_id"];

interface PageToCopy {
  page: TextRow[];
  accounts: Numbers;
  batches: Numbers;
}

/** @returns the operations of the page that the server did not have */
async function copyOperations(
  file: Database,
  connection: Connection,
  { page, accounts, batches }: PageToCopy,
): Promise<TextRow[]> {
  const history = file.prepare(
    "SELECT at, event, data FROM events WHERE operation = ? ORDER BY number",
  );
  const histories = new Map(page.map((row) => [row, history.all(BigInt(row.number ?? 0))]));
  let look: { newest: bigint; existing: Set<string> } | undefined;
  return connection.write(
    async (write) => {
      const existing =
        look?.newest === write.head.number
          ? look.existing
          : await existingOf(write.query, page, accounts);
      const missing = page.filter(({ id }) => !existing.has(id ?? ""));
      const rows = missing.map((row) => {
        const number = write.nextOperation();
        const account = String(required(accounts, row.account));
        const batch =
          row.batch === null ? null : textOrNull(batches.get(String(row.batch)) ?? null);
        for (const { at, event, data } of histories.get(row) ?? [])
          write.append({
            operation: number,
            at: String(at),
            event: String(event),
            data: event === "intent" ? moveIntent(String(data), { account, batch }) : String(data),
          });
        return { ...row, number, account, batch, holder: undefined };
      });
      if (rows.length > 0)
        await write.flush({
          parts: (bind) => [
            `copied AS (INSERT INTO lenden.operations SELECT * FROM
               json_populate_recordset(NULL::lenden.operations, ${bind(rowsJson(rows))}::json) RETURNING number)`,
          ],
        });
      return missing;
    },
    {
      before: async (query) => {
        const [head] = await query("SELECT number FROM lenden.head");
        const existing = await existingOf(query, page, accounts);
        look = { newest: numberIn(head?.number), existing };
      },
    },
  );
}

/** An intent names its account and its batch by numbers. */
function moveIntent(data: string, numbers: { account: string; batch: string | null }): string {
  const fields: Record<string, unknown> = JSON.parse(data);
  return JSON.stringify({ ...fields, ...numbers });
}

/** @throws Failure `ledger.move-differs` if a copied operation is not as it is in the file */
async function compare(query: Query, page: TextRow[], accounts: Numbers): Promise<void> {
  const found = await query(
    "SELECT o.* FROM lenden.operations o WHERE o.id = ANY($1::text[])",
    page.map(({ id }) => id ?? ""),
  );
  const copies = new Map(found.map((row) => [row.id, row]));
  for (const row of page) {
    const copy = copies.get(row.id ?? null);
    const isSame =
      copy?.account === String(required(accounts, row.account)) &&
      Object.keys(row).every((name) => renumbered.includes(name) || copy[name] === row[name]);
    if (!isSame)
      throw new Failure(
        "ledger.move-differs",
        `Operation ${row.id} is not the same on the server.`,
        {
          hint: "Report this problem. Until then, nothing is sent with the ledger of this machine.",
        },
      );
  }
}

const renumbered = ["number", "account", "batch", "holder"];

/** True if a ledger file was completely copied to a server. */
export async function hasLedger(file: Database, { read }: Connection): Promise<boolean> {
  return isImported(sourceOf(file), read);
}

/** The hash of its first event, which tells ledger files apart. */
function sourceOf(file: Database): string | null {
  const first = file.prepare("SELECT hash FROM events ORDER BY number LIMIT 1").get();
  return textOrNull(first?.hash);
}

async function isImported(source: string | null, query: Query): Promise<boolean> {
  const sql =
    "SELECT 1 FROM lenden.events WHERE operation IS NULL AND event = 'imported' AND data::json ->> 'source' = $1";
  return (await query(sql, source)).length > 0;
}

/** Once: they have no IDs of their own. The event shows that it was done. */
async function copyCallbacks(
  file: Database,
  connection: Connection,
  { accounts, by }: { accounts: Numbers; by: MovedBy },
): Promise<number> {
  const { at, ...who } = by;
  const source = sourceOf(file);
  const data = JSON.stringify({ ...who, source });
  const isDone = (query: Query) => isImported(source, query);
  let count = 0;
  return connection.write(
    async (write) => {
      if (await isDone(write.query)) {
        await write.query("ROLLBACK TO SAVEPOINT no_callbacks");
        return 0;
      }
      write.append({ operation: null, at, event: "imported", data });
      return count;
    },
    {
      before: async (query) => {
        count = 0;
        await query("SAVEPOINT no_callbacks");
        if (await isDone(query)) return;
        for (const page of pagesOf(
          file,
          "SELECT * FROM callbacks WHERE number > ? ORDER BY number",
        )) {
          const rows = page.map((row) => ({
            ...textRow(row),
            account: String(required(accounts, row.account)),
          }));
          await insertCallbacks(query, rows);
          count += rows.length;
        }
      },
    },
  );
}

/** They get new numbers, which their digests cover. */
async function insertCallbacks(query: Query, rows: TextRow[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).filter((name) => name !== "number");
  if (columns.length === 0) return;
  const copies = await query(
    `INSERT INTO lenden.callbacks (${columns}) SELECT ${columns}
     FROM json_populate_recordset(NULL::lenden.callbacks, $1::json) RETURNING *`,
    rowsJson(rows),
  );
  await query(
    `UPDATE lenden.callbacks c SET row_digest = d.digest
     FROM json_to_recordset($1::json) AS d(number bigint, digest text) WHERE c.number = d.number`,
    rowsJson(copies.map((row) => ({ number: row.number, digest: rowDigestOf(row) }))),
  );
}

function required(numbers: Numbers, number: unknown): bigint {
  const found = numbers.get(String(number));
  if (found === undefined) throw new Error("the ledger names an account that it does not have");
  return found;
}

function conflict(what: string): Failure {
  return new Failure(
    "ledger.move-conflict",
    `The server's ledger differs from the ledger of this machine: ${what}.`,
    {
      hint: "Resolve these operations in both ledgers with 'lenden ledger resolve', then run the command again.",
    },
  );
}
