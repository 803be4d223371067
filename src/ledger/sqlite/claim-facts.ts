import type { Database, Row } from "../../sqlite/database.ts";
import {
  type ClaimFacts,
  type ClaimRequest,
  duplicateWindowMs,
  type PlannedRow,
  recipientOf,
} from "../decide.ts";
import type { Intent, Operation } from "../operation.ts";
import type { Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { numberIn, operationColumns, operationOf } from "./operation-rows.ts";

interface Known {
  request: ClaimRequest;
  facts: ClaimFacts;
}

/**
 * Reads what decides claims. In production a guard sees the whole environment, whichever account, key and
 * base URL was used; in a sandbox the account alone, because every local sandbox is a world of its own.
 */
export function createClaimFacts(database: Database, worker: Worker, account: RunAccount) {
  const { owner } = worker;
  const isProduction = owner.environment === "production";
  const scope = isProduction ? "o.environment = ?" : "o.account = ?";
  const select = (where: string) =>
    database.prepare(`SELECT ${operationColumns} FROM operations o WHERE ${scope} AND ${where}`);
  const byNumber = database.prepare(
    `SELECT ${operationColumns} FROM operations o WHERE number = ?`,
  );
  const payouts = database.prepare(payoutsInSql(isProduction));
  const payments = select(
    "kind = 'payment' AND amount_paisa IS ? AND description IS ? ORDER BY +number",
  );
  const ofTarget = select("kind = ? AND target = ? ORDER BY +number");

  const operation = (number: Row[string] | undefined): Operation | undefined => {
    const row = typeof number === "bigint" ? byNumber.get(number) : undefined;
    return row && operationOf(row);
  };

  function similarTo(
    { kind, target, amountPaisa, asked }: Intent,
    whose: string | bigint,
  ): Operation[] {
    const description = typeof asked.description === "string" ? asked.description : null;
    const rows =
      kind === "payment"
        ? payments.all(whose, amountPaisa, description)
        : ofTarget.all(whose, kind, target);
    return rows.map(operationOf);
  }

  /** In the order of the requests. */
  return (requests: ClaimRequest[]): Known[] => {
    const nowMs = worker.now();
    const own = account.read();
    const whose = isProduction ? owner.environment : own.number;
    const since = new Date(nowMs - duplicateWindowMs).toISOString();
    const asked = requests.flatMap(({ intent }, index) =>
      intent.kind === "payout" ? [payoutKey(intent, index)] : [],
    );
    const found =
      asked.length === 0 ? [] : payouts.all(own.number, whose, since, JSON.stringify(asked));
    const ofRequest = new Map(found.map((row) => [Number(numberIn(row.place)), row]));
    return requests.map((request, index) => {
      const row = ofRequest.get(index);
      const same = operation(row?.same);
      const similar = row
        ? [row.unresolved, row.accepted, row.elsewhere].flatMap((one) => operation(one) ?? [])
        : similarTo(request.intent, whose);
      const planned = plannedIn(row);
      const holder = same?.holder && worker.isAlive(same.holder) ? same.holder : undefined;
      const cancelled = row?.cancelled ? String(row.cancelled) : null;
      const run = { nowMs, account: own.name, keyHash: owner.keyId };
      return { request, facts: { ...run, same, holder, similar, planned, cancelled } };
    });
  };
}

function plannedIn(row: Row | undefined): PlannedRow | undefined {
  if (!row?.planned) return undefined;
  const [batch, reference]: unknown[] = JSON.parse(String(row.planned));
  return { batch: String(batch), reference: String(reference) };
}

function payoutKey(intent: Intent, index: number): (string | number | null)[] {
  const { reference, amountPaisa, asked, batch } = intent;
  return [
    index,
    reference,
    String(amountPaisa),
    recipientOf(intent),
    String(asked.paymentMethodId),
    batch?.toString() ?? null,
  ];
}

/**
 * For each payout: the operation of its reference (`same`); the newest one of the same amount and recipient
 * that is unresolved, that was accepted since a time, or that has its reference in another account
 * (unresolved first); the newest that was cancelled; and a row that an open batch is still to send.
 */
function payoutsInSql(isProduction: boolean): string {
  const scope = isProduction ? "o.environment = ?2" : "o.account = ?2";
  const batchScope = isProduction ? "b.environment = ?2" : "b.account = ?2";
  const alike = `o.kind = 'payout' AND o.recipient_key = q.recipient AND o.amount_paisa = q.amount`;
  const another = "NOT (o.account = ?1 AND o.reference = q.reference)";
  const newest = (where: string, first = "") =>
    `SELECT o.number FROM operations o WHERE ${alike} AND ${where} ORDER BY ${first}o.number DESC LIMIT 1`;
  const ofAnother = `${scope} AND o.phase IN ('unresolved', 'live') AND o.reference = q.reference AND o.account != ?1`;
  const planned = (rows: string) => `
    SELECT json_array(b.id, p.reference) FROM batch_rows p
      CROSS JOIN batches b ON b.number = p.batch
      LEFT JOIN operations o ON o.account = b.account AND o.reference = p.reference
    WHERE ${rows} AND b.digest IS NOT NULL AND b.cancelled_at IS NULL
      AND (o.phase IS NULL OR o.phase = 'free')
    LIMIT 1`;
  const ownReference = "p.reference = q.reference AND b.account = ?1";
  const sameRecipient = `p.recipient_key = q.recipient AND p.amount_paisa = q.amount AND ${batchScope}`;
  return `
    WITH q AS MATERIALIZED (SELECT value ->> 0 AS place, value ->> 1 AS reference,
      CAST(value ->> 2 AS INTEGER) AS amount, value ->> 3 AS recipient, value ->> 4 AS method,
      CAST(value ->> 5 AS INTEGER) AS batch FROM json_each(?4))
    SELECT q.place,
      (SELECT o.number FROM operations o WHERE o.account = ?1 AND o.reference = q.reference) AS same,
      (${newest(`${scope} AND o.phase = 'unresolved' AND ${another}`)}) AS unresolved,
      (${newest(`${scope} AND o.phase = 'live' AND o.accepted_at >= ?3 AND ${another}`)}) AS accepted,
      ${isProduction ? `(${newest(ofAnother, "o.phase = 'unresolved' DESC, ")})` : "NULL"} AS elsewhere,
      (SELECT o.id FROM operations o WHERE ${alike} AND o.phase = 'retired' AND o.account = ?1
        AND o.state = 'CONFIRMED' AND o.status = 'Cancelled' AND o.method_id = q.method ORDER BY o.number DESC LIMIT 1) AS cancelled,
      CASE WHEN q.batch IS NULL THEN
        coalesce((${planned(ownReference)}), (${planned(sameRecipient)})) END AS planned
    FROM q`;
}
