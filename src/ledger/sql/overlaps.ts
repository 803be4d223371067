import { payeeOf } from "../../domain/mobile.ts";
import type { GuardScope } from "../account.ts";
import type { BatchReads } from "../ledger.ts";
import { knownOf, overlapsIn, plannedOf } from "../rows.ts";
import { grouped, numberIn, type Row } from "../values.ts";
import type { Owner } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import {
  hasUnknownOutcome,
  isAcceptedSince,
  isNoTest,
  isOpenRow,
  isPayoutOfRow,
  isReportedSince,
  lastTakenAt,
  newestEvent,
  plansOfRows,
  reportedAt,
} from "./conditions.ts";
import { type Dialect, type Driver, scopeOf } from "./driver.ts";
import { recipientByPhase } from "./repeated.ts";
import { type ColumnTypes, type Given, query, type Statement, type Work } from "./work.ts";

/** Reads what the rows of a file or a plan may repeat, some thousand rows at a time. */
export function createOverlaps(
  driver: Pick<Driver, "dialect" | "read">,
  owner: Owner,
  account: RunAccount,
): BatchReads {
  const scope = scopeOf(owner, driver.dialect);
  const named = (references: string[]): Given => {
    return { columns: { name: "text" }, rows: references.map((name) => ({ name })) };
  };
  /** Reads what statements find, all in one round trip. @param statements get the number of the own account */
  const read = (statements: (own: bigint) => Statement[]): Promise<Row[][]> =>
    driver.read(function* (): Work<Row[][]> {
      const { number } = yield* account.readOnce();
      return yield statements(number);
    });

  return {
    references: async (references, { withPlans }) => {
      const given = named(references);
      const [payouts = [], plans = []] = await read((own) => [
        { sql: knownSql(scope), values: [own, scope.value(own)], given },
        ...(withPlans ? [{ sql: plannedByReference(driver.dialect), values: [own], given }] : []),
      ]);
      return {
        payouts: grouped(payouts, "reference", knownOf),
        plans: grouped(plans, "reference", plannedOf),
      };
    },

    overlaps: async (rows, { since, except = null }) => {
      const given: Given = {
        columns: overlapColumns,
        rows: rows.map(({ reference, recipient, amountPaisa }, place) => {
          return {
            place: BigInt(place),
            reference,
            payee: payeeOf(recipient),
            amount: amountPaisa,
          };
        }),
      };
      // Planned rows first: a row that is sent between the two questions is seen twice, never missed.
      const [planned = [], sent = []] = await read((own) => [
        { sql: plannedSql(scope), values: [own, scope.value(own), except], given },
        {
          sql: sentSql(scope, driver.dialect),
          values: [own, scope.number(own), except, since],
          given,
        },
      ]);
      return overlapsIn(planned, sent, { rows, since, keyHash: owner.keyId });
    },

    paidRecipients: async (payees) => {
      const [found = []] = await read((own) => [
        { sql: paidSql, values: [own], given: named(payees) },
      ]);
      return new Set(found.map(({ payee }) => String(payee)));
    },

    newestEvent: () =>
      driver.read(function* () {
        const [row] = yield* query(newestEvent);
        return numberIn(row?.number);
      }),
  };
}

const overlapColumns: ColumnTypes = {
  ...{ place: "number", reference: "text", payee: "text", amount: "number" },
};

/** $1 own account, $2 scope, $3 batch, $4 time. */
const sentSql = ({ ofOperations }: GuardScope, dialect: Dialect) => `
  SELECT given.place AS place, o.reference, o.state, o.status, o.code,
    o.account = CAST($1 AS bigint) AS is_own, o.key_hash, o.accepted_at, o.command,
    ${lastTakenAt} AS sent_at,
    CASE WHEN ${isReportedSince("$4")} THEN ${reportedAt} END AS reported_at
  FROM given CROSS JOIN lenden.operations o
  WHERE ${recipientByPhase(dialect)} = given.payee AND o.amount_paisa = given.amount
    AND ${ofOperations("o", "$2")} AND o.kind = 'payout' AND ${isNoTest}
    AND (${hasUnknownOutcome} OR (${isAcceptedSince("$4")}) OR (${isReportedSince("$4")}))
    AND NOT (o.account = CAST($1 AS bigint) AND EXISTS (SELECT 1 FROM lenden.batch_rows r
      WHERE r.batch = CAST($3 AS bigint) AND r.reference = o.reference AND ${isPayoutOfRow}))
  ORDER BY 1, CASE WHEN ${hasUnknownOutcome} THEN ${lastTakenAt}
    WHEN o.phase = 'live' THEN o.accepted_at ELSE '' END DESC, o.number`;

/** $1 own account, $2 scope, $3 batch. */
const plannedSql = ({ inSql }: GuardScope) => `
  SELECT given.place AS place, r.reference, b.id AS batch, b.account = CAST($1 AS bigint) AS is_own
  FROM given CROSS JOIN lenden.batch_rows r ${plansOfRows}
    AND r.amount_paisa = given.amount AND r.recipient_key = given.payee AND ${inSql("b", "$2")}
    AND ${isOpenRow} AND b.number IS DISTINCT FROM CAST($3 AS bigint)
    AND r.reference IS DISTINCT FROM given.reference
  ORDER BY 1, b.number DESC, r."row"`;

/** $1 own account. */
const paidSql = `
  SELECT given.name AS payee FROM given
  WHERE EXISTS (SELECT 1 FROM lenden.operations o WHERE o.kind = 'payout'
    AND o.recipient_key = given.name AND ${isNoTest} AND o.phase = 'live'
    AND o.account + 0 = CAST($1 AS bigint))`;

/** $1 own account. */
const plannedByReference = ({ unindexed }: Dialect) => `
  SELECT r.reference, b.id AS batch, r.recipient, r.amount_paisa, r.method_id
  FROM given CROSS JOIN lenden.batch_rows r ${plansOfRows}
    AND r.reference = given.name AND ${unindexed("b.account")} = CAST($1 AS bigint) AND ${isOpenRow}
  ORDER BY b.number DESC, r."row"`;

/** $1 own account, $2 scope. In production of every account: the condition on all of them lets SQLite use the index. */
const knownSql = ({ isProduction, inSql }: GuardScope) => `
  SELECT o.id, o.reference, o.asked, o.amount_paisa, o.method_id,
    o.account = CAST($1 AS bigint) AS is_own, o.state, o.status, o.code, o.accepted_at,
    ${lastTakenAt} AS sent_at, o.updated_at
  FROM given CROSS JOIN lenden.operations o
  WHERE o.reference = given.name AND ${inSql("o", "$2")}
    ${isProduction ? "AND o.account IN (SELECT number FROM lenden.accounts)" : ""}
  ORDER BY o.number`;
