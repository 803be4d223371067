import { differingCode, testCommand } from "../../domain/state.ts";

/*
 * Conditions and values in SQL that every database reads in the same way: of an operation `o`, of a row `r` of a
 * batch, and of its batch `b`.
 */

/** When an operation may first have been sent, and when a process last took it to send it. */
export const openedAt = "coalesce(o.reopened_at, o.created_at)";
export const lastTakenAt = "coalesce(o.resumed_at, o.reopened_at, o.created_at)";

/** As `bookedAt` has it. */
export const bookedAt = "coalesce(o.completed_at, o.created_at)";

/** True for an operation that may still be completed. */
export const mayComplete = `(o.phase = 'unresolved'
  OR (o.phase = 'live' AND coalesce(o.status, '') <> 'Completed'))`;

/** True for payouts that `repetitionOf` may find: no tests of the API; unresolved at any age, or accepted since a time. */
export const isNoTest = `o.command <> '${testCommand}'`;
export const hasUnknownOutcome = "o.phase = 'unresolved'";
export const isAcceptedSince = (since: string) => `o.phase = 'live' AND o.accepted_at >= ${since}`;

/** True for payouts that ended without a payout, as a person reported since a time, whatever was recorded since. */
export function isReportedSince(since: string): string {
  return `o.phase IN ('free', 'retired') AND o.state <> 'CONFIRMED' AND ${reportedAt} >= ${since}`;
}
/** When a person last reported an outcome, by the events, which no one can change. JSON escapes quotes in texts. */
export const reportedAt = `(SELECT max(e.at) FROM lenden.events e
  WHERE e.operation = o.number AND e.event = 'look' AND e.data LIKE '%"origin":%')`;

/** True for an operation that `isDiffering`. */
export const isDifferingIn = (operation: string) =>
  `(${operation}.state = 'CONFLICT' AND coalesce(${operation}.code, '') = '${differingCode}')`;

/** The login that planned a batch first; null if no event says that it was planned. Its row can say anything. */
export const plannedBy = (batch: string) => `(SELECT e.login FROM lenden.events e
  WHERE e.batch = ${batch}.number AND e.event = 'plan' ORDER BY e.number LIMIT 1)`;
export const isPlanned = (batch: string) =>
  `(${batch}.row_count IS NOT NULL AND ${plannedBy(batch)} IS NOT NULL)`;

/** When a batch was cancelled, by its events; null if it was not. */
export const cancelledAt = (batch: string) => `(SELECT e.at FROM lenden.events e
  WHERE e.batch = ${batch}.number AND e.event = 'cancelled' ORDER BY e.number LIMIT 1)`;

/** True for a batch that was not cancelled, by its events, which no one can change. */
export const isNotCancelled = `NOT EXISTS (SELECT 1 FROM lenden.events e
  WHERE e.batch = b.number AND e.event = 'cancelled')`;

/**
 * True for a row that was not sent, of a plan that still sends its rows: by the newest event of its batch, because the
 * batch itself can be edited.
 */
export const isOpenRow = `(o.phase IS NULL OR o.phase = 'free')
  AND (SELECT e.event FROM lenden.events e WHERE e.batch = b.number
    AND e.event IN ('plan', 'cancelled') ORDER BY e.number DESC LIMIT 1) = 'plan'`;

/** The batch `b` of rows `r`, and the operation `o` that has the reference of each. Ends with a condition. */
export const plansOfRows = `CROSS JOIN lenden.batches b
  LEFT JOIN lenden.operations o ON o.account = b.account AND o.reference = r.reference
  WHERE b.number = r.batch`;

/** The end of an event of a ledger file, which names the file, as `sourceInEvent` reads it. */
const sourceOf = (event: string) => `substr(${event}.data, length(${event}.data) - 75)`;

/** True for an event `e` that planned a batch of a ledger file whose payouts are not all here yet. */
const isArriving = `(e.event = 'plan' AND e.data LIKE '%,"source":"%' AND NOT EXISTS (SELECT 1 FROM lenden.events f
  WHERE f.operation IS NULL AND f.event = 'imported' AND f.login = e.login AND ${sourceOf("f")} = ${sourceOf("e")}))`;

/** The first event of the batch of an operation with a name; null without one. */
const firstOfBatch = (event: string) =>
  `(SELECT min(e.number) FROM lenden.events e WHERE e.batch = o.batch AND e.event = '${event}')`;

/** The batch of an operation, as its seal covers it, and the places in the chain since which it sent its rows, and no longer. */
export const batchOfOperation = `
  (SELECT b.id FROM lenden.batches b WHERE b.number = o.batch AND b.account = o.account) AS batch_id,
  ${firstOfBatch("plan")} AS planned_place, ${firstOfBatch("cancelled")} AS cancelled_place,
  EXISTS (SELECT 1 FROM lenden.events e WHERE e.batch = o.batch AND ${isArriving}) AS is_arriving`;

/** True if an operation is the payout of a row, as by `isSamePayout`, but by the last eleven digits of the recipient. */
export const isPayoutOfRow = `(o.amount_paisa = r.amount_paisa
  AND o.recipient_key = r.recipient_key AND coalesce(o.method_id, r.method_id) = r.method_id)`;

/** True for the operation of a row's reference. A payout that another batch sent after this one was cancelled is not its. */
export const isOfBatch = `o.account = b.account AND o.reference = r.reference
  AND (b.cancelled_at IS NULL OR o.batch IS NULL OR o.batch = b.number
    OR ${openedAt} <= b.cancelled_at)`;

/** The number of the newest event. */
export const newestEvent = "SELECT max(number) AS number FROM lenden.events";
