import type { Paisa } from "../../contract/amount.ts";
import type { Database, Row } from "../../sqlite/database.ts";
import { accountInSql } from "../account.ts";
import type { PlannedRow } from "../batches/batch.ts";
import { plannedRowOf } from "../batches/from-row.ts";
import type { Owner } from "../operation.ts";

/** What a draft comes to. */
export interface DraftTotals {
  rowCount: number;
  totalPaisa: Paisa;
  methods: { method: string; count: number; sumPaisa: Paisa }[];
  /** Rows whose very payout the ledger has already: they will not be sent again. */
  sentBefore: { count: number; sumPaisa: Paisa };
  /** The first three, the last, and the one with the largest amount. */
  first: PlannedRow[];
  last: PlannedRow | undefined;
  largest: PlannedRow | undefined;
}

/** What no single row says; how many there are and their sum were counted while they came in. */
export function totalsOf(
  database: Database,
  { baseUrl, keyId }: Owner,
): Omit<DraftTotals, "rowCount" | "totalPaisa"> {
  const rows = (order: string): PlannedRow[] =>
    database.prepare(`SELECT * FROM draft_rows ORDER BY ${order}`).all().map(plannedRowOf);
  return {
    methods: database.prepare(sumsByMethod).all().map(methodSumOf),
    sentBefore: sumOf(database.prepare(sumSentBefore).get(baseUrl, keyId)),
    first: rows("row LIMIT 3"),
    last: rows("row DESC LIMIT 1")[0],
    largest: rows("amount_paisa DESC, row LIMIT 1")[0],
  };
}

/** A sum of many amounts is made of two parts, so that neither is too large for SQLite. */
const sumBase = 1_000_000n;

/** However a method is spelled: by its first spelling, which SQLite takes from the row of the `min`. */
const sumsByMethod = `
  SELECT method, min(row), count(*) AS count, sum(amount_paisa / ${sumBase}) AS high,
    sum(amount_paisa % ${sumBase}) AS low
  FROM draft_rows WHERE method IS NOT NULL GROUP BY coalesce(method_id, method) ORDER BY min(row)`;

function methodSumOf({ method, count, high, low }: Row): DraftTotals["methods"][number] {
  const sumPaisa = BigInt(high ?? 0n) * sumBase + BigInt(low ?? 0n);
  return { method: String(method), count: Number(count), sumPaisa };
}

const sumSentBefore = `
  SELECT count(*) AS count, sum(r.amount_paisa) AS sum
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE o.fingerprint = r.fingerprint AND o.state = 'CONFIRMED'
    AND o.status IS NOT 'Cancelled'`;

function sumOf(row: Row | undefined): DraftTotals["sentBefore"] {
  return { count: Number(row?.count ?? 0n), sumPaisa: BigInt(row?.sum ?? 0n) };
}
