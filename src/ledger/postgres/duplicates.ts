import { payeeOf } from "../../domain/mobile.ts";
import { type GuardScope, guardScope } from "../account.ts";
import { columns, recipientOf } from "../columns.ts";
import {
  equalPayments,
  isAcceptedSince,
  isNoTest,
  isOpenRow,
  isSamePayout,
  isUnresolved,
  lastTakenAt,
  payoutFacts,
} from "../conditions.ts";
import { type ClaimFacts, type ClaimRequest, duplicatesSince, processingSince } from "../decide.ts";
import type { BatchReads } from "../ledger.ts";
import type { Holder, Intent, Operation } from "../operation.ts";
import { knownOf, operationOf, overlapsIn, plannedOf } from "../rows.ts";
import { grouped, numberIn, textOrNull } from "../values.ts";
import type { Owner } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Query, Row, Value } from "./connection.ts";
import { operationColumns } from "./operation-sql.ts";

/*
 * Finds what claims or the rows of a batch may repeat. Statements only filter by stored columns; decide.ts
 * decides what is a duplicate.
 */

/**
 * With the zero no index of the account is used: without statistics of the tables, PostgreSQL would read all
 * operations of the account for each claim.
 */
function scopeOf(owner: Owner): GuardScope {
  const scope = guardScope(owner);
  if (scope.isProduction) return scope;
  return { ...scope, inSql: (table, parameter) => `${table}.account + 0 = ${parameter}::bigint` };
}

interface FactsScope {
  owner: Owner;
  account: { number: bigint; name: string };
  nowMs: number;
  /** The process that holds an operation, if it may still run. */
  holderOf(operation: Operation): Promise<Holder | undefined>;
}

/** The facts about each claim of a commit, in their order. */
export async function claimFacts(
  query: Query,
  requests: ClaimRequest[],
  scope: FactsScope,
): Promise<ClaimFacts[]> {
  const payouts = await payoutRows(query, requests, scope);
  const records = await recordRows(query, requests, scope);
  const numbers = [...payouts, ...records].flatMap((row) =>
    [row.same, row.unresolved, row.accepted, row.elsewhere, row.free].filter((one) => one != null),
  );
  const operations = await operationsOf(query, numbers);
  const found = (number: string | null | undefined) =>
    number == null ? undefined : operations.get(number);
  const facts: ClaimFacts[] = [];
  for (const [place, request] of requests.entries()) {
    const row = payouts.find((one) => one.place === String(place));
    const same = found(row?.same);
    facts.push({
      nowMs: scope.nowMs,
      account: scope.account.name,
      keyHash: scope.owner.keyId,
      same,
      holder: same && (await scope.holderOf(same)),
      ofRecord: found(records.find((one) => one.place === String(place))?.same),
      similar: row
        ? [row.unresolved, row.accepted, row.elsewhere, row.free].flatMap((one) => found(one) ?? [])
        : await similarTo(query, request, scope),
      planned: row?.planned_batch
        ? { batch: row.planned_batch, reference: row.planned_reference ?? "" }
        : undefined,
      cancelled: row?.cancelled ?? null,
    });
  }
  return facts;
}

/** What decides a claim: operations without a common key do not change each other's facts. */
export function claimKeysOf({ intent, found }: ClaimRequest): string[] {
  const { kind, reference, amountPaisa, target } = intent;
  const record = found ? [`id ${found.remoteId}`] : [];
  if (kind === "payout")
    return [`ref ${reference}`, `to ${recipientOf(intent)} ${amountPaisa}`, ...record];
  return [kind === "payment" ? `payment ${amountPaisa}` : `${kind} ${target}`, ...record];
}

/** The newest operation with the ID of a record that was found, for each claim that has one. */
async function recordRows(
  query: Query,
  requests: ClaimRequest[],
  { owner, account }: FactsScope,
): Promise<Row[]> {
  const asked = requests.flatMap(({ intent: { kind }, found }, place) =>
    found?.remoteId === undefined ? [] : { place, kind, id: found.remoteId },
  );
  if (asked.length === 0) return [];
  const { isProduction, value } = scopeOf(owner);
  const accounts = isProduction
    ? "SELECT number FROM lenden.accounts WHERE environment = $2"
    : "$2::bigint";
  return query(
    `SELECT a.place, max(o.number) AS same
     FROM json_to_recordset($1::json) AS a(place int, kind text, id text)
     JOIN lenden.operations o ON o.account IN (${accounts}) AND o.remote_id = a.id AND o.kind = a.kind
     GROUP BY a.place`,
    ...[JSON.stringify(asked), value(account.number)],
  );
}

