import type { Database, Value } from "../../platform/sqlite/database.ts";
import type { Ledger } from "../ledger.ts";
import type { Operation } from "../operation.ts";
import type { Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { operationColumns, operationOf } from "./operation-rows.ts";

const pageSize = 500;
// Without the plus SQLite would walk through all of them by their number, to avoid the sorting.
const newestFirst = "ORDER BY +o.number DESC LIMIT 1";

type Reads = Pick<
  Ledger,
  "find" | "findElsewhere" | "ofRecord" | "refundsOf" | "list" | "unsettled" | "unresolved" | "all"
>;

/** Reads operations of the account, and some of the whole environment. */
export function createReads(
  database: Database,
  { owner: { environment } }: Pick<Worker, "owner">,
  account: RunAccount,
): Reads {
  const select = (where: string, ...values: Value[]): Operation[] =>
    database
      .prepare(`SELECT ${operationColumns} FROM operations o WHERE ${where}`)
      .all(...values)
      .map(operationOf);
  const own = (more: string, ...values: Value[]): Operation[] =>
    account.isAll
      ? select(`true ${more}`, ...values)
      : select(`o.account = ? ${more}`, account.number(), ...values);
  const isProduction = environment === "production";
  return {
    find: async (name) =>
      select("o.id = ?", name)[0] ??
      own(`AND o.reference = ? ${newestFirst}`, name)[0] ??
      own(`AND o.remote_id = ? ${newestFirst}`, name)[0],

    findElsewhere: async (name) =>
      select(
        `o.environment = ?1 AND o.account != ?2 AND (o.reference = ?3 OR o.remote_id = ?3) ${newestFirst}`,
        ...[environment, account.number(), name],
      )[0],

    ofRecord: async (kind, remoteId) =>
      own(`AND o.kind = ? AND o.remote_id = ? ${newestFirst}`, kind, remoteId)[0],

    refundsOf: async (payment) =>
      select(
        `${isProduction ? "o.environment = ?" : "o.account = ?"} AND o.kind = 'refund' AND o.target = ? ORDER BY +o.number`,
        ...[isProduction ? environment : account.number(), payment],
      ),

    list: async (kind, { isConfirmed = false, status, since, until, limit }) => {
      const parts: [sql: string, value: string | undefined][] = [
        ["AND o.kind = ?", kind],
        ["AND o.status = ?", status],
        ["AND o.created_at >= ?", since],
        ["AND o.created_at <= ?", until],
      ];
      const used = parts.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
      const where = [
        ...used.map(({ sql }) => sql),
        isConfirmed ? "AND o.remote_id IS NOT NULL" : "",
      ];
      return own(
        `${where.join(" ")} ORDER BY o.number DESC LIMIT ?`,
        ...[...used.map(({ value }) => value), BigInt(limit)],
      );
    },

    unsettled: async () => own("AND o.state IN ('INTENT', 'UNCERTAIN') ORDER BY o.number"),

    unresolved: async () => own("AND o.phase = 'unresolved' ORDER BY o.number"),

    async *all() {
      for (let after = 0n; ; ) {
        const page = own(`AND o.number > ? ORDER BY o.number LIMIT ${pageSize}`, after);
        yield* page;
        const last = page.at(-1);
        if (!last) return;
        after = last.number;
      }
    },
  };
}
