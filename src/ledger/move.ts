import { Failure } from "../domain/failure.ts";
import type { Database } from "../platform/sqlite/database.ts";
import { idsOf } from "./batch.ts";
import { rowDigestOf } from "./callback-rows.ts";
import { planColumns, rowEvent, rowsDigest } from "./chain.ts";
import { type Connection, type Query, rowsJson, type Write } from "./postgres/connection.ts";
import { type Row as AnyRow, numberIn, type TextRow, textOrNull } from "./rows.ts";
import { paged } from "./sqlite/operation-rows.ts";

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

const operationsPerCommit = 500;
const rowsPerStatement = 2_000;

/** @throws Failure `ledger.move-conflict` if a reference belongs to another operation on the server */
export async function rejectConflicts(file: Database, { read }: Connection): Promise<void> {
  const accounts = await mapAccounts(file, read);
  for (const page of operationPages(file)) await existingOf(read, page, accounts);
}

/**
 * Copies a ledger file to a server, and compares every copied operation with the file. What is there already is
 * passed over, so that a run that ended early can be repeated. Operations keep their IDs, and get new numbers;
 * their events are appended to the chain of the server.
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
    const copied = await connection.write((write) =>
      copyOperations(file, write, { page, accounts, batches }),
    );
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

function* operationPages(file: Database): Iterable<TextRow[]> {
  let page: TextRow[] = [];
  for (const row of paged(file, "SELECT * FROM operations WHERE number > ? ORDER BY number")) {
    page.push(textRow(row));
    if (page.length < operationsPerCommit) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function textRow(row: AnyRow): TextRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOrNull(value)]));
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
  const rows = () =>
    paged(
      file,
      `SELECT ${planColumns.join(", ")} FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row`,
      { by: "row", values: [batch.number ?? 0n] },
    );
  return connection.write(async (write) => {
    const others = await write.query(
      "SELECT number, id, identity, digest FROM lenden.batches WHERE account = $1",
      account,
    );
    const same = others.find(
      ({ identity, id, digest }) =>
        (identity !== null && identity === batch.identity) ||
        (id === batch.id && digest === batch.digest),
    );
    if (same && same.digest === batch.digest) return BigInt(same.number ?? 0);
    if (same) throw conflict(`batch ${batch.id} has another plan there`);
    const ids = [
      String(batch.id),
      ...(batch.identity === null ? [] : idsOf(String(batch.identity))),
    ];
    const id = ids.find((one) => !others.some((other) => other.id === one)) ?? ids[0] ?? "";
    const columns = {
      ...textRow(batch),
      id,
      account: String(account),
      number: undefined,
      holder: undefined,
    };
    const [row = {}] = await write.query(
      `INSERT INTO lenden.batches (${batchColumns}) SELECT ${batchColumns}
       FROM json_populate_recordset(NULL::lenden.batches, $1::json) RETURNING *`,
      rowsJson([columns]),
    );
    const digest = rowsDigest();
    let some: TextRow[] = [];
    const insert = async (): Promise<void> => {
      await write.query(insertRowsSql, rowsJson(some));
      some = [];
    };
    for (const planned of rows()) {
      digest.add(planned);
      some.push({ ...textRow(planned), batch: row.number ?? null });
      if (some.length === rowsPerStatement) await insert();
    }
    await insert();
    write.append(rowEvent("plan", row, at, digest.value()));
    return BigInt(row.number ?? 0);
  });
}

const batchColumns = `id, profile, environment, name, file_hash, columns, method, row_count, total_paisa,
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

async function copyOperations(
  file: Database,
  write: Write,
  { page, accounts, batches }: PageToCopy,
): Promise<TextRow[]> {
  const existing = await existingOf(write.query, page, accounts);
  const history = file.prepare(
    "SELECT at, event, data FROM events WHERE operation = ? ORDER BY number",
  );
  const rows: object[] = [];
  const missing = page.filter(({ id }) => !existing.has(id ?? ""));
  for (const row of missing) {
    const number = write.nextOperation();
    const account = String(required(accounts, row.account));
    const batch = row.batch === null ? null : textOrNull(batches.get(String(row.batch)) ?? null);
    rows.push({ ...row, number, account, batch, holder: undefined });
    for (const { at, event, data } of history.all(BigInt(row.number ?? 0)))
      write.append({
        operation: number,
        at: String(at),
        event: String(event),
        data: event === "intent" ? moveIntent(String(data), { account, batch }) : String(data),
      });
  }
  if (rows.length > 0)
    await write.flush((bind) => [
      `copied AS (INSERT INTO lenden.operations SELECT * FROM
         json_populate_recordset(NULL::lenden.operations, ${bind(rowsJson(rows))}::json) RETURNING number)`,
    ]);
  return missing;
}

/** An intent names its account and its batch by numbers. Those of early versions name neither. */
function moveIntent(data: string, numbers: { account: string; batch: string | null }): string {
  const fields: Record<string, unknown> = JSON.parse(data);
  return fields.keyHash === undefined ? data : JSON.stringify({ ...fields, ...numbers });
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
          hint: "Nothing is sent with this machine's ledger. Report this problem.",
        },
      );
  }
}

const renumbered = ["number", "account", "batch", "holder"];

/** Once: they have no IDs of their own. The event shows that it was done. */
async function copyCallbacks(
  file: Database,
  connection: Connection,
  { accounts, by }: { accounts: Numbers; by: MovedBy },
): Promise<number> {
  const { at, ...who } = by;
  const head = file.prepare("SELECT hash FROM events ORDER BY number LIMIT 1").get();
  const source = textOrNull(head?.hash);
  const data = JSON.stringify({ ...who, source });
  return connection.write(async (write) => {
    const done = await write.query(
      "SELECT 1 FROM lenden.events WHERE operation IS NULL AND event = 'imported' AND data::json ->> 'source' = $1",
      source,
    );
    if (done.length > 0) return 0;
    let count = 0;
    for (const callback of paged(
      file,
      "SELECT * FROM callbacks WHERE number > ? ORDER BY number",
    )) {
      const account = String(required(accounts, callback.account));
      const row = { ...textRow(callback), account, number: undefined };
      const columns = Object.keys(row)
        .filter((name) => name !== "number")
        .join(", ");
      const [copy = {}] = await write.query(
        `INSERT INTO lenden.callbacks (${columns}) SELECT ${columns}
         FROM json_populate_recordset(NULL::lenden.callbacks, $1::json) RETURNING *`,
        rowsJson([row]),
      );
      await write.query(
        "UPDATE lenden.callbacks SET row_digest = $1 WHERE number = $2",
        ...[rowDigestOf(copy), copy.number ?? null],
      );
      count += 1;
    }
    write.append({ operation: null, at, event: "imported", data });
    return count;
  });
}

function required(numbers: Numbers, number: unknown): bigint {
  const found = numbers.get(String(number));
  if (found === undefined) throw new Error("the ledger names an account that it does not have");
  return found;
}

function conflict(what: string): Failure {
  return new Failure("ledger.move-conflict", `The server's ledger has other operations: ${what}.`, {
    hint: "Find out what the API has with 'lenden ledger resolve', then run the command again.",
  });
}
