import type { Database, Row } from "../../platform/sqlite/database.ts";
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
import { operationColumns, operationOf } from "./operation-rows.ts";

/**
 * Reads what decides a claim. In production a guard sees the whole environment, whichever account, key and
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

  return ({ intent }: ClaimRequest): ClaimFacts => {
    const nowMs = worker.now();
    const own = account.read();
    const whose = isProduction ? owner.environment : own.number;
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
    if (intent.kind !== "payout") {
      facts.similar = similarTo(intent, whose);
      return facts;
    }
    const { reference, amountPaisa, asked, batch = null } = intent;
    const since = new Date(nowMs - duplicateWindowMs).toISOString();
    const recipient = recipientOf(intent);
    const method = String(asked.paymentMethodId);
    const parameters = [own.number, whose, since, reference, amountPaisa, recipient, method, batch];
    const found = payouts.get(...parameters);
    if (!found) throw new Error("the ledger returned no facts for a payout");
    const { unresolved, accepted, elsewhere } = found;
    const same = operation(found.same);
    facts.same = same;
    if (same?.holder && worker.isAlive(same.holder)) facts.holder = same.holder;
    facts.similar = [unresolved, accepted, elsewhere].flatMap((one) => operation(one) ?? []);
    facts.planned = plannedIn(found);
    if (found.cancelled) facts.cancelled = String(found.cancelled);
    return facts;
  };
}

function plannedIn({ planned }: Row): PlannedRow | undefined {
  if (!planned) return undefined;
  const [batch, reference]: unknown[] = JSON.parse(String(planned));
  return { batch: String(batch), reference: String(reference) };
}

/**
 * Reads for a payout: the operation of its reference (`same`); the newest one of the same amount and recipient
 * that is unresolved, that was accepted since a time, or that has its reference in another account
 * (unresolved first); the newest that was cancelled; and a row that an open batch is still to send.
 * ?1 is the own account, ?2 the scope, ?3 the time, ?4 the reference, ?5 the amount, ?6 the recipient,
 * ?7 the method, ?8 the batch.
 */
function payoutsInSql(isProduction: boolean): string {
  const scope = isProduction ? "o.environment = ?2" : "o.account = ?2";
  const batchScope = isProduction ? "b.environment = ?2" : "b.account = ?2";
  const alike = `o.kind = 'payout' AND o.recipient_key = ?6 AND o.amount_paisa = ?5`;
  const another = "NOT (o.account = ?1 AND o.reference = ?4)";
  const newest = (where: string, first = "") =>
    `SELECT o.number FROM operations o WHERE ${alike} AND ${where} ORDER BY ${first}o.number DESC LIMIT 1`;
  const ofAnother = `${scope} AND o.phase IN ('unresolved', 'live') AND o.reference = ?4 AND o.account != ?1`;
  const planned = (rows: string) => `
    SELECT json_array(b.id, p.reference) FROM batch_rows p
      CROSS JOIN batches b ON b.number = p.batch
      LEFT JOIN operations o ON o.account = b.account AND o.reference = p.reference
    WHERE ${rows} AND b.digest IS NOT NULL AND b.cancelled_at IS NULL
      AND (o.phase IS NULL OR o.phase = 'free')
    LIMIT 1`;
  const ownReference = "p.reference = ?4 AND b.account = ?1";
  const sameRecipient = `p.recipient_key = ?6 AND p.amount_paisa = ?5 AND ${batchScope}`;
  return `
    SELECT
      (SELECT o.number FROM operations o WHERE o.account = ?1 AND o.reference = ?4) AS same,
      (${newest(`${scope} AND o.phase = 'unresolved' AND ${another}`)}) AS unresolved,
      (${newest(`${scope} AND o.phase = 'live' AND o.accepted_at >= ?3 AND ${another}`)}) AS accepted,
      ${isProduction ? `(${newest(ofAnother, "o.phase = 'unresolved' DESC, ")})` : "NULL"} AS elsewhere,
      (SELECT o.id FROM operations o WHERE ${alike} AND o.phase = 'retired' AND o.account = ?1
        AND o.state = 'CONFIRMED' AND o.status = 'Cancelled' AND o.method_id = ?7 ORDER BY o.number DESC LIMIT 1) AS cancelled,
      CASE WHEN ?8 IS NULL THEN
        coalesce((${planned(ownReference)}), (${planned(sameRecipient)})) END AS planned`;
}