async function operationsOf(query: Query, numbers: string[]): Promise<Map<string, Operation>> {
  if (numbers.length === 0) return new Map();
  const rows = await query(
    `SELECT ${operationColumns} FROM lenden.operations o WHERE o.number = ANY($1::bigint[])`,
    numbers,
  );
  return new Map(rows.map((row) => [String(row.number), operationOf(row)]));
}

async function similarTo(
  query: Query,
  { intent, found }: ClaimRequest,
  { owner, account, nowMs }: FactsScope,
): Promise<Operation[]> {
  const scope = scopeOf(owner);
  const { kind, target } = intent;
  const [where, values]: [string, Value[]] =
    kind !== "payment"
      ? [`${scope.inSql("o", "$1")} AND o.kind = $2 AND o.target = $3`, [kind, target]]
      : found
        ? unresolvedPayments(intent, scope)
        : equalPaymentsOf(intent, scope, nowMs);
  const rows = await query(
    `SELECT ${operationColumns} FROM lenden.operations o WHERE ${where}`,
    ...[scope.value(account.number), ...values],
  );
  return rows.map(operationOf);
}

/** The record of the API names neither the payer nor the ID of the method. */
function unresolvedPayments(intent: Intent, { inSql }: GuardScope): [string, Value[]] {
  const where = `${inSql("o", "$1")} AND o.kind = 'payment' AND ${isUnresolved}
    AND ${sameInSql("o.amount_paisa", "$2::bigint")} AND ${sameInSql("o.description", "$3::text")}
    LIMIT 1`;
  return [where, [intent.amountPaisa, columns.description.of(intent)]];
}

function equalPaymentsOf(intent: Intent, scope: GuardScope, nowMs: number): [string, Value[]] {
  const names = {
    ...{ scope: "$1", processingSince: "$2::text", completedSince: "$3::text" },
    ...{ amount: "$4::bigint", description: "$5::text", payer: "$6::text", method: "$7::text" },
  };
  const { description, payerKey, methodId } = columns;
  const numbers = equalPayments("lenden.operations", scope, names, sameInSql);
  const since = [processingSince(nowMs), duplicatesSince(nowMs)];
  const values = [description, payerKey, methodId].map(({ of }) => of(intent));
  return [`o.number = ANY (ARRAY(${numbers}))`, [...since, intent.amountPaisa, ...values]];
}

/** As `IS NOT DISTINCT FROM`, which uses no index. */
function sameInSql(column: string, value: string): string {
  return `(${column} = ${value} OR (${column} IS NULL AND ${value} IS NULL))`;
}

async function payoutRows(
  query: Query,
  requests: ClaimRequest[],
  { owner, account, nowMs }: FactsScope,
): Promise<Row[]> {
  const scope = scopeOf(owner);
  const asked = requests.flatMap(({ intent }, place) => {
    if (intent.kind !== "payout") return [];
    const { reference, amountPaisa, asked, batch = null } = intent;
    return {
      place,
      reference,
      amount: textOrNull(amountPaisa),
      recipient: recipientOf(intent),
      method: String(asked.paymentMethodId),
      batch: textOrNull(batch),
    };
  });
  if (asked.length === 0) return [];
  return query(
    payoutsInSql(scope, { hasSingle: asked.some(({ batch }) => batch === null) }),
    ...[JSON.stringify(asked), account.number, scope.value(account.number)],
    duplicatesSince(nowMs),
  );
}

/**
 * The facts about each payout, and a row that an open batch is still to send. $1 payouts, $2 own account, $3 scope,
 * $4 time.
 *
 * @param hasSingle false if all payouts are rows of a batch. These need neither a free operation nor a planned row, and
 *   planning those parts takes longer than running them.
 */
