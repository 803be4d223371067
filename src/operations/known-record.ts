import type { ServiceRecord } from "../api/contract/index.ts";
import { Failure, whatHappened } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { differingCode, isDiffering } from "../domain/state.ts";
import { hasEnded, isSameStatus } from "../domain/statuses.ts";
import { changesFinalStatus } from "../ledger/decide.ts";
import type { HistoryEvent } from "../ledger/events.ts";
import type { Operation, Outcome } from "../ledger/operation.ts";
import { comparedRecord, differingRecord, unprovedRecord } from "./compare.ts";
import type { OperationDeps } from "./deps.ts";
import { statusIn } from "./record-outcome.ts";

/*
 * What a retrieved record shows of the operation that created it, for every command that retrieves one. I14: a record
 * proves an operation only in the fields that agree with what was requested.
 */

/**
 * The failure of a record that is not what an operation requested. A recipient that cannot be compared proves nothing:
 * neither that a record differs, nor that one that differed agrees again. A record of another reference is `uncertain`:
 * it is not the record of this payout, and its status must not be stored (P15b).
 */
export function conflictIn(operation: Operation, record: ServiceRecord): Failure | undefined {
  const { kind, remoteId, reference, id, asked } = operation;
  // A test of the API with a used reference is recorded without one.
  if (kind === "payout" && record.merchantRef !== (reference ?? asked.merchantRef)) {
    const what = `The API's response is for reference ${record.merchantRef || "none"}.`;
    const why = new Failure("api.unusable-response", what, { hint: "Run the same command again." });
    return confirmedUnseen(reference ?? id, remoteId ?? "", why);
  }
  const { different, unclear } = comparedRecord(operation, record);
  if (different.length > 0) return differingRecord(operation, record, different);
  return unclear.length > 0 && isDiffering(operation)
    ? unprovedRecord(operation, record, unclear)
    : undefined;
}

/** The failure of a status check of a payout that the API confirmed earlier: it stays confirmed. */
export function confirmedUnseen(reference: string, payoutId: string, why: Failure): Failure {
  return new Failure(
    why.kind === "access" ? "payout.status-denied" : "payout.status-unknown",
    `The API accepted payout ${reference} (${payoutId}) earlier, but its status cannot be retrieved. ${why.message}`,
    { ...why.details, operation: reference },
  );
}

/** What the ledger stores of a differing record: neither its status nor its times are proved. */
export function differingOutcome(conflict: Failure): Outcome {
  return { state: "CONFLICT", code: differingCode, message: whatHappened(conflict) };
}

/**
 * Records what the record of an operation shows, if that is new: its status, that it differs from what was requested,
 * or that it agrees again. Warns about a final status that changed. A CONFLICT with another record stays: only a person
 * ends it.
 *
 * @param conflict of the record, by `conflictIn`
 */
export async function recordShown(
  operation: Operation,
  record: ServiceRecord,
  conflict: Failure | undefined,
  deps: Pick<OperationDeps, "ledger" | "notice">,
): Promise<void> {
  const { state, status, message } = operation;
  const wasDiffering = isDiffering(operation);
  if (conflict?.kind === "uncertain" || (state !== "CONFIRMED" && !wasDiffering)) return;
  const ledger = await deps.ledger();
  if (conflict) {
    const outcome = differingOutcome(conflict);
    // What differed before says more than that it cannot be compared now.
    const isNew = comparedRecord(operation, record).different.length > 0;
    if (!wasDiffering || (isNew && outcome.message !== message))
      await ledger.learn({ seen: operation, outcome });
    return;
  }
  const isSame = isSameStatus(status, record.status);
  if (!wasDiffering && isSame) return;
  const outcome: Outcome = { state: "CONFIRMED", ...statusIn(record) };
  if (isSame && status !== null) outcome.status = status;
  const isFinalChanged = changesFinalStatus(operation, outcome);
  if (isFinalChanged || wasDiffering) {
    const history = await ledger.historyOf(operation);
    if (isFinalChanged) deps.notice(...finalStatusChanged(operation, record, history));
    if (wasDiffering) Object.assign(outcome, explanationIn(history));
  }
  await ledger.learn({ seen: operation, outcome });
  if (wasDiffering)
    deps.notice(
      `The API's record of ${nameOf(operation)} agrees with what was requested again. The conflict has ended.`,
      "record.agrees-again",
    );
}

/** The warning about a final status that was not final, with the time of the first one. */
function finalStatusChanged(
  operation: Operation,
  record: ServiceRecord,
  history: HistoryEvent[],
): [text: string, reason: string] {
  const { status: before } = operation;
  const first = firstFinal(history);
  const since = first === undefined ? "earlier" : `on ${formatTime(first.at)}`;
  const was =
    first === undefined || first.status === before
      ? `${before} ${since}`
      : `${first.status} ${since}, later ${before}`;
  return [
    `A final status changed: ${nameOf(operation)} was ${was}, and is ${record.status} now. Reports of the earlier time change. Check with the payment provider whether money moved.`,
    "operation.final-status-changed",
  ];
}

function nameOf({ kind, id, remoteId, reference }: Operation): string {
  return `${kind} ${[reference, remoteId ?? id].filter(Boolean).join(", ")}`;
}

/** The first final status that was recorded, and when the API's record had it. */
function firstFinal(history: HistoryEvent[]): { status: string; at: string } | undefined {
  for (const { at, data } of outcomesIn(history)) {
    const { state, status, recordUpdatedAt } = data;
    if (state !== "CONFIRMED" || status === undefined || !hasEnded({ status })) continue;
    return {
      status,
      at: recordUpdatedAt !== undefined && recordUpdatedAt < at ? recordUpdatedAt : at,
    };
  }
  return undefined;
}

/** Why it was CONFIRMED before its record differed, such as that the API had it before. */
function explanationIn(history: HistoryEvent[]): Pick<Outcome, "code" | "message"> {
  const confirmed = outcomesIn(history).findLast(
    ({ data }) => data.state === "CONFIRMED" && data.code !== undefined,
  );
  const { code, message } = confirmed?.data ?? {};
  return { ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) };
}

function outcomesIn(history: HistoryEvent[]) {
  return history.filter(
    (one) =>
      one.event === "attempt" ||
      one.event === "look" ||
      one.event === "final-status-changed" ||
      one.event === "late",
  );
}
