import type { Database } from "../../platform/sqlite/database.ts";
import { rowDigestOf } from "../callback-rows.ts";
import type { Event } from "../chain.ts";
import { entryData, entryOf, isEntryEvent, keyIn } from "../entry.ts";
import { type Connection, type Query, rowsJson } from "../postgres/connection.ts";
import { correctReserves } from "../sql/limits.ts";
import { pagesOf } from "../sqlite/pages.ts";
import { type TextRow, textOrNull, textRow } from "../values.ts";
import { copyAccounts, findAccounts } from "./accounts.ts";
import { copyOperations, findMissing, operationPages } from "./operations.ts";
import { copyPlan, findPlans, plansOf } from "./plans.ts";
import { differs, insertRows, type Numbers, required } from "./rows.ts";

/*
 * The rows of a ledger file, on a server that others use meanwhile. Rows get new numbers there, and events are
 * appended to the chain of the server. Each page is one transaction, which is committed only if the digest of what
 * the server stored is that of the file. What the server has already is compared and not stored again, so a run that
 * ended at any moment can be repeated. Whatever takes long comes before the server's ledger is locked.
 */

/** What was copied, and what the server had already. */
export interface Moved {
  operations: number;
  existing: number;
  batches: number;
  /** Batches that were cancelled there, because its limits did not judge them. */
  cancelled: number;
  callbacks: number;
}

interface MovedBy {
  at: string;
  user: string;
  machine: string;
  path: string;
}

/**
 * @throws Failure `ledger.move-conflict` if a reference, an ID or a batch belongs to another one there
 * @throws Failure `ledger.move-differs` if the server has other rows than the file
 */
export async function moveLedger(
  file: Database,
  connection: Connection,
  by: MovedBy,
): Promise<Moved> {
  const accounts = await copyAccounts(file, connection, by.at);
  const batches = await findPlans(file, connection.read, accounts);
  const source = sourceOf(file);
  let cancelled = 0;
  for (const plan of plansOf(file)) {
    if (batches.has(plan.number)) continue;
    const copied = await copyPlan(file, connection, { accounts, plan, at: by.at, source });
    if (copied.isCancelled) cancelled += 1;
    batches.set(plan.number, copied.number);
  }
  const moved: Moved = {
    operations: 0,
    existing: 0,
    batches: batches.size,
    cancelled,
    callbacks: 0,
  };
  for (const page of operationPages(file, { accounts, batches })) {
    const copied = await copyOperations(connection, page);
    moved.operations += copied;
    moved.existing += page.length - copied;
  }
  const lacking = await compareLedger(file, connection);
  if (lacking !== undefined) throw differs(lacking);
  moved.callbacks = await copyCallbacks(file, connection, accounts, by);
  // Statistics for the planner. For a login that does not own the tables, the server only warns.
  await connection.read("ANALYZE lenden.operations, lenden.events, lenden.batch_rows");
  return moved;
}

/**
 * Compares everything that the server has of the file. Others may have continued it there, so of an operation only
 * the events of the file are compared, which no one can change.
 *
 * @returns the first that the server lacks
 * @throws Failure as `moveLedger`
 */
export async function compareLedger(
  file: Database,
  { read }: Connection,
): Promise<string | undefined> {
  const { accounts } = await findAccounts(file, read);
  const batches = await findPlans(file, read, accounts);
  const plan = plansOf(file).find(({ number }) => !batches.has(number));
  let lacking = plan && `Batch ${plan.id}`;
  for (const page of operationPages(file, { accounts, batches })) {
    const [first] = await findMissing(read, page);
    lacking ??= first && `Operation ${first.row.id}`;
  }
  return lacking;
}

/** True if a ledger file was completely copied to a server. */
export async function hasLedger(file: Database, { read }: Connection): Promise<boolean> {
  return (await read(importedSql, sourceOf(file))).length > 0;
}

/** The hash of its first event, which tells ledger files apart. */
function sourceOf(file: Database): string | null {
  const first = file.prepare("SELECT hash FROM events ORDER BY number LIMIT 1").get();
  return textOrNull(first?.hash);
}

/** True if this login copied the whole file: another one may have added such an event. */
async function isImported(source: string | null, query: Query): Promise<boolean> {
  return (await query(`${importedSql} AND login = session_user`, source)).length > 0;
}

const importedSql =
  "SELECT 1 FROM lenden.events WHERE operation IS NULL AND event = 'imported' AND data::json ->> 'source' = $1";

/** Last and once: they have no IDs of their own. The event shows that the whole file was copied. */
async function copyCallbacks(
  file: Database,
  connection: Connection,
  accounts: Numbers,
  { at, ...who }: MovedBy,
): Promise<number> {
  const source = sourceOf(file);
  if (await isImported(source, connection.read)) return 0;
  let count = 0;
  return connection.write(
    async (write) => {
      if (await isImported(source, write.query)) {
        await write.query("ROLLBACK TO SAVEPOINT no_callbacks");
        return 0;
      }
      for (const event of entriesOf(file, accounts)) write.pending.append(event);
      await write.query(correctReserves);
      const data = JSON.stringify({ ...who, source });
      write.pending.append({ operation: null, at, event: "imported", data });
      return count;
    },
    {
      before: async (query) => {
        count = 0;
        await query("SAVEPOINT no_callbacks");
        const sql = "SELECT * FROM callbacks WHERE number > ? ORDER BY number";
        for (const page of pagesOf(file, sql)) {
          await insertCallbacks(query, page.map(textRow), accounts);
          count += page.length;
        }
      },
    },
  );
}

/** The entries of the file that were not withdrawn, with the numbers that their accounts have on the server. */
function* entriesOf(file: Database, accounts: Numbers): Iterable<Event> {
  for (const page of pagesOf(file, entriesInFile))
    for (const row of page) {
      const entry = entryOf(row);
      if (!entry) continue;
      const account = BigInt(required(accounts, { account: String(entry.account) }));
      const data = entryData(entry, { account, user: entry.user });
      yield { operation: null, at: entry.recordedAt, event: "entry", data };
    }
}

const entriesInFile = `SELECT number, at, data, login FROM events e WHERE operation IS NULL AND event = 'entry'
  AND number = (SELECT max(n.number) FROM events n
    WHERE n.${isEntryEvent} AND ${keyIn("n.data")} = ${keyIn("e.data")}) AND number > ? ORDER BY number`;

/** They get new numbers, which their digests cover. */
async function insertCallbacks(query: Query, page: TextRow[], accounts: Numbers): Promise<void> {
  const rows = page.map(({ number: _, row_digest: _digest, ...row }): TextRow => {
    return { ...row, account: required(accounts, row) };
  });
  const numbers = await insertRows(query, "callbacks", rows);
  const digests = rows.map((row, place) => {
    const number = numbers[place] ?? null;
    return { number, digest: rowDigestOf({ ...row, number }) };
  });
  await query(
    `UPDATE lenden.callbacks c SET row_digest = d.digest
     FROM json_to_recordset($1::json) AS d(number bigint, digest text) WHERE c.number = d.number`,
    rowsJson(digests),
  );
}
