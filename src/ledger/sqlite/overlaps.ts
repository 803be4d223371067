import type { Database, Row } from "../../platform/sqlite/database.ts";
import type { KnownPayout, Ledger, Overlap, PlannedReference, RecipientAmount } from "../ledger.ts";
import { payeeOf } from "../operation.ts";
import type { Owner } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { lastSentAt, reader, samePayoutInSql, stateIn } from "./operation-rows.ts";

type Overlaps = Pick<
  Ledger,
  "knownReferences" | "overlaps" | "plannedReferences" | "batchOfReference" | "newestEvent"
>;

/**
 * What the ledger has of the payouts of a file or a plan. In production duplicates count in every account
 * of the environment; in a sandbox in the own account only, because every local sandbox is a world of its
 * own. Ask for some hundred rows at a time.
 */
export function createOverlaps(
  database: Database,
  { environment }: Owner,
  own: RunAccount,
): Overlaps {
  const isProduction = environment === "production";
  const scope = (table: string) =>
    isProduction ? `${table}.environment = ?2` : `${table}.account = ?2`;
  const known = isProduction ? knownInEnvironment : knownInAccount;

  /** The values of ?1 to ?3: what is asked about, the scope, and the own account. */
  const valuesFor = (asked: unknown[]): (string | bigint | null)[] => {
    const account = own.number();
    return [JSON.stringify(asked), isProduction ? environment : account, account];
  };

  return {
    knownReferences: async (references) =>
      grouped(database.prepare(known).all(...valuesFor(references)), "reference", knownOf),

    overlaps: async (rows, { since, except }) => {
      const values = [...valuesFor(rows.map(askedOf)), except ?? null];
      // Planned rows first: a row that is sent between the two questions is seen twice, never missed.
      const planned = database.prepare(plannedInSql(scope("b"))).all(...values);
      const sent = database.prepare(sentInSql(scope("o"))).all(...values, since);
      return grouped([...planned, ...sent], "place", overlapOf);
    },

    plannedReferences: async (references) => {
      const found = database
        .prepare(plannedByReference)
        .all(JSON.stringify(references), own.number());
      return grouped(found, "reference", plannedOf);
    },

    batchOfReference: async (reference) => {
      const found = database.prepare(batchByReference).get(reference, own.number());
      return found && String(found.id);
    },

    newestEvent: async () => {
      const row = database.prepare("SELECT max(number) AS number FROM events").get();
      return BigInt(row?.number ?? 0n);
    },
  };
}

/** JSON has no bigint; every amount is far below 2^53. */
function askedOf({ reference, recipient, amountPaisa }: RecipientAmount) {
  return { reference, payee: payeeOf(recipient), amount: Number(amountPaisa) };
}

function grouped<Item>(rows: Row[], column: string, read: (row: Row) => Item): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const row of rows) {
    const key = String(row[column]);
    const group = groups.get(key);
    if (group) group.push(read(row));
    else groups.set(key, [read(row)]);
  }
  return groups;
}

function overlapOf(row: Row): Overlap {
  const { text, maybe } = reader(row);
  const common = { reference: text("reference"), isOwnAccount: row.is_own === 1n };
  const batch = maybe("batch");
  if (batch !== null) return { ...common, kind: "planned", batch };
  const kind = row.state === "CONFIRMED" ? "paid-recently" : "outcome-unknown";
  return { ...common, kind, at: text("at") };
}

function knownOf(row: Row): KnownPayout {
  const { text, maybe } = reader(row);
  const state = stateIn(row);
  if (state === null) throw new Error("an operation of the ledger has no state");
  return {
    id: text("id"),
    reference: text("reference"),
    recipient: text("recipient"),
    amountPaisa: BigInt(row.amount_paisa ?? 0n),
    methodId: text("method_id"),
    isOwnAccount: row.is_own === 1n,
    state,
    status: maybe("status"),
    code: maybe("code"),
    sentAt: text("sent_at"),
    updatedAt: text("updated_at"),
  };
}

function plannedOf(row: Row): PlannedReference {
  const { text } = reader(row);
  return {
    batch: text("batch"),
    reference: text("reference"),
    recipient: text("recipient"),
    amountPaisa: BigInt(row.amount_paisa ?? 0n),
    methodId: text("method_id"),
  };
}

// CROSS JOIN makes SQLite begin with the rows that are asked about, and use the index for each.
const sentInSql = (scope: string) => `
  SELECT a.key AS place, o.reference, o.state, o.account IS ?3 AS is_own,
    CASE WHEN o.state = 'CONFIRMED' THEN o.accepted_at ELSE ${lastSentAt} END AS at
  FROM json_each(?1) a CROSS JOIN operations o
    ON o.amount_paisa = a.value ->> 'amount' AND o.recipient_key = a.value ->> 'payee'
  WHERE o.kind = 'payout' AND ${scope} AND o.reference IS NOT a.value ->> 'reference'
    AND (o.phase = 'unresolved' OR (o.phase = 'live' AND o.accepted_at >= ?5))
    AND NOT EXISTS (SELECT 1 FROM batch_rows r
      WHERE r.batch = ?4 AND r.reference = o.reference AND ${samePayoutInSql})
  ORDER BY a.key, at DESC`;

const isOpenPlan = "b.digest IS NOT NULL AND b.cancelled_at IS NULL";
/** A row of such a plan that was not sent. */
const isOpenRow = `${isOpenPlan} AND (o.phase IS NULL OR o.phase = 'free')`;
const plansOfRows = `JOIN batches b ON b.number = r.batch
  LEFT JOIN operations o ON o.account = b.account AND o.reference = r.reference`;

const plannedInSql = (scope: string) => `
  SELECT a.key AS place, r.reference, b.id AS batch, b.account IS ?3 AS is_own
  FROM json_each(?1) a CROSS JOIN batch_rows r
    ON r.amount_paisa = a.value ->> 'amount'
      AND r.recipient_key = a.value ->> 'payee' ${plansOfRows}
  WHERE ${scope} AND ${isOpenRow} AND b.number IS NOT ?4
    AND r.reference IS NOT a.value ->> 'reference'
  ORDER BY a.key, b.number DESC, r.row`;

const plannedByReference = `
  SELECT r.reference, b.id AS batch, r.recipient, r.amount_paisa, r.method_id
  FROM json_each(?1) a CROSS JOIN batch_rows r ON r.reference = a.value ${plansOfRows}
  WHERE b.account = ?2 AND ${isOpenRow}
  ORDER BY b.number DESC`;

const batchByReference = `
  SELECT b.id FROM batch_rows r JOIN batches b ON b.number = r.batch
  WHERE r.reference = ? AND b.account = ? AND ${isOpenPlan}
  ORDER BY b.number DESC LIMIT 1`;

const knownColumns = `o.id, o.reference, o.recipient_key AS recipient, o.amount_paisa, o.method_id, o.account IS ?3 AS is_own,
  o.state, o.status, o.code, ${lastSentAt} AS sent_at, o.updated_at`;

const knownInAccount = `SELECT ${knownColumns}
  FROM json_each(?1) a CROSS JOIN operations o ON o.reference = a.value AND o.account = ?2
  ORDER BY o.number`;

const knownInEnvironment = `SELECT ${knownColumns}
  FROM json_each(?1) a CROSS JOIN operations o
    ON o.reference = a.value AND o.account IN (SELECT number FROM accounts)
  WHERE o.environment = ?2 ORDER BY o.number`;
