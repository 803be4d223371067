import { randomUUID } from "node:crypto";
import { Failure } from "../../domain/failure.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { idsOf } from "../batch.ts";
import { cancelledEvent, PlanSums, planColumns, planEvent } from "../plan.ts";
import { type Connection, type Query, rowsJson } from "../postgres/connection.ts";
import { isAliveInSql } from "../postgres/processes.ts";
import { cancelledAt, plannedBy } from "../sql/conditions.ts";
import { pagesOf } from "../sqlite/pages.ts";
import { isTrue, type TextRow, textOrNull, textRow } from "../values.ts";
import {
  conflict,
  differs,
  digestOf,
  digestSql,
  insertRows,
  movedColumns,
  type Numbers,
  recordedByOthers,
  required,
} from "./rows.ts";

/** Batches without a plan have nothing that was sent. */
export function plansOf(file: Database): TextRow[] {
  const sql = "SELECT * FROM batches WHERE row_count IS NOT NULL ORDER BY number";
  return file.prepare(sql).all().map(movedColumns);
}

/**
 * The plans of the file that the server has.
 *
 * @throws Failure `ledger.move-conflict` if one has other rows there
 * @throws Failure `operation.locked` if a process is about to plan one there
 */
export async function findPlans(file: Database, query: Query, accounts: Numbers): Promise<Numbers> {
  const plans = plansOf(file);
  const known = await findBatches(query, plans, accounts);
  const batches: Numbers = new Map();
  for (const plan of plans) {
    const there = known.get(plan.number);
    if (!there || isOnlyClaimed(there, plan)) continue;
    const { number: found, planned_by: login } = there;
    const number = found ?? "";
    if (!isTrue(there.is_own ?? null))
      throw recordedByOthers([`batch ${plan.id}, of login ${login ?? "none"}`]);
    if (plan.cancelled_at != null && !isTrue(there.cancelled ?? null))
      throw conflict(`batch ${plan.id} was cancelled here`);
    const isSame = there.rows === plan.row_count && (await hasRows(file, query, plan, number));
    if (!isSame) throw conflict(`batch ${plan.id} has other rows there`);
    batches.set(plan.number, number);
  }
  return batches;
}

/** The batches of the server with the identities of plans, by the numbers of these. */
async function findBatches(query: Query, plans: TextRow[], accounts: Numbers) {
  const asked = plans.map(({ number, account, identity }) => {
    return { own: number, account: accounts.get(account) ?? null, identity };
  });
  const found = await query(
    `SELECT a.own, b.number, b.id, b.environment, b.row_count IS NOT NULL AS planned,
       (SELECT count(*) FROM lenden.batch_rows r WHERE r.batch = b.number) AS rows,
       (SELECT count(*) FROM lenden.events e WHERE e.batch = b.number) AS events,
       ${plannedBy("b")} AS planned_by, coalesce(${plannedBy("b")} = session_user, false) AS is_own,
       ${cancelledAt("b")} IS NOT NULL AS cancelled,
       EXISTS (SELECT 1 FROM lenden.processes p WHERE p.id = b.process AND ${isAliveInSql}) AS held
     FROM lenden.batches b JOIN json_to_recordset($1::json) AS a(own bigint, account bigint, identity text)
       ON b.account = a.account AND b.identity = a.identity`,
    rowsJson(asked),
  );
  return new Map(found.map((there) => [there.own, there]));
}

/**
 * True if a batch was claimed there and not planned: its file was not confirmed, or limits denied it.
 *
 * @throws Failure `operation.locked` if a process works on it
 * @throws Failure `ledger.move-conflict` if lenden claims no such batch: another login may have added anything
 */
function isOnlyClaimed(
  { planned, held, id, environment, rows, events }: TextRow,
  plan: TextRow,
): boolean {
  if (isTrue(planned ?? null)) return false;
  if (isTrue(held ?? null)) throw heldThere(plan);
  const isOwn = id === plan.id && environment === plan.environment;
  if (!isOwn || rows !== "0" || events !== "0")
    throw conflict(`batch ${plan.id} is another one there`);
  return true;
}

