import { payeeOf } from "../../domain/mobile.ts";
import type { Database, Row, Value } from "../../platform/sqlite/database.ts";
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
import {
  type ClaimFacts,
  type ClaimRequest,
  duplicatesSince,
  type PlannedRow,
  processingSince,
} from "../decide.ts";
import type { BatchReads, RecipientAmount } from "../ledger.ts";
import type { Intent, Operation, Outcome } from "../operation.ts";
import { knownOf, operationOf, overlapsIn, plannedOf } from "../rows.ts";
import { grouped, numberIn } from "../values.ts";
import type { Owner, Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { operationColumns } from "./operation-rows.ts";

/*
 * Finds what a claim or the row of a batch may repeat. Statements only filter by stored columns; decide.ts
 * decides what is a duplicate.
 */

const plansOfRows = `CROSS JOIN batches b ON b.number = r.batch
  LEFT JOIN operations o ON o.account = b.account AND o.reference = r.reference`;

/** Reads what decides a claim. */
export function createClaimFacts(database: Database, worker: Worker, account: RunAccount) {
  const { owner } = worker;
  const scope = guardScope(owner);
  const select = (where: string) =>
    database.prepare(`SELECT ${operationColumns} FROM operations o WHERE ${where}`);
  const inScope = scope.inSql("o", "?");
  const byNumber = select("number = ?");
  const payouts = database.prepare(payoutsInSql(scope));
  const payments = select(`number IN (${equalPaymentsInSql(scope)})`);
  // The record of the API names neither the payer nor the ID of the method.
  const unresolvedPayments = select(
    `${inScope} AND kind = 'payment' AND amount_paisa IS ? AND description IS ? AND ${isUnresolved} LIMIT 1`,
  );
  const accounts = scope.isProduction ? "SELECT number FROM accounts WHERE environment = ?" : "?";
  const ofRecord = select(
    `account IN (${accounts}) AND remote_id = ? AND kind = ? ORDER BY +number DESC LIMIT 1`,
  );
  const ofTarget = select(`${inScope} AND kind = ? AND target = ? ORDER BY +number`);

  const operation = (number: Value | undefined): Operation | undefined => {
    const row = typeof number === "bigint" ? byNumber.get(number) : undefined;
    return row && operationOf(row);
  };
  const recordOf = ({ remoteId = "" }: Outcome, { kind }: Intent, whose: Value) =>
    ofRecord.all(whose, remoteId, kind).map(operationOf)[0];
  const similarTo = ({ intent, found }: ClaimRequest, whose: Value, nowMs: number): Operation[] => {
    const { kind, target, amountPaisa } = intent;
    if (kind !== "payment") return ofTarget.all(whose, kind, target).map(operationOf);
    const { description, payerKey, methodId } = columns;
    const rows = found
      ? unresolvedPayments.all(whose, amountPaisa, description.of(intent))
      : payments.all(
          ...[whose, processingSince(nowMs), duplicatesSince(nowMs)],
          ...[amountPaisa, description.of(intent), payerKey.of(intent), methodId.of(intent)],
        );
    return rows.map(operationOf);
  };

  return (request: ClaimRequest): ClaimFacts => {
    const { intent, found: record } = request;
    const nowMs = worker.now();
    const own = account.read();
    const whose = scope.value(own.number);
    const facts: ClaimFacts = {
      nowMs,
      account: own.name,
      keyHash: owner.keyId,
      same: undefined,
      holder: undefined,
      similar: [],
      planned: undefined,
      cancelled: null,
    };
    if (record) facts.ofRecord = recordOf(record, intent, whose);
    if (intent.kind !== "payout") {
      facts.similar = similarTo(request, whose, nowMs);
      return facts;
    }
    const { reference, amountPaisa, asked, batch = null } = intent;
    const method = String(asked.paymentMethodId);
    const found = payouts.get(
      ...[own.number, whose, duplicatesSince(nowMs), reference, amountPaisa],
      ...[recipientOf(intent), method, batch],
    );
    if (!found) throw new Error("the ledger returned no facts for a payout");
    const { unresolved, accepted, elsewhere, free } = found;
    const same = operation(found.same);
    facts.same = same;
    if (same?.holder && worker.isAlive(same.holder)) facts.holder = same.holder;
    facts.similar = [unresolved, accepted, elsewhere, free].flatMap((one) => operation(one) ?? []);
    facts.planned = plannedIn(found);
    if (found.cancelled) facts.cancelled = String(found.cancelled);
    return facts;
  };
}

function equalPaymentsInSql(scope: GuardScope): string {
  const names = {
    ...{ scope: "?1", processingSince: "?2", completedSince: "?3", amount: "?4" },
    ...{ description: "?5", payer: "?6", method: "?7" },
  };
  return equalPayments("operations", scope, names, (column, value) => `${column} IS ${value}`);
}

function plannedIn({ planned }: Row): PlannedRow | undefined {
  if (!planned) return undefined;
  const [batch, reference]: unknown[] = JSON.parse(String(planned));
  return { batch: String(batch), reference: String(reference) };
}

/**
 * The facts about a payout, and a row that an open batch is still to send. ?8 is the batch of the payout: a row of a
 * batch needs only a part of the facts.
 */
function payoutsInSql(scope: GuardScope): string {
  const names = {
    ...{ own: "?1", scope: "?2", since: "?3", reference: "?4", amount: "?5", recipient: "?6" },
    method: "?7",
  };
  const facts = payoutFacts("operations", scope, names, (column) => column);
  const planned = (rows: string) => `
    SELECT json_array(b.id, r.reference) FROM batch_rows r ${plansOfRows}
    WHERE ${rows} AND ${isOpenRow} LIMIT 1`;
  const sameRecipient = `r.recipient_key = ?6 AND r.amount_paisa = ?5 AND ${scope.inSql("b", "?2")}`;
  return `
    SELECT ${facts.same} AS same, ${facts.unresolved} AS unresolved, ${facts.accepted} AS accepted,
      ${facts.elsewhere} AS elsewhere, ${facts.cancelled} AS cancelled,
      CASE WHEN ?8 IS NULL THEN ${facts.free} END AS free,
      CASE WHEN ?8 IS NULL THEN coalesce(
        (${planned("r.reference = ?4 AND b.account = ?1")}), (${planned(sameRecipient)})) END AS planned`;
}

/** Reads what the rows of a file or a plan may repeat, some hundred rows at a time. */
export function createOverlaps(database: Database, owner: Owner, own: RunAccount): BatchReads {
  const scope = guardScope(owner);
  /** The rows that are asked about, the scope and the own account: ?1 to ?3. */
  const valuesFor = (asked: unknown[]): Value[] => {
    const account = own.number();
    return [JSON.stringify(asked), scope.value(account), account];
  };

  return {
    knownReferences: async (references) =>
      grouped(
        database.prepare(knownInSql(scope)).all(...valuesFor(references)),
        "reference",
        knownOf,
      ),

    overlaps: async (rows, { since, except }) => {
      const values = [...valuesFor(rows.map(askedOf)), except ?? null];
      // Planned rows first: a row that is sent between the two questions is seen twice, never missed.
      const planned = database.prepare(plannedInSql(scope.inSql("b", "?2"))).all(...values);
      const sent = database.prepare(sentInSql(scope.inSql("o", "?2"))).all(...values, since);
      return overlapsIn(planned, sent, { rows, since });
    },

    paidRecipients: async (payees) => {
      const found = database.prepare(paidInSql).all(JSON.stringify(payees), own.number());
      return new Set(found.map(({ payee }) => String(payee)));
    },

    plannedReferences: async (references) => {
      const found = database
        .prepare(plannedByReference)
        .all(JSON.stringify(references), own.number());
      return grouped(found, "reference", plannedOf);
    },

    newestEvent: async () => {
      const row = database.prepare("SELECT max(number) AS number FROM events").get();
      return numberIn(row?.number);
    },
  };
}

/** JSON has no bigint; every amount is far below 2^53. */
function askedOf({ reference, recipient, amountPaisa }: RecipientAmount) {
  return { reference, payee: payeeOf(recipient), amount: Number(amountPaisa) };
}

// CROSS JOIN makes SQLite begin with the rows that are asked about, and use the index for each.
const sentInSql = (scope: string) => `
  SELECT a.key AS place, o.reference, o.state, o.status, o.code, o.account IS ?3 AS is_own,
    o.accepted_at, o.command, ${lastTakenAt} AS sent_at
  FROM json_each(?1) a CROSS JOIN operations o
    ON o.amount_paisa = a.value ->> 'amount' AND o.recipient_key = a.value ->> 'payee'
  WHERE o.kind = 'payout' AND ${isNoTest} AND ${scope} AND (${isUnresolved} OR (${isAcceptedSince("?5")}))
    AND NOT EXISTS (SELECT 1 FROM batch_rows r
      WHERE r.batch = ?4 AND r.reference = o.reference AND ${isSamePayout})
  ORDER BY a.key, CASE WHEN ${isUnresolved} THEN ${lastTakenAt} ELSE o.accepted_at END DESC`;

const plannedInSql = (scope: string) => `
  SELECT a.key AS place, r.reference, b.id AS batch, b.account IS ?3 AS is_own
  FROM json_each(?1) a CROSS JOIN batch_rows r
    ON r.amount_paisa = a.value ->> 'amount'
      AND r.recipient_key = a.value ->> 'payee' ${plansOfRows}
  WHERE ${scope} AND ${isOpenRow} AND b.number IS NOT ?4
    AND r.reference IS NOT a.value ->> 'reference'
  ORDER BY a.key, b.number DESC, r.row`;

// With the plus, SQLite looks up each recipient instead of all payouts of the account.
const paidInSql = `
  SELECT a.value AS payee FROM json_each(?1) a
  WHERE EXISTS (SELECT 1 FROM operations o
    WHERE o.kind = 'payout' AND o.recipient_key = a.value AND ${isNoTest} AND o.phase = 'live' AND +o.account = ?2)`;

const plannedByReference = `
  SELECT r.reference, b.id AS batch, r.recipient, r.amount_paisa, r.method_id
  FROM json_each(?1) a CROSS JOIN batch_rows r ON r.reference = a.value ${plansOfRows}
  WHERE b.account = ?2 AND ${isOpenRow}
  ORDER BY b.number DESC`;

/** In production of every account: the condition on all of them lets SQLite use the index. */
const knownInSql = ({ isProduction, inSql }: GuardScope) => `
  SELECT o.id, o.reference, o.recipient_key AS recipient, o.amount_paisa, o.method_id,
    o.account IS ?3 AS is_own, o.state, o.status, o.code, o.accepted_at,
    ${lastTakenAt} AS sent_at, o.updated_at
  FROM json_each(?1) a CROSS JOIN operations o ON o.reference = a.value
    AND o.account ${isProduction ? "IN (SELECT number FROM accounts)" : "= ?3"}
  WHERE ${inSql("o", "?2")} ORDER BY o.number`;
