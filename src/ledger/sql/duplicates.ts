import { scalarText } from "../../domain/json.ts";
import { replacedReferences } from "../../domain/new-reference.ts";
import { isTest } from "../../domain/state.ts";
import type { GuardScope, NamedAccount } from "../account.ts";
import { columns, recipientOf } from "../columns.ts";
import {
  type ClaimFacts,
  type ClaimRequest,
  comparedSince,
  duplicatesSince,
  type PlannedRow,
  processingSince,
  rejectionsSince,
  rejectsRepeatsOf,
} from "../decide.ts";
import type { FoundOperation, Holder } from "../operation.ts";
import { isTrue, numberIn, type Row } from "../values.ts";
import type { Recorder } from "../worker.ts";
import { hasUnknownOutcome, isOpenRow, plansOfRows } from "./conditions.ts";
import { type Dialect, type Processes, scopeOf } from "./driver.ts";
import { createOperationReads, type FoundBy } from "./found.ts";
import type { RunLimits } from "./limits.ts";
import {
  changesOfRecord,
  equalPayments,
  manyEqualPayouts,
  mostCompared,
  payoutFacts,
  refundsOfPayment,
} from "./repeated.ts";
import type { Write } from "./transaction.ts";
import {
  all,
  both,
  type ColumnTypes,
  done,
  parameters,
  query,
  type Value,
  type Work,
} from "./work.ts";

/*
 * Finds what claims or the rows of a batch may repeat. Statements only filter by stored columns; decide.ts
 * decides what is a duplicate.
 */

/** The parts of the facts. */
function claimReads(dialect: Dialect, scope: GuardScope) {
  const [single, ofBatch] = [payoutsSql(scope, dialect, true), payoutsSql(scope, dialect, false)];
  const accounts = scope.isProduction
    ? "SELECT number FROM lenden.accounts WHERE environment = $1"
    : "CAST($1 AS bigint)";
  const ofRecord = `SELECT max(o.number) AS number FROM lenden.operations o
    WHERE o.account IN (${accounts}) AND o.remote_id = $2 AND o.kind = $3`;

  const amongMany = amongManySql(scope, dialect);

  function* payoutsOf(rows: Row[], account: bigint): Work<Row[]> {
    if (rows.length === 0) return [];
    // Rows of a batch need no planned row, and to find it takes longest.
    const hasSingle = rows.some(({ batch }) => batch === null);
    const sql = hasSingle ? single : ofBatch;
    const values: Value[] = [account, scope.number(account)];
    if (hasSingle) values.push(scope.value(account));
    const [found = []] = yield [{ sql, values, given: { columns: askedColumns, rows } }];
    return found;
  }

  /** The numbers of the operations that payouts replace, by the places of the claims. */
  function* replacedBy(asked: Row[], account: bigint): Work<Map<number, bigint[]>> {
    const rows = asked.flatMap(({ place = null, reference: by }) =>
      replacedReferences(String(by)).map((reference) => ({ place, reference })),
    );
    const numbers = new Map<number, bigint[]>();
    if (rows.length === 0) return numbers;
    const given = { columns: { place: "number", reference: "text" }, rows } as const;
    const [found = []] = yield [{ sql: replacedSql, values: [account], given }];
    for (const { place, number } of found)
      if (number !== null)
        numbers.set(Number(place), [...(numbers.get(Number(place)) ?? []), numberIn(number)]);
    return numbers;
  }

  /** The numbers of what decides among many equal payouts, by the places of the claims. */
  function* decisiveOf(rows: Row[], account: bigint, since: string): Work<Map<number, bigint[]>> {
    if (rows.length === 0) return new Map();
    const values: Value[] = [account, scope.number(account), since];
    const [found = []] = yield [{ sql: amongMany, values, given: { columns: askedColumns, rows } }];
    return new Map(
      found.map(({ place, newest, ...others }) => [
        Number(place),
        Object.values(others)
          .flatMap((one) => (one === null ? [] : [numberIn(one)]))
          .concat(numbersIn(newest)),
      ]),
    );
  }

  function* recordOf({ intent, found }: ClaimRequest, whose: Value): Work<bigint | undefined> {
    if (found?.remoteId === undefined) return undefined;
    const [row] = yield* query(ofRecord, whose, found.remoteId, intent.kind);
    return row?.number == null ? undefined : numberIn(row.number);
  }

  /** The numbers of what an intent may repeat that is no payout, oldest first. */
  function* similarTo(claim: ClaimRequest, account: bigint, nowMs: number): Work<bigint[]> {
    if (claim.intent.kind === "payout") return [];
    const { sql, values } = similarSql(claim, scope, dialect, { account, nowMs });
    const rows = yield* query(`SELECT number FROM (${sql}) found ORDER BY 1`, ...values);
    return rows.map(({ number }) => numberIn(number));
  }

  return { payoutsOf, replacedBy, decisiveOf, recordOf, similarTo };
}

