import { randomUUID } from "node:crypto";
import { Failure } from "../../domain/failure.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { idsOf } from "../batch.ts";
import { cancelledEvent, PlanSums, planColumns, planEvent } from "../plan.ts";
import { type Connection, type Query, rowsJson } from "../postgres/connection.ts";
import { isAliveInSql } from "../postgres/processes.ts";
import { pagesOf } from "../sqlite/pages.ts";
import { isTrue, type TextRow, textOrNull, textRow } from "../values.ts";
import {
  conflict,
  digestOf,
  digestSql,
  insertRows,
  movedColumns,
  type Numbers,
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
 */
export async function findPlans(file: Database, query: Query, accounts: Numbers): Promise<Numbers> {
  const plans = plansOf(file);
  const asked = plans.map(({ number, account, identity }) => {
    return { own: number, account: accounts.get(account) ?? null, identity };
  });
  const found = await query(
    `SELECT a.own, b.number, b.row_count IS NOT NULL AS planned,
       (SELECT count(*) FROM lenden.batch_rows r WHERE r.batch = b.number) AS rows
     FROM lenden.batches b JOIN json_to_recordset($1::json) AS a(own bigint, account bigint, identity text)
       ON b.account = a.account AND b.identity = a.identity`,
    rowsJson(asked),
  );
  const batches: Numbers = new Map();
  for (const plan of plans) {
    const { number, planned, rows } = found.find(({ own }) => own === plan.number) ?? {};
    const isPlanned = isTrue(planned);
    // A file that was not confirmed, or that limits denied, leaves a batch without a plan.
    if (!number || (!isPlanned && rows === "0")) continue;
    const hasCount = isPlanned && rows === plan.row_count;
    const isSame = hasCount && (await hasRows(file, query, plan, number));
    if (!isSame) throw conflict(`batch ${plan.id} has other rows there`);
    batches.set(plan.number, number);
  }
  return batches;
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
  { accounts, plan, at }: { accounts: Numbers; plan: TextRow; at: string },
): Promise<{ number: string; isCancelled: boolean }> {
  const account = required(accounts, plan);
  let number = "";
  let sums = new PlanSums();
  return connection.write(
    async (write) => {
      const sql =
        "SELECT number, id, environment, identity, row_count FROM lenden.batches WHERE account = $1";
      const others = await write.query(sql, account);
      const same = others.find(({ identity }) => identity === plan.identity);
      if (same && same.row_count !== null) {
        // Another process stored it meanwhile.
        await write.query("ROLLBACK TO SAVEPOINT no_rows");
        return { number: same.number ?? "", isCancelled: false };
      }
      const ids = idsOf(plan.identity ?? "");
      const isId = (id: string | null | undefined) => ids.some((one) => one === id);
      const isFree = (id: string) => !others.some((other) => other.id === id);
      const id = [plan.id ?? "", ...ids].find(isFree) ?? plan.id ?? "";
      const isCancelled = await isUnjudged(file, write.query, plan);
      const cancelledAt = isCancelled ? at : (plan.cancelled_at ?? null);
      const row = { ...plan, account, id, number, cancelled_at: cancelledAt };
      if (same) {
        // Whoever claimed it may have given it any values.
        const isOwn = isId(same.id) && same.environment === plan.environment;
        if (!isOwn) throw conflict(`batch ${plan.id} is another one there`);
        write.pending.append(planEvent(await planClaimed(write.query, row), at, sums));
      } else {
        await insertRows(write.query, "batches", [row]);
        write.pending.append(planEvent(row, at, sums));
      }
      if (cancelledAt) write.pending.append(cancelledEvent(BigInt(number), cancelledAt));
      return { number, isCancelled };
    },
    {
      before: async (query) => {
        const [claimed] = await query(unplanned, account, plan.identity ?? null);
        number = claimed?.number ?? (await newBatchNumber(query, at));
        await query("SAVEPOINT no_rows");
        sums = new PlanSums();
        for (const rows of planPages(file, plan)) {
          for (const row of rows) sums.add(row);
          const copies = rows.map((row) => ({ batch: number, ...row }));
          await insertRows(query, "batch_rows", copies, "row");
        }
      },
    },
  );
}

const unplanned = `SELECT number FROM lenden.batches
  WHERE account = $1 AND identity = $2 AND row_count IS NULL`;

/** What a batch gets when it is planned. */
const columnsOfPlan = [
  ...["name", "file_name", "file_hash", "columns", "method", "row_count", "total_paisa"],
  ...["reserved_paisa", "actor", "seal", "created_at", "cancelled_at"],
];

/**
 * Plans a batch that was claimed there and not planned.
 *
 * @throws Failure `operation.locked` if a process works on it
 */
async function planClaimed(query: Query, plan: TextRow): Promise<TextRow> {
  const set = columnsOfPlan.map((name) => `"${name}" = given."${name}"`);
  const [row] = await query(
    `UPDATE lenden.batches b SET process = NULL, held_since = NULL, ${set}
     FROM json_populate_record(NULL::lenden.batches, $1::json) given
     WHERE b.number = given.number AND b.row_count IS NULL
       AND NOT EXISTS (SELECT 1 FROM lenden.processes p WHERE p.id = b.process AND ${isAliveInSql})
     RETURNING b.*`,
    JSON.stringify(plan),
  );
  if (row) return row;
  const what = `batch ${plan.id} of the server's ledger`;
  throw new Failure("operation.locked", `Another lenden process works on ${what}.`, {
    hint: "Run the same command again when that process has ended. To see it, run 'lenden ledger processes'.",
  });
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
