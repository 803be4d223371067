import { generatedId, generatedPrefix } from "../../domain/reference.ts";
import type { GuardScope } from "../account.ts";
import { hasUnknownOutcome, isAcceptedSince, isNoTest, isReportedSince } from "./conditions.ts";

/*
 * Finds the operations that another one may repeat, in SQL that every database reads in the same way. Some are found by
 * what their columns say. The newest are found by columns that no role can change, so that they are compared with their
 * events.
 */

/**
 * A guard compares so many of the newest equal operations of each login with their events, whatever their columns say
 * now.
 */
export const mostCompared = 50;
/** More operations whose reference may be sent again are not read: they were all tried within a day. */
const mostFree = 200;

/** Beside the row `given` of a payout, the parameters of the own account and of the guard's scope. */
interface Given {
  own: string;
  scope: string;
}

/** The payouts that a condition selects, the first of an order. */
const payouts = (where: string, order: string, most = 1, columns = "o.number") =>
  `(SELECT ${columns} FROM lenden.operations o WHERE o.kind = 'payout' AND ${isNoTest} AND ${where}
    ORDER BY ${order} LIMIT ${most})`;

/** The order of an index in which the newest of a login are together. */
const byLogin = ({ unindexed }: Pick<ClaimDialect, "unindexed">) =>
  `o.login DESC, ${unindexed("o.number")} DESC`;

/**
 * The numbers of the newest operations of each login. What a login inserts hides nothing of another one, because a
 * server writes the login itself. Logins are few: the index finds each one after the one before.
 *
 * @param sorted what comes first in the order of the index, if a column can be null
 */
function newestOfEach(
  where: string,
  { withEach, unindexed }: NewestDialect,
  sorted: string[] = [],
): string {
  const first = (column: string, which: string, order: string[], most: number) =>
    `SELECT ${column} FROM lenden.operations o WHERE ${where} ${which}
      ORDER BY ${[...sorted, ...order].map((one) => `${one} DESC`)} LIMIT ${most}`;
  const login = (which: string) => `(${first("o.login", which, ["o.login"], 1)})`;
  const order = ["o.login", unindexed("o.number")];
  const newest = first("o.number", "AND o.login = logins.login", order, mostCompared);
  return `WITH RECURSIVE logins (login) AS (
      SELECT ${login("")}
      UNION ALL SELECT ${login("AND o.login < logins.login")} FROM logins WHERE logins.login IS NOT NULL
    )
    SELECT n.number FROM logins ${withEach(newest, "n")}`;
}

const equalPayouts = ({ ofOperations }: GuardScope, { scope }: Pick<Given, "scope">) =>
  `o.recipient_key = given.recipient AND o.amount_paisa = given.amount
    AND ${ofOperations("o", scope)}`;

/**
 * For a payout that is claimed, the row `given`: the operation of its reference; and those with its amount and
 * recipient, as a JSON array, unless they are as many as `mostCompared` or more. Both are found by columns that never
 * change.
 */
export function payoutFacts(guard: GuardScope, given: Given, dialect: ClaimDialect) {
  const equal = payouts(equalPayouts(guard, given), byLogin(dialect), mostCompared);
  return {
    same: `(SELECT o.number FROM lenden.operations o
      WHERE o.account = ${given.own} AND o.reference = given.reference)`,
    equal: `(SELECT ${dialect.jsonArrayOf}(CAST(one.number AS text)) FROM ${equal} one)`,
  };
}

/**
 * For a payout with so many equal ones that not all were read: the newest of each login, as a JSON array. And of any age
 * the newest that is unresolved, that was accepted since a time, that a person reported since then, that has its reference in another account, that was
 * cancelled, and, unless it is the row of a batch, whose reference may be sent again. One of each is enough, because the
 * rule depends on nothing else.
 *
 * @param since the parameter of the time since when accepted payouts count
 */
export function manyEqualPayouts(
  guard: GuardScope,
  given: Given & { since: string },
  dialect: ClaimDialect,
): Record<string, string> {
  const { isIn, unindexed, jsonArrayOf } = dialect;
  const { isProduction, ofOperations } = guard;
  const { own, scope, since } = given;
  const number = unindexed("o.number");
  const alike = `${recipientByPhase(dialect)} = given.recipient AND o.amount_paisa = given.amount
    AND ${ofOperations("o", scope)}`;
  const latest = `o.accepted_at DESC, ${number} DESC`;
  const another = `NOT (o.account = ${own} AND o.reference IS NOT DISTINCT FROM given.reference)`;
  const isOwn = `o.account = ${own} AND coalesce(o.method_id, given.method) = given.method`;
  const free = (phase: string, isRight: string) =>
    `CASE WHEN given.batch IS NULL THEN (SELECT o.number FROM ${payouts(
      `${alike} AND o.phase = '${phase}' AND o.accepted_at IS NULL`,
      latest,
      mostFree,
      "o.number, o.account, o.method_id, o.reference, o.batch, o.phase, o.state, o.updated_at",
    )} o WHERE ${isRight} AND o.updated_at >= ${since} AND ${isOwn} ORDER BY o.number DESC LIMIT 1) END`;
  // Its index finds few: without a function, a database could choose that of the recipient.
  const elsewhere = `${isIn("o.account", productionAccounts)} AND o.reference = given.reference
    AND o.account <> ${own} AND coalesce(o.recipient_key, '') = given.recipient
    AND coalesce(o.amount_paisa, 0) = given.amount`;
  const newest = newestOfEach(
    `o.kind = 'payout' AND ${isNoTest} AND ${equalPayouts(guard, given)}`,
    dialect,
  );
  return {
    newest: `(SELECT ${jsonArrayOf}(CAST(one.number AS text)) FROM (${newest}) one)`,
    unresolved: payouts(`${alike} AND ${hasUnknownOutcome} AND ${another}`, latest),
    accepted: payouts(`${alike} AND ${isAcceptedSince(since)} AND ${another}`, latest),
    reported: payouts(`${alike} AND ${isReportedSince(since)} AND ${another}`, latest),
    elsewhere: isProduction
      ? payouts(elsewhere, `(${hasUnknownOutcome}) DESC, (o.phase = 'live') DESC, ${number} DESC`)
      : "NULL",
    free: free("free", "true"),
    rejected: free("retired", isRepeatable),
    cancelled: payouts(
      `${alike} AND o.phase = 'retired' AND o.accepted_at IS NOT NULL AND ${isCancelled} AND ${isOwn}`,
      latest,
    ),
  };
}

