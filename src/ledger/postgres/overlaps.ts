import { payeeOf } from "../../domain/mobile.ts";
import {
  isAcceptedSince,
  isNoTest,
  isOpenRow,
  isSamePayout,
  isUnresolved,
  lastTakenAt,
} from "../conditions.ts";
import type { Ledger } from "../ledger.ts";
import { grouped, knownOf, numberIn, overlapsIn, plannedOf } from "../rows.ts";
import type { Owner } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Query } from "./connection.ts";

const plansOfRows = `JOIN lenden.batches b ON b.number = r.batch
  LEFT JOIN lenden.operations o ON o.account = b.account AND o.reference = r.reference`;

type Overlaps = Pick<
  Ledger,
  "knownReferences" | "overlaps" | "paidRecipients" | "plannedReferences" | "newestEvent"
>;

/** Reads what the rows of a file or a plan may repeat, some hundred rows at a time. */
export function createOverlaps(read: Query, { environment }: Owner, own: RunAccount): Overlaps {
  /*
   * In production the whole environment is compared, whichever account, key and base URL was used. In a sandbox
   * it is the account alone, because every local sandbox is separate.
   */
  const isProduction = environment === "production";
  // With the zero no index of the account is used, as for claims.
  const column = isProduction ? "environment" : "account + 0";
  const scopeOf = (account: bigint) => (isProduction ? environment : account);
  const ownNumber = async () => (await own.readOnce(read)).number;

  return {
    knownReferences: async (references) => {
      const account = await ownNumber();
      const rows = await read(knownInSql(column), references, scopeOf(account), account);
      return grouped(rows, "reference", knownOf);
    },

    overlaps: async (rows, { since, except = null }) => {
      const account = await ownNumber();
      const payees = rows.map(({ recipient }) => payeeOf(recipient));
      const amounts = rows.map(({ amountPaisa }) => String(amountPaisa));
      const asked = [payees, amounts, scopeOf(account), account, except];
      const references = rows.map(({ reference }) => reference);
      // Planned rows first: a row that is sent between the two questions is seen twice, never missed.
      const planned = await read(plannedInSql(column), ...asked, references);
      const sent = await read(sentInSql(column), ...asked, since);
      return overlapsIn(planned, sent, { rows, since });
    },

    paidRecipients: async (payees) => {
      const found = await read(paidInSql, payees, await ownNumber());
      return new Set(found.map(({ payee }) => String(payee)));
    },

    plannedReferences: async (references) => {
      const found = await read(plannedByReference, references, await ownNumber());
      return grouped(found, "reference", plannedOf);
    },

    newestEvent: async () => {
      const [row] = await read("SELECT max(number) AS number FROM lenden.events");
      return numberIn(row?.number);
    },
  };
}

/** $1 payees, $2 amounts, $3 scope, $4 own account, $5 batch, $6 time. */
const sentInSql = (scope: string) => `
  SELECT a.place - 1 AS place, o.reference, o.state, o.status, o.code, o.account = $4 AS is_own,
    o.accepted_at, o.command, ${lastTakenAt} AS sent_at
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS a(payee, amount, place)
  JOIN lenden.operations o ON o.recipient_key = a.payee AND o.amount_paisa = a.amount
  WHERE o.kind = 'payout' AND ${isNoTest} AND o.${scope} = $3
    AND (${isUnresolved} OR (${isAcceptedSince("$6")}))
    AND NOT EXISTS (SELECT FROM lenden.batch_rows r
      WHERE r.batch = $5 AND r.reference = o.reference AND ${isSamePayout})
  ORDER BY a.place, CASE WHEN ${isUnresolved} THEN ${lastTakenAt} ELSE o.accepted_at END DESC, o.number`;

/** $1 payees, $2 amounts, $3 scope, $4 own account, $5 batch, $6 references. */
const plannedInSql = (scope: string) => `
  SELECT a.place - 1 AS place, r.reference, b.id AS batch, b.account = $4 AS is_own
  FROM unnest($1::text[], $2::bigint[], $6::text[]) WITH ORDINALITY AS a(payee, amount, reference, place)
  JOIN lenden.batch_rows r ON r.recipient_key = a.payee AND r.amount_paisa = a.amount ${plansOfRows}
  WHERE b.${scope} = $3 AND ${isOpenRow} AND b.number IS DISTINCT FROM $5
    AND r.reference IS DISTINCT FROM a.reference
  ORDER BY a.place, b.number DESC, r."row"`;

const paidInSql = `
  SELECT a.payee FROM unnest($1::text[]) AS a(payee)
  WHERE EXISTS (SELECT FROM lenden.operations o WHERE o.kind = 'payout' AND o.recipient_key = a.payee
    AND ${isNoTest} AND o.phase = 'live' AND o.account + 0 = $2)`;

const plannedByReference = `
  SELECT r.reference, b.id AS batch, r.recipient, r.amount_paisa, r.method_id
  FROM lenden.batch_rows r ${plansOfRows}
  WHERE r.reference = ANY ($1::text[]) AND b.account = $2 AND ${isOpenRow}
  ORDER BY b.number DESC, r."row"`;

/** $1 references, $2 scope, $3 own account. */
const knownInSql = (scope: string) => `
  SELECT o.id, o.reference, o.recipient_key AS recipient, o.amount_paisa, o.method_id,
    o.account = $3 AS is_own, o.state, o.status, o.code, o.accepted_at, ${lastTakenAt} AS sent_at, o.updated_at
  FROM lenden.operations o WHERE o.reference = ANY ($1::text[]) AND o.${scope} = $2 ORDER BY o.number`;