/** Reads what decides claims that do not change each other's facts. The facts are in the order of the claims. */
export function createClaimFacts(
  dialect: Dialect,
  recorder: Pick<Recorder, "owner" | "now" | "command"> & FoundBy,
  limits: RunLimits,
) {
  const { owner, now } = recorder;
  const scope = scopeOf(owner, dialect);
  const { payoutsOf, replacedBy, decisiveOf, recordOf, similarTo } = claimReads(dialect, scope);
  return function* (
    { isAlive, appendedTo = noEvents }: Processes & Partial<Pick<Write, "appendedTo">>,
    claims: ClaimRequest[],
    own: NamedAccount,
  ): Work<ClaimFacts[]> {
    const nowMs = now();
    const readOperations = createOperationReads(dialect, { appendedTo, recorder });
    const whose = scope.value(own.number);
    const asked = claims
      .map((claim, place) => askedPayout(claim, place))
      .filter((one) => one !== undefined);
    const limited = { nowMs, own, readOperations };
    const ofLimit = (one: ClaimRequest) =>
      isJudged(one) ? limits.ofClaim(one, limited) : done(undefined);
    const hasRow = asked.some(({ batch }) => batch !== null);
    const ofRows = hasRow ? limits.rejectsRepeats(own) : done(undefined);
    const [[[payouts, byRows], [replaced, judged]], [records, similar]] = yield* both(
      both(
        both(payoutsOf(asked, own.number), ofRows),
        both(replacedBy(asked, own.number), all(claims.map(ofLimit))),
      ),
      both(
        all(claims.map((one) => recordOf(one, whose))),
        all(claims.map((one) => similarTo(one, own.number, nowMs))),
      ),
    );
    const rows = new Map(payouts.map((row) => [Number(row.place), row]));
    const similarAt = new Map(similar.entries());
    for (const { place, equal } of payouts) similarAt.set(Number(place), numbersIn(equal));
    const crowded = asked.filter(
      ({ place }) => similarAt.get(Number(place))?.length === mostCompared,
    );
    for (const { place } of crowded) similarAt.delete(Number(place));
    const [since = ""] = claims.map((one) => comparedSince(one, nowMs)).sort();
    const numbers = [...payouts.map(({ same }) => same ?? undefined), ...records];
    const known = numbers.flatMap((one) => (one === undefined ? [] : [numberIn(one)]));
    const [operations, decisive] = yield* both(
      readOperations([...known, ...[...similarAt.values(), ...replaced.values()].flat()]),
      decisiveOf(crowded, own.number, since),
    );
    for (const [place, numbers] of decisive) similarAt.set(place, numbers);
    const unread = [...decisive.values()].flat().filter((number) => !operations.has(number));
    for (const [number, one] of yield* readOperations(unread)) operations.set(number, one);
    const found = (number: Row[string] | undefined) =>
      number == null ? undefined : operations.get(numberIn(number));
    const allOf = (numbers: bigint[] = []) =>
      [...new Set(numbers)].flatMap((number) => operations.get(number) ?? []);
    const holders = yield* all(
      claims.map((_, place) => holderOf(found(rows.get(place)?.same), isAlive)),
    );
    return claims.map((_, place) => {
      const row = rows.get(place);
      const byLimits = judged[place];
      return {
        nowMs,
        account: own.name,
        keyHash: owner.keyId,
        environment: owner.environment,
        isTest: isTest(recorder),
        same: found(row?.same),
        holder: holders[place],
        ofRecord: found(records[place]),
        similar: allOf(similarAt.get(place)),
        replaced: allOf(replaced.get(place)),
        planned: row && plannedIn(row),
        isShared: isTrue(row?.shared),
        rejectsRepeats: byLimits ? rejectsRepeatsOf(byLimits) : byRows,
        limits: byLimits,
      };
    });
  };
}

/** The row of a batch was judged with its plan; what is only recorded was sent elsewhere. */
function isJudged({ intent, found }: ClaimedParts): boolean {
  const { kind, batch = null } = intent;
  return (kind === "payout" || kind === "refund") && batch === null && !found;
}

interface ClaimedParts extends Pick<ClaimRequest, "intent"> {
  found?: ClaimRequest["found"] | undefined;
}

/** A preview appends no event. */
const noEvents = () => [];

function* holderOf(
  operation: FoundOperation | undefined,
  isAlive: Processes["isAlive"],
): Work<Holder | undefined> {
  const holder = operation?.holder ?? undefined;
  return holder && (yield* isAlive(holder)) ? holder : undefined;
}

/** What decides a claim: operations without a common key do not change each other's facts. */
export function claimKeysOf({ intent, found }: ClaimedParts): string[] {
  const { kind, reference, amountPaisa, target } = intent;
  const record = found ? [`id ${found.remoteId}`] : [];
  // What one of them takes of a limit, the next one lacks.
  if (isJudged({ intent, found })) record.push("limits");
  if (kind === "payout")
    return [`ref ${reference}`, `to ${recipientOf(intent)} ${amountPaisa}`, ...record];
  return [kind === "payment" ? `payment ${amountPaisa}` : `${kind} ${target}`, ...record];
}

