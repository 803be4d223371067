import { isAcceptedSince, isFree, isNoTest, isOpenRow, isUnresolved } from "../conditions.ts";
import { type ClaimFacts, type ClaimRequest, duplicatesSince, recipientOf } from "../decide.ts";
import type { Holder, Intent, Operation } from "../operation.ts";
import { operationOf } from "../rows.ts";
import type { Owner } from "../worker.ts";
import type { Query, Row, Value } from "./connection.ts";
import { operationColumns } from "./operation-sql.ts";

/*
 * Finds what claims may repeat, of all claims of a commit at once. Statements only filter by stored columns;
 * decide.ts decides what is a duplicate. In production a guard sees the whole environment, whichever account
 * and key was used. In a sandbox it sees the account alone, because every local sandbox is separate.
 */

interface FactsScope {
  owner: Owner;
  account: { number: bigint; name: string };
  nowMs: number;
  /** The process that holds an operation, if it may still run. */
  holderOf(operation: Operation): Promise<Holder | undefined>;
}

/** The facts about each claim, in their order. */
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
  for (const [place, { intent }] of requests.entries()) {
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
        : await similarTo(query, intent, scope),
      planned: row?.planned_batch
        ? { batch: row.planned_batch, reference: row.planned_reference ?? "" }
        : undefined,
      cancelled: row?.cancelled ?? null,
    });
  }
  return facts;
}