function payoutsInSql(scope: GuardScope, { hasSingle }: { hasSingle: boolean }): string {
  const names = {
    ...{ own: "$2::bigint", scope: "$3", since: "$4" },
    ...{
      reference: "a.reference",
      amount: "a.amount",
      recipient: "a.recipient",
      method: "a.method",
    },
  };
  // Adding zero keeps PostgreSQL from walking through all operations by their numbers, or those of the account.
  const facts = payoutFacts("lenden.operations", scope, names, (column) => `${column} + 0`);
  const planned = (rows: string) => `
    SELECT b.id, r.reference FROM lenden.batch_rows r ${plansOfRows} WHERE ${rows} AND ${isOpenRow}`;
  const single = `, CASE WHEN a.batch IS NULL THEN ${facts.free} END AS free,
      p.id AS planned_batch, p.reference AS planned_reference`;
  const plannedRow = `LEFT JOIN LATERAL (
      SELECT * FROM (
        (${planned("a.batch IS NULL AND r.reference = a.reference AND b.account + 0 = $2::bigint")} LIMIT 1)
        UNION ALL
        (${planned(`a.batch IS NULL AND r.recipient_key = a.recipient AND r.amount_paisa = a.amount
          AND ${scope.inSql("b", "$3")}`)} LIMIT 1)
      ) one LIMIT 1
    ) p ON true`;
  return `
    SELECT a.place, ${facts.same} AS same, ${facts.unresolved} AS unresolved, ${facts.accepted} AS accepted,
      ${facts.elsewhere} AS elsewhere, ${facts.cancelled} AS cancelled ${hasSingle ? single : ""}
    FROM json_to_recordset($1::json) AS a(place int, reference text, amount bigint, recipient text,
      method text, batch bigint)
    ${hasSingle ? plannedRow : ""}`;
}

const plansOfRows = `JOIN lenden.batches b ON b.number = r.batch
  LEFT JOIN lenden.operations o ON o.account = b.account AND o.reference = r.reference`;

/** Reads what the rows of a file or a plan may repeat, some hundred rows at a time. */
export function createOverlaps(read: Query, owner: Owner, own: RunAccount): BatchReads {
  const scope = scopeOf(owner);
  const ownNumber = async () => (await own.readOnce(read)).number;

  return {
    knownReferences: async (references) => {
      const account = await ownNumber();
      const rows = await read(knownInSql(scope), references, scope.value(account), account);
      return grouped(rows, "reference", knownOf);
    },

    overlaps: async (rows, { since, except = null }) => {
      const account = await ownNumber();
      const payees = rows.map(({ recipient }) => payeeOf(recipient));
      const amounts = rows.map(({ amountPaisa }) => String(amountPaisa));
      const asked = [payees, amounts, scope.value(account), account, except];
      const references = rows.map(({ reference }) => reference);
      // Planned rows first: a row that is sent between the two questions is seen twice, never missed.
      const planned = await read(plannedInSql(scope), ...asked, references);
      const sent = await read(sentInSql(scope), ...asked, since);
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
const sentInSql = ({ inSql }: GuardScope) => `
  SELECT a.place - 1 AS place, o.reference, o.state, o.status, o.code, o.account = $4 AS is_own,
    o.accepted_at, o.command, ${lastTakenAt} AS sent_at
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS a(payee, amount, place)
  JOIN lenden.operations o ON o.recipient_key = a.payee AND o.amount_paisa = a.amount
  WHERE o.kind = 'payout' AND ${isNoTest} AND ${inSql("o", "$3")}
    AND (${isUnresolved} OR (${isAcceptedSince("$6")}))
    AND NOT EXISTS (SELECT FROM lenden.batch_rows r
      WHERE r.batch = $5 AND r.reference = o.reference AND ${isSamePayout})
  ORDER BY a.place, CASE WHEN ${isUnresolved} THEN ${lastTakenAt} ELSE o.accepted_at END DESC, o.number`;

/** $1 payees, $2 amounts, $3 scope, $4 own account, $5 batch, $6 references. */
const plannedInSql = ({ inSql }: GuardScope) => `
  SELECT a.place - 1 AS place, r.reference, b.id AS batch, b.account = $4 AS is_own
  FROM unnest($1::text[], $2::bigint[], $6::text[]) WITH ORDINALITY AS a(payee, amount, reference, place)
  JOIN lenden.batch_rows r ON r.recipient_key = a.payee AND r.amount_paisa = a.amount ${plansOfRows}
  WHERE ${inSql("b", "$3")} AND ${isOpenRow} AND b.number IS DISTINCT FROM $5
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
const knownInSql = ({ inSql }: GuardScope) => `
  SELECT o.id, o.reference, o.recipient_key AS recipient, o.amount_paisa, o.method_id,
    o.account = $3 AS is_own, o.state, o.status, o.code, o.accepted_at, ${lastTakenAt} AS sent_at, o.updated_at
  FROM lenden.operations o WHERE o.reference = ANY ($1::text[]) AND ${inSql("o", "$2")} ORDER BY o.number`;
