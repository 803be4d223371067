import { isObject, scalarText } from "../domain/json.ts";
import { isFree, type State, states } from "../domain/state.ts";
import { columns, fieldsBy } from "./columns.ts";
import { mayHavePaid, repetitionOf } from "./decide.ts";
import {
  freeStatesOf,
  type HistoryEvent,
  lastAsked,
  latestOf,
  orderedAt,
  readEvent,
  reportedAt,
  sendableBy,
  takerIn,
} from "./events.ts";
import type { KnownPayout, Overlap, PlannedReference, RecipientAmount } from "./ledger.ts";
import type { FoundOperation, Holder, ListedOperation, Operation } from "./operation.ts";
import { grouped, isTrue, jsonOf, known, numberIn, type Row, reader, readRow } from "./values.ts";

/* Rows of tables, as the types of the ledger. */

/** The process that works on what the row is about, in any table that has a holder. */
export function holderIn({ holder }: Row): Holder | null {
  return holder ? JSON.parse(String(holder)) : null;
}

/** The state of the operation in a row; null if there is none. */
export function stateIn({ state }: Row): State | null {
  return state ? known(states, String(state)) : null;
}

function requiredState(row: Row): State {
  const state = stateIn(row);
  if (state === null) throw new Error("an operation of the ledger has no state");
  return state;
}

/** A row of the table `operations`, with the name of its account and its holder as JSON. */
export function operationOf(row: Row): Operation {
  return readRow(
    () => `Operation ${row.id}`,
    () => {
      const fields = fieldsBy(({ name, read }) => read(row[name]));
      return Object.assign(fields, {
        openedAt: columns.reopenedAt.read(row.reopened_at) ?? fields.createdAt,
        holder: holderIn(row),
        account: String(row.account_name ?? ""),
        login: String(row.login ?? ""),
      });
    },
  );
}

/**
 * As `operationOf`, with the ID of its batch; its columns agree with its events.
 *
 * @param own the login of this run
 */
export function foundOperationOf(row: Row, history: HistoryEvent[], own: string): FoundOperation {
  const operation = operationOf(row);
  return Object.assign(operation, {
    lastAsked: lastAsked(operation, history),
    batchId: reader(row).maybe("batch_id"),
    wasPlanned: wasPlanned(row, history, own),
    isArriving: isTrue(row.is_arriving),
    taker: takerIn(history),
    seal: reader(row).maybe("seal"),
    trusted: sendableBy({ recorder: operation.login, own }, operation, history),
    newestAt: latestOf(history) ?? operation.createdAt,
    orderedAt: orderedAt(own, history),
    freeStates: isFree(operation) ? freeStatesOf(operation, history) : [],
    reportedAt: reportedAt(history),
    others: null,
  });
}

/**
 * True if the batch of an operation still sent its rows when another login last ordered the operation. A seal has no end,
 * so a copy of a row that a cancelled batch never sent has a valid one. What this login orders again after the batch was
 * cancelled is its own order.
 */
function wasPlanned(row: Row, history: HistoryEvent[], own: string): boolean {
  const order = history.findLast(({ event }) => event === "intent" || event === "reopened");
  const isOwn = order?.login === undefined || order.login === own;
  // An event without a number is being recorded.
  const { number = Number.POSITIVE_INFINITY } = (isOwn ? history[0] : order) ?? {};
  const isBefore = (place: Row[string] | undefined) => place != null && numberIn(place) < number;
  return isBefore(row.planned_place) && !isBefore(row.cancelled_place);
}

/** A row of the table `events`. */
export function eventOf(row: Row): HistoryEvent {
  const { text } = reader(row);
  return { ...readEvent(text("at"), text("event"), text("data")), login: text("login") };
}

/** As `operationOf`, with the ID of its batch and the sums of its refunds. */
export function listedOperationOf(row: Row): ListedOperation {
  const refunds =
    row.refunded == null
      ? null
      : {
          completedPaisa: numberIn(row.refunded),
          openPaisa: numberIn(row.refund_open),
          differing: Number(numberIn(row.refunds_differing)),
        };
  return { ...operationOf(row), batchId: reader(row).maybe("batch_id"), refunds };
}

function plannedOverlapOf(row: Row): Overlap {
  const { text } = reader(row);
  const isOwnAccount = isTrue(row.is_own);
  return { kind: "planned", batch: text("batch"), reference: text("reference"), isOwnAccount };
}

/**
 * What rows repeat, by their places.
 *
 * @param planned rows of open batches, and `sent` payouts, each with its `place`; `keyHash`: of the key of the run
 */
export function overlapsIn(
  planned: Row[],
  sent: Row[],
  { rows, since, keyHash }: { rows: RecipientAmount[]; since: string; keyHash: string },
): Map<string, Overlap[]> {
  const found = grouped(planned, "place", plannedOverlapOf);
  for (const row of sent) {
    const place = String(row.place);
    const reference = rows[Number(place)]?.reference ?? null;
    const overlap = overlapOf(row, { reference, since, keyHash });
    if (overlap) found.set(place, [...(found.get(place) ?? []), overlap]);
  }
  return found;
}

function overlapOf(
  row: Row,
  scope: Parameters<typeof repetitionOf>[1] & { keyHash: string },
): Overlap | undefined {
  const { text, maybe } = reader(row);
  const [reference, isOwnAccount] = [text("reference"), isTrue(row.is_own)];
  const acceptedAt = maybe("accepted_at");
  const ended = { state: requiredState(row), status: maybe("status"), code: maybe("code") };
  // With another key, the API may not know the reference of what ended without a payout.
  const isOwn = isOwnAccount && (mayHavePaid(ended) || text("key_hash") === scope.keyHash);
  const of = { reference, isOwnAccount: isOwn, command: text("command") };
  const reportedAt = maybe("reported_at") ?? undefined;
  const earlier = { ...of, ...ended, acceptedAt, reportedAt };
  const kind = repetitionOf(earlier, scope);
  // `references` finds the payout of another account with the same reference.
  if (kind === undefined || kind === "used-in-other-account") return undefined;
  const times = {
    "paid-recently": acceptedAt,
    reported: reportedAt,
    "outcome-unknown": text("sent_at"),
  };
  const at = times[kind] ?? "";
  return { kind, at, reference, isOwnAccount };
}

export function knownOf(row: Row): KnownPayout {
  const { text, maybe } = reader(row);
  return {
    id: text("id"),
    reference: text("reference"),
    recipient: scalarText(jsonOf(row.asked, isObject).recipientNumber),
    amountPaisa: numberIn(row.amount_paisa),
    methodId: text("method_id"),
    isOwnAccount: isTrue(row.is_own),
    state: requiredState(row),
    status: maybe("status"),
    code: maybe("code"),
    acceptedAt: maybe("accepted_at"),
    sentAt: text("sent_at"),
    updatedAt: text("updated_at"),
  };
}

export function plannedOf(row: Row): PlannedReference {
  const { text } = reader(row);
  return {
    batch: text("batch"),
    reference: text("reference"),
    recipient: text("recipient"),
    amountPaisa: numberIn(row.amount_paisa),
    methodId: text("method_id"),
  };
}