/** What decides a claim: operations without a common key do not change each other's facts. */
export function keysOf({ intent, found }: ClaimRequest): string[] {
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
  const [accounts, value] = isProduction(owner)
    ? ["SELECT number FROM lenden.accounts WHERE environment = $2", owner.environment]
    : ["$2::bigint", account.number];
  return query(
    `SELECT a.place, max(o.number) AS same
     FROM json_to_recordset($1::json) AS a(place int, kind text, id text)
     JOIN lenden.operations o ON o.account IN (${accounts}) AND o.remote_id = a.id AND o.kind = a.kind
     GROUP BY a.place`,
    ...[JSON.stringify(asked), value],
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

function isProduction({ environment }: Owner): boolean {
  return environment === "production";
}

/**
 * The condition on a table, with the name of its parameter, and the parameter. With the zero no index of the account
 * is used: without statistics of the tables, PostgreSQL would read all operations of the account for each claim.
 */
function scopeOf({ owner, account }: Pick<FactsScope, "owner" | "account">) {
  return isProduction(owner)
    ? {
        inSql: (table: string, name: string) => `${table}.environment = ${name}`,
        value: owner.environment,
      }
    : {
        inSql: (table: string, name: string) => `${table}.account + 0 = ${name}::bigint`,
        value: account.number,
      };
}

async function similarTo(query: Query, intent: Intent, scope: FactsScope): Promise<Operation[]> {
  const { inSql, value } = scopeOf(scope);
  const { kind, target, amountPaisa, asked } = intent;
  const description = typeof asked.description === "string" ? asked.description : null;
  const [where, values]: [string, Value[]] =
    kind === "payment"
      ? [
          `o.kind = 'payment' AND ${sameInSql("o.amount_paisa", "$2::bigint")}
             AND ${sameInSql("o.description", "$3::text")}`,
          [amountPaisa, description],
        ]
      : ["o.kind = $2 AND o.target = $3", [kind, target]];
  const rows = await query(
    `SELECT ${operationColumns} FROM lenden.operations o
     WHERE ${inSql("o", "$1")} AND ${where} ORDER BY o.number`,
    ...[value, ...values],
  );
  return rows.map(operationOf);
}

/** As `IS NOT DISTINCT FROM`, which uses no index. */
function sameInSql(column: string, value: string): string {
  return `(${column} = ${value} OR (${column} IS NULL AND ${value} IS NULL))`;
}

async function payoutRows(
  query: Query,
  requests: ClaimRequest[],
  scope: FactsScope,
): Promise<Row[]> {
  const asked = requests.flatMap(({ intent }, place) => {
    if (intent.kind !== "payout") return [];
    const { reference, amountPaisa, asked, batch = null } = intent;
    return {
      place,
      reference,
      amount: textOf(amountPaisa),
      recipient: recipientOf(intent),
      method: String(asked.paymentMethodId),
      batch: textOf(batch),
    };
  });
  if (asked.length === 0) return [];
  return query(
    payoutsInSql(scope, { hasSingle: asked.some(({ batch }) => batch === null) }),
    ...[JSON.stringify(asked), scope.account.number, scopeOf(scope).value],
    duplicatesSince(scope.nowMs),
  );
}

function textOf(value: bigint | null): string | null {
  return value === null ? null : String(value);
}

/**
 * For each payout: the operation of its reference; of the others with its amount and recipient the newest that
 * is unresolved, that was accepted since a time, that has its reference in another account, and that is free; the
 * newest cancelled one; and a row that an open batch is still to send. One of each is enough, because
 * the rule depends on nothing else. $1 payouts, $2 own account, $3 scope, $4 time.
 *
 * @param hasSingle false if all are rows of a batch, which need less: to plan the statement takes longer than to run it
 */
function payoutsInSql(scope: FactsScope, { hasSingle }: { hasSingle: boolean }): string {
  const { inSql } = scopeOf(scope);
  const alike = `o.kind = 'payout' AND o.recipient_key = a.recipient AND o.amount_paisa = a.amount
    AND ${isNoTest}`;
  const another = `${inSql("o", "$3")} AND NOT (o.account = $2::bigint AND o.reference IS NOT DISTINCT FROM a.reference)`;
  // Adding zero keeps PostgreSQL from walking through all operations by their numbers.
  const newest = (where: string, first = "") =>
    `(SELECT o.number FROM lenden.operations o WHERE ${alike} AND ${where}
      ORDER BY ${first}o.number + 0 DESC LIMIT 1)`;
  const elsewhere = newest(
    `o.phase IN ('unresolved', 'live') AND o.reference = a.reference AND ${another}`,
    `(${isUnresolved}) DESC, `,
  );
  const free = `${isFree} AND o.updated_at >= $4 AND o.account + 0 = $2::bigint
    AND coalesce(o.method_id, a.method) = a.method`;
  const planned = (rows: string) => `
    SELECT b.id, r.reference FROM lenden.batch_rows r JOIN lenden.batches b ON b.number = r.batch
      LEFT JOIN lenden.operations o ON o.account = b.account AND o.reference = r.reference
    WHERE ${rows} AND ${isOpenRow}`;
  const single = `,
      CASE WHEN a.batch IS NULL THEN ${newest(free, "(o.state = 'REFUSED') DESC, ")} END AS free,
      p.id AS planned_batch, p.reference AS planned_reference`;
  const plannedRow = `
    LEFT JOIN LATERAL (
      SELECT * FROM (
        (${planned("a.batch IS NULL AND r.reference = a.reference AND b.account + 0 = $2::bigint")} LIMIT 1)
        UNION ALL
        (${planned(`a.batch IS NULL AND r.recipient_key = a.recipient AND r.amount_paisa = a.amount
          AND ${inSql("b", "$3")}`)} LIMIT 1)
      ) one LIMIT 1
    ) p ON true`;
  return `
    SELECT a.place,
      (SELECT o.number FROM lenden.operations o
        WHERE o.account = $2::bigint AND o.reference = a.reference) AS same,
      ${newest(`${isUnresolved} AND ${another}`)} AS unresolved,
      ${newest(`${isAcceptedSince("$4")} AND ${another}`)} AS accepted,
      ${isProduction(scope.owner) ? elsewhere : "NULL"} AS elsewhere,
      (SELECT o.id FROM lenden.operations o WHERE ${alike} AND o.phase = 'retired'
        AND o.account + 0 = $2::bigint AND o.state = 'CONFIRMED' AND o.status = 'Cancelled'
        AND coalesce(o.method_id, a.method) = a.method ORDER BY o.number + 0 DESC LIMIT 1) AS cancelled${hasSingle ? single : ""}
    FROM json_to_recordset($1::json) AS a(place int, reference text, amount bigint, recipient text,
      method text, batch bigint)${hasSingle ? plannedRow : ""}`;
}