/** What statements of a claim need of a `Dialect`. */
interface ClaimDialect {
  isIn(column: string, select: string): string;
  withEach(select: string, name: string): string;
  unindexed(column: string): string;
  unindexedText(column: string): string;
  jsonArrayOf: string;
}

type NewestDialect = Pick<ClaimDialect, "withEach" | "unindexed">;

/** The recipient as the index has it that finds payouts of a phase. */
export const recipientByPhase = ({ unindexedText }: Pick<ClaimDialect, "unindexedText">) =>
  unindexedText("o.recipient_key");

const productionAccounts =
  "SELECT a.number FROM lenden.accounts a WHERE a.environment = 'production'";
const isCancelled = "o.state = 'CONFIRMED' AND o.status = 'Cancelled'";

/** The numbers of operations that several parts find, each once. */
const union = (parts: string[]) =>
  parts.map((part) => `SELECT number FROM (${part}) found`).join(" UNION ");

/** What is equal in payments that are the same: a condition for each column. */
interface EqualPayment {
  amount(column: string): string;
  /** Of texts, and of the guard's scope. */
  others: string;
}

/**
 * The numbers of the payments that one may repeat: the newest of unknown outcome, of those that are Processing and of
 * those that are Completed, created since a time; and the newest of each login. Each part has its own bound, so that
 * none hides another. Each is read from an index, so that the time does not grow with the equal payments of all time.
 *
 * @param processingSince, completedSince parameters
 */
export function equalPayments(
  { amount, others }: EqualPayment,
  { processingSince, completedSince }: Record<"processingSince" | "completedSince", string>,
  dialect: NewestDialect,
): string {
  const equal = (amountColumn: string) =>
    `o.kind = 'payment' AND ${amount(amountColumn)} AND ${others}`;
  // A column that is null is no equal one for PostgreSQL, which then sorts unless it is named.
  const sorted = (amountColumn: string) => [amountColumn, "o.description", "o.payer_key"];
  const newest = (which: string, ...order: string[]) => `SELECT o.number
    FROM lenden.operations o WHERE ${equal("o.amount_paisa")} AND ${which}
    ORDER BY ${[...sorted("o.amount_paisa"), ...order, "o.created_at"].map((one) => `${one} DESC`)}
    LIMIT ${mostCompared}`;
  const accepted = (status: string, since: string) =>
    newest(`o.phase = 'live' AND o.status = '${status}' AND o.created_at >= ${since}`);
  const amountByLogin = dialect.unindexed("o.amount_paisa");
  return union([
    newest(hasUnknownOutcome, "o.status"),
    accepted("Processing", processingSince),
    accepted("Completed", completedSince),
    newestOfEach(equal(amountByLogin), dialect, sorted(amountByLogin)),
  ]);
}

/**
 * The numbers of the refunds of a payment that decide about another one: all that may have been paid, the newest of the
 * amount that was rejected since a time, and the newest of each login.
 *
 * @param target, isGuarded, amount conditions on the payment, the scope and the amount; `since`: a parameter
 */
export function refundsOfPayment(
  { target, isGuarded, amount }: { target: string; isGuarded: string; amount: string },
  since: string,
  dialect: NewestDialect & Pick<ClaimDialect, "unindexedText">,
): string {
  const ofPayment = (column: string) =>
    `o.kind = 'refund' AND ${column} = ${target} AND ${isGuarded}`;
  const ofPhase = (phase: string, where = "") => `SELECT o.number FROM lenden.operations o
    WHERE ${ofPayment(dialect.unindexedText("o.target"))} AND o.phase = '${phase}' ${where}`;
  return union([
    ofPhase("unresolved"),
    ofPhase("live"),
    ofPhase(
      "retired",
      `AND o.updated_at >= ${since} AND ${amount} AND o.state = 'REFUSED'
        ORDER BY o.updated_at DESC LIMIT 1`,
    ),
    newestOfEach(ofPayment("o.target"), dialect),
  ]);
}

/** The numbers of the cancels or triggers of a record: one that was confirmed, and the newest of each login. */
export function changesOfRecord(ofRecord: string, dialect: NewestDialect): string {
  return union([
    `SELECT o.number FROM lenden.operations o WHERE ${ofRecord} AND o.state = 'CONFIRMED'
      ORDER BY o.login, ${dialect.unindexed("o.number")} LIMIT 1`,
    newestOfEach(ofRecord, dialect),
  ]);
}

/** As `isRepeatable` of decide.ts, without the age. */
const isRepeatable = `(o.phase = 'retired' AND o.state = 'REFUSED' AND o.batch IS NULL
  AND length(o.reference) = ${generatedPrefix.length + generatedId.length}
  AND substr(o.reference, 1, ${generatedPrefix.length}) = '${generatedPrefix}'
  AND ltrim(substr(o.reference, ${generatedPrefix.length + 1}), '${generatedId.alphabet}') = '')`;