function heldThere({ id }: TextRow): Failure {
  const what = `batch ${id} of the server's ledger`;
  return new Failure("operation.locked", `Another lenden process works on ${what}.`, {
    hint: "Run the same command again when that process has ended. To see it, run 'lenden ledger processes'.",
  });
}

/**
 * A plan is judged once, and only by the limits of the ledger in which it was made.
 *
 * @throws Failure `ledger.move-conflict` for a batch that is not sent, if the server has limits for it
 */
export async function requireJudged(file: Database, query: Query): Promise<void> {
  for (const plan of plansOf(file)) {
    if (!(await isUnjudged(file, query, plan))) continue;
    const isUnknown = plan.reserved_paisa === "0";
    const next = isUnknown ? "ledger resolve" : `payout batch cancel ${plan.id}`;
    throw new Failure(
      "ledger.move-conflict",
      `The server's ledger has limits, which did not judge batch ${plan.id}. Some of its rows are not sent, or their outcome is unknown.`,
      {
        hint: `Run 'lenden ${next}', then run the command again.`,
      },
    );
  }
}

/** True for a plan that the server's limits did not judge, and that may still send something. */
async function isUnjudged(file: Database, query: Query, { number }: TextRow): Promise<boolean> {
  const open = file
    .prepare(
      `SELECT b.environment, a.name FROM batches b JOIN accounts a ON a.number = b.account
       WHERE b.number = ? AND b.cancelled_at IS NULL AND (b.reserved_paisa > 0 OR EXISTS (
         SELECT 1 FROM batch_rows r JOIN operations o ON o.account = b.account AND o.reference = r.reference
         WHERE r.batch = b.number AND o.phase = 'unresolved'))`,
    )
    .get(BigInt(number ?? 0));
  if (!open) return false;
  const limited = await query(
    `SELECT 1 FROM lenden.limits l WHERE l.value IS NOT NULL AND l.environment = $1 AND l.account IN ('', $2)
       AND NOT EXISTS (SELECT 1 FROM lenden.limits newer WHERE newer.environment = l.environment
         AND newer.account = l.account AND newer.name = l.name AND newer.number > l.number) LIMIT 1`,
    ...[textOrNull(open.environment), textOrNull(open.name)],
  );
  return limited.length > 0;
}

/** What is sent of a row. */
const comparedColumns = [
  ...["row", "reference", "amount_paisa", "recipient", "method_id", "name", "description"],
];

/** True if the server has the rows of a plan. */
async function hasRows(file: Database, query: Query, plan: TextRow, number: string) {
  const sql = `SELECT ${digestSql(comparedColumns, "row")} AS digest FROM lenden.batch_rows
    WHERE batch = $1 AND "row" BETWEEN $2 AND $3`;
  for (const rows of planPages(file, plan)) {
    const [there] = await query(sql, number, rows[0]?.row ?? "", rows.at(-1)?.row ?? "");
    if (there?.digest !== digestOf(rows, comparedColumns)) return false;
  }
  return true;
}

function* planPages(file: Database, { number }: TextRow): Iterable<TextRow[]> {
  const sql = `SELECT ${planColumns.join(", ")} FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row`;
  for (const page of pagesOf(file, sql, { by: "row", values: [BigInt(number ?? 0)] }))
    if (page.length > 0) yield page.map(textRow);
}

/**
 * A plan is one transaction: guards must see all of its rows or none. One that the server's limits did not judge is
 * cancelled there: limits were set since an earlier run of the move.
 *
 * @returns its number there, and whether it was cancelled so
 */
