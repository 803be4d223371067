import type { Database, Value } from "../../sqlite/database.ts";
import type { Filter } from "../change.ts";
import type { Kind, Operation } from "../operation.ts";
import type { Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { operationColumns, operationOf } from "./operation-rows.ts";

const pageSize = 500;

/** Reads operations of the account, and some of the whole environment. */
export function createReads(database: Database, { owner }: Worker, account: RunAccount) {
  const { select, own } = createQuestions(database, account);
  return { ...createFinds(select, own, { owner, account }), ...createLists(own) };
}

type Question = (sql: string) => {
  first(...values: Value[]): Operation | undefined;
  all(...values: Value[]): Operation[];
};

function createQuestions(database: Database, account: RunAccount) {
  const select: Question = (where) => {
    const statement = database.prepare(
      `SELECT ${operationColumns} FROM operations o WHERE ${where}`,
    );
    return {
      first: (...values) => {
        const row = statement.get(...values);
        return row && operationOf(row);
      },
      all: (...values) => statement.all(...values).map(operationOf),
    };
  };
  const own: Question = (more) => {
    const { first, all } = select(`${account.isAll ? "true" : "o.account = ?"} ${more}`);
    const whose = () => (account.isAll ? [] : [account.number()]);
    return {
      first: (...values) => first(...whose(), ...values),
      all: (...values) => all(...whose(), ...values),
    };
  };
  return { select, own };
}

function createFinds(
  select: Question,
  own: Question,
  { owner, account }: Pick<Worker, "owner"> & { account: RunAccount },
) {
  const isProduction = owner.environment === "production";
  // Without the plus SQLite would walk through all of them by their number, to avoid the sorting.
  const newestFirst = "ORDER BY +o.number DESC LIMIT 1";
  const byId = select("o.id = ?");
  const byReference = own(`AND o.reference = ? ${newestFirst}`);
  const byRemoteId = own(`AND o.remote_id = ? ${newestFirst}`);
  const elsewhere = select(
    `o.environment = ?1 AND o.account != ?2 AND (o.reference = ?3 OR o.remote_id = ?3) ${newestFirst}`,
  );
  const ofRecord = own(`AND o.kind = ? AND o.remote_id = ? ${newestFirst}`);
  const refunds = select(
    `${isProduction ? "o.environment = ?" : "o.account = ?"} AND o.kind = 'refund' AND o.target = ? ORDER BY +o.number`,
  );
  return {
    /** By its own ID, in whatever account; by a payout's reference, or by the API's ID. */
    find: (name: string): Operation | undefined =>
      byId.first(name) ?? byReference.first(name) ?? byRemoteId.first(name),

    /** The newest of another account of the environment, by a payout's reference or by the API's ID. */
    findElsewhere: (name: string): Operation | undefined =>
      elsewhere.first(owner.environment, account.number(), name),

    /** The operation that created a record of the API. */
    ofRecord: (kind: Kind, remoteId: string): Operation | undefined =>
      ofRecord.first(kind, remoteId),

    /** Refunds of a payment, whatever their state; in production of every account. */
    refundsOf: (payment: string): Operation[] =>
      refunds.all(isProduction ? owner.environment : account.number(), payment),
  };
}

function createLists(own: Question) {
  const confirmed = own(
    "AND o.kind = ? AND o.remote_id IS NOT NULL ORDER BY o.number DESC LIMIT 1 OFFSET ?",
  );
  const any = own("ORDER BY o.number DESC LIMIT 1 OFFSET ?");
  const newest = own("ORDER BY o.number DESC LIMIT ?");
  const unsettled = own("AND o.state IN ('INTENT', 'UNCERTAIN') ORDER BY o.number");
  const page = own(`AND o.number > ? ORDER BY o.number LIMIT ${pageSize}`);
  return {
    /** The newest of a kind that the API confirmed is 1, the one before it 2. */
    newest: (kind: Kind, place: number): Operation | undefined =>
      confirmed.first(kind, BigInt(place - 1)),

    /** The same of any kind, confirmed or not. */
    latest: (place: number): Operation | undefined => any.first(BigInt(place - 1)),

    /** The newest of any kind, newest first. */
    recent: (limit: number): Operation[] => newest.all(BigInt(limit)),

    /** Those of a kind that a filter selects, newest first. */
    list: (kind: Kind, { status, since, until, limit }: Filter): Operation[] => {
      const parts: [string, string | undefined][] = [
        [" AND o.status = ?", status],
        [" AND o.created_at >= ?", since],
        [" AND o.created_at <= ?", until],
      ];
      const used = parts.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
      const where = used.map(({ sql }) => sql).join("");
      const listed = own(`AND o.kind = ?${where} ORDER BY o.number DESC LIMIT ?`);
      return listed.all(kind, ...used.map(({ value }) => value), BigInt(limit));
    },

    /** Those whose outcome is unknown, oldest first. */
    unsettled: (): Operation[] => unsettled.all(),

    /** All of them, oldest first, page by page: memory does not grow with the ledger. */
    *all(): Iterable<Operation> {
      for (let after = 0n; ; ) {
        const operations = page.all(after);
        yield* operations;
        const last = operations.at(-1);
        if (!last) return;
        after = last.number;
      }
    },
  };
}