/** The statement that finds the numbers of what an intent may repeat that is no payout. */
function similarSql(
  { intent, found }: ClaimRequest,
  scope: GuardScope,
  dialect: Dialect,
  { account, nowMs }: { account: bigint; nowMs: number },
): { sql: string; values: Value[] } {
  const { values, bind } = parameters();
  const { kind, target, amountPaisa } = intent;
  const isGuarded = scope.ofOperations("o", bind(scope.number(account)));
  /** An index finds each of both forms. */
  const is = (column: string, value: Value) =>
    value === null ? `${column} IS NULL` : `${column} = ${bind(value)}`;
  const amount = (column = "o.amount_paisa") => is(column, amountPaisa);
  if (kind === "refund") {
    const ofPayment = { target: bind(target), isGuarded, amount: amount() };
    return { sql: refundsOfPayment(ofPayment, bind(rejectionsSince(nowMs)), dialect), values };
  }
  if (kind !== "payment") {
    const ofRecord = `${isGuarded} AND o.kind = ${bind(kind)} AND o.target = ${bind(target)}`;
    return { sql: changesOfRecord(ofRecord, dialect), values };
  }
  const { description, payerKey, methodId } = columns;
  const described = is("o.description", description.of(intent));
  // The record of the API names neither the payer nor the ID of the method.
  if (found)
    return {
      sql: `SELECT o.number FROM lenden.operations o WHERE ${isGuarded} AND o.kind = 'payment' AND ${amount()}
        AND ${described} AND ${hasUnknownOutcome} ORDER BY o.number LIMIT 1`,
      values,
    };
  const others = [
    described,
    is("o.payer_key", payerKey.of(intent)),
    is("o.method_id", methodId.of(intent)),
    isGuarded,
  ];
  const since = {
    processingSince: bind(processingSince(nowMs)),
    completedSince: bind(duplicatesSince(nowMs)),
  };
  return { sql: equalPayments({ amount, others: others.join(" AND ") }, since, dialect), values };
}

const askedColumns: ColumnTypes = {
  ...{ place: "number", reference: "text", amount: "number", recipient: "text", method: "text" },
  batch: "number",
};

function askedPayout({ intent }: ClaimRequest, place: number): Row | undefined {
  if (intent.kind !== "payout") return undefined;
  const { reference, amountPaisa, asked, batch = null } = intent;
  return {
    place: BigInt(place),
    reference,
    amount: amountPaisa,
    recipient: recipientOf(intent),
    method: scalarText(asked.paymentMethodId),
    batch,
  };
}

/** The numbers in a JSON array, which PostgreSQL leaves out if it is empty. */
function numbersIn(json: Row[string] | undefined): bigint[] {
  const numbers: unknown = json == null ? [] : JSON.parse(String(json));
  return Array.isArray(numbers) ? numbers.map((number) => BigInt(number)) : [];
}

/** The ID of a batch has no space. */
function plannedIn({ planned }: Row): PlannedRow | undefined {
  if (planned == null) return undefined;
  const [batch = "", ...reference] = String(planned).split(" ");
  return { batch, reference: reference.join(" ") };
}

/**
 * The facts about each payout, and a row that an open batch is still to send. $1 own account, $2 scope of operations,
 * $3 scope of batches if there are single payouts.
 *
 * @param hasSingle false if all payouts are rows of a batch
 */
function payoutsSql(scope: GuardScope, dialect: Dialect, hasSingle: boolean): string {
  const { unindexed } = dialect;
  const [own, whose] = ["CAST($1 AS bigint)", "$3"];
  const planned = (rows: string) => `(SELECT b.id || ' ' || r.reference
    FROM lenden.batch_rows r ${plansOfRows} AND ${rows} AND ${isOpenRow} LIMIT 1)`;
  const ofRecipient = `r.recipient_key = given.recipient AND r.amount_paisa = given.amount
    AND ${scope.inSql("b", whose)}`;
  const ofReference = `r.reference = given.reference
    AND (${unindexed("b.account")} = ${own} OR (${ofRecipient}))`;
  const read = {
    ...payoutFacts(scope, { own, scope: "$2" }, dialect),
    shared: `(SELECT count(*) > 1 FROM lenden.batch_rows r WHERE r.reference = given.reference)`,
    ...(hasSingle && {
      planned: `CASE WHEN given.batch IS NULL
        THEN coalesce(${planned(ofReference)}, ${planned(ofRecipient)}) END`,
    }),
  };
  return `SELECT given.place AS place, ${selected(read)} FROM given`;
}

const selected = (read: Record<string, string>) =>
  Object.entries(read).map(([name, sql]) => `${sql} AS ${name}`);

/** The operation of each reference. $1 own account. */
const replacedSql = `SELECT given.place AS place, (SELECT o.number FROM lenden.operations o
  WHERE o.account = CAST($1 AS bigint) AND o.reference = given.reference) AS number FROM given`;

/** What decides about a payout that has many equal ones. $1 own account, $2 scope, $3 time. */
function amongManySql(scope: GuardScope, dialect: Dialect): string {
  const parameters = { own: "CAST($1 AS bigint)", scope: "$2", since: "$3" };
  return `SELECT given.place AS place, ${selected(manyEqualPayouts(scope, parameters, dialect))} FROM given`;
}