export async function copyPlan(
  file: Database,
  connection: Connection,
  {
    accounts,
    plan,
    at,
    source,
  }: { accounts: Numbers; plan: TextRow; at: string; source: string | null },
): Promise<{ number: string; isCancelled: boolean }> {
  const account = required(accounts, plan);
  let number = "";
  let sums = new PlanSums();
  const copyRows = async (query: Query) => {
    sums = new PlanSums();
    for (const rows of planPages(file, plan)) {
      for (const row of rows) sums.add(row);
      const copies = rows.map((row) => ({ batch: number, ...row }));
      await insertRows(query, "batch_rows", copies, "row");
    }
  };
  return connection.write(
    async (write) => {
      const there = (await findBatches(write.query, [plan], accounts)).get(plan.number);
      if (there && !isOnlyClaimed(there, plan)) {
        // Another process stored it meanwhile. The ledger is not locked from here on, so nothing may follow.
        await write.query("ROLLBACK TO SAVEPOINT no_rows");
        return { number: there.number ?? "", isCancelled: false };
      }
      if (there) {
        // Claimed after the rows got another number.
        if (number !== "") throw heldThere(plan);
        number = there.number ?? "";
        await copyRows(write.query);
      }
      const id = there?.id ?? (await freeId(write.query, account, plan));
      const isCancelled = await isUnjudged(file, write.query, plan);
      const cancelledAt = isCancelled ? at : (plan.cancelled_at ?? null);
      const row = { ...plan, account, id, number, cancelled_at: cancelledAt };
      const stored = there ? await planClaimed(write.query, row) : row;
      if (!there) await insertRows(write.query, "batches", [row]);
      write.pending.append(planEvent(stored, at, sums, source));
      if (cancelledAt) write.pending.append(cancelledEvent(BigInt(number), cancelledAt));
      return { number, isCancelled };
    },
    {
      before: async (query) => {
        const isThere = (await findBatches(query, [plan], accounts)).size > 0;
        number = isThere ? "" : await newBatchNumber(query, at);
        await query("SAVEPOINT no_rows");
        if (!isThere) await copyRows(query);
      },
    },
  );
}

async function freeId(query: Query, account: string, plan: TextRow): Promise<string> {
  const others = await query("SELECT id FROM lenden.batches WHERE account = $1", account);
  const isFree = (id: string) => !others.some((other) => other.id === id);
  return [plan.id ?? "", ...idsOf(plan.identity ?? "")].find(isFree) ?? plan.id ?? "";
}

/** What a batch gets when it is planned. */
const columnsOfPlan = [
  ...["name", "file_name", "file_hash", "columns", "method", "row_count", "total_paisa"],
  ...["reserved_paisa", "actor", "seal", "created_at", "cancelled_at"],
];

/** Plans a batch that was claimed there. @throws Failure `ledger.move-differs` if the server stored another one */
async function planClaimed(query: Query, plan: TextRow): Promise<TextRow> {
  const set = columnsOfPlan.map((name) => `"${name}" = given."${name}"`);
  const [row] = await query(
    `UPDATE lenden.batches b SET process = NULL, held_since = NULL, ${set}
     FROM json_populate_recordset(NULL::lenden.batches, $1::json) given
     WHERE b.number = given.number AND b.row_count IS NULL RETURNING b.*`,
    rowsJson([plan]),
  );
  if (!row || columnsOfPlan.some((name) => row[name] !== plan[name]))
    throw differs("The table batches");
  return row;
}

/** A number for rows that come before their batch: a sequence never returns a number twice. */
async function newBatchNumber(query: Query, at: string): Promise<string> {
  await query("SAVEPOINT no_batch");
  const [row] = await query(
    `INSERT INTO lenden.batches (id, identity, profile, environment, name, file_name, file_hash, columns, "user",
       created_at, account) VALUES ($1, $1, '', '', '', '', '', '[]', '', $2, 0) RETURNING number`,
    ...[randomUUID(), at],
  );
  await query("ROLLBACK TO SAVEPOINT no_batch");
  return row?.number ?? "";
}
