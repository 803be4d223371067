import { phaseOf, states } from "../domain/state.ts";
import { type Changing, decideOutcome } from "./decide.ts";
import { listedOf, storable } from "./intent.ts";
import type { Outcome } from "./operation.ts";
import { changing, type TextRow, withColumns } from "./rows.ts";

/** An event of one operation, as it is stored. */
interface ReplayedEvent {
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

/** An operation as its events record it. */
export interface Replayed {
  /** Its columns, without those that the events do not contain. */
  columns: TextRow;
  /** True if a column may differ all the same. */
  mayDiffer(name: string, stored: TextRow): boolean;
}

/** Replays the events of an operation that was read with them: the JSON text `history`. */
export function replayOf({ history }: TextRow): Replayed | undefined {
  return replay(JSON.parse(history ?? "[]"));
}

/**
 * Replays the events of an operation: what was requested is as in the intent, and the rest is as the last
 * event left it. Undefined without a readable intent.
 */
function replay(events: ReplayedEvent[]): Replayed | undefined {
  const [intent, ...later] = events;
  const data = intent?.event === "intent" ? fieldsIn(intent.data) : undefined;
  if (!intent || !data) return undefined;
  const isOld = data.keyHash === undefined;
  const columns = intended(data, isOld);
  columns.created_at = text(data.createdAt) ?? intent.at;
  columns.updated_at = intent.at;
  columns.reopened_at = columns.resumed_at = null;
  let now: Changing = nothingYet;
  for (const { at, event, data: json } of later) {
    // Evidence of a process that had lost the operation.
    if (event === "late") continue;
    const recorded = fieldsIn(json) ?? {};
    columns.updated_at = at;
    if (event === "resumed" || event === "reopened") columns.resumed_at = at;
    if (event === "reopened") {
      columns.reopened_at = at;
      // Earlier versions did not record the key.
      if (recorded.keyHash !== undefined) columns.key_hash = text(recorded.keyHash);
      now = { ...now, state: "INTENT" };
    }
    if (event === "attempt" || event === "look")
      now = decideOutcome(now, outcomeIn(recorded, event), at);
  }
  columns.phase = phaseOf(now);
  for (const [field, column] of changing) columns[column] = text(now[field]);
  const mayBeOld = isOld ? differencesOfOld(events) : () => false;
  return {
    columns,
    // Earlier versions stored NUL.
    mayDiffer: (name, stored) => text(stored[name]) === columns[name] || mayBeOld(name, stored),
  };
}

const nothingYet: Changing = {
  state: "INTENT",
  remoteId: null,
  status: null,
  code: null,
  message: null,
  attempts: 0,
  acceptedAt: null,
  completedAt: null,
  paymentUrl: null,
};

const requested = withColumns(
  "id",
  "kind",
  "reference",
  "amountPaisa",
  "target",
  "user",
  "command",
);
/** What an event of an earlier version does not have. */
const sentBy = withColumns(
  ...(["account", "environment", "profile", "baseUrl", "keyHash", "methodName", "batch"] as const),
  "actor",
);

/** The columns that never change. */
function intended(data: Fields, isOld: boolean): TextRow {
  const asked = isFields(data.asked) ? data.asked : {};
  const kind = data.kind === "payout" || data.kind === "refund" ? data.kind : "payment";
  const { recipient, recipientName, methodId, description } = listedOf({ kind, asked });
  const columns: TextRow = {
    asked: JSON.stringify(data.asked),
    recipient_key: recipient,
    recipient_name: recipientName,
    method_id: methodId,
    description,
    fingerprint: isOld ? text(data.fingerprint) : "",
  };
  for (const [field, column] of requested) columns[column] = text(data[field]);
  if (!isOld) for (const [field, column] of sentBy) columns[column] = text(data[field]);
  return columns;
}

const textsOfOutcome = [
  ...(["remoteId", "status", "code", "message", "paymentUrl"] as const),
  ...(["recordCreatedAt", "recordUpdatedAt"] as const),
];

function outcomeIn(told: Fields, event: "attempt" | "look"): Outcome {
  const outcome: Outcome = {
    state: states.find((one) => one === told.state) ?? "UNCERTAIN",
  };
  if (event === "attempt") outcome.sent = true;
  for (const name of textsOfOutcome) {
    const one = text(told[name]);
    if (one !== null) outcome[name] = one;
  }
  return outcome;
}

/**
 * Operations from before accounts were in the chain were resumed without an event, and their messages
 * were stored by other rules: what is possible is less exact.
 */
function differencesOfOld(events: ReplayedEvent[]): Replayed["mayDiffer"] {
  const told = events.map(({ data }) => fieldsIn(data) ?? {});
  const times: (string | null)[] = events.map(({ at }) => at);
  return (name, { [name]: value = null, created_at, updated_at, resumed_at }) => {
    if (name === "code" || name === "message")
      return value === null || told.some((fields) => text(fields[name]) === value);
    if (name === "updated_at") return times.includes(value) || value === resumed_at;
    if (name === "accepted_at" || name === "completed_at")
      return value === null || times.includes(value) || value === updated_at;
    if (name === "resumed_at")
      return value === null || (value >= (created_at ?? "") && value <= (updated_at ?? ""));
    return name === "payment_url";
  };
}

type Fields = Record<string, unknown>;

function fieldsIn(json: string): Fields | undefined {
  try {
    const found: unknown = JSON.parse(json);
    return isFields(found) ? found : undefined;
  } catch {
    return undefined; // The chain reports an event that was changed.
  }
}

function isFields(found: unknown): found is Fields {
  return typeof found === "object" && found !== null;
}

function text(value: unknown): string | null {
  return value === null || value === undefined ? null : storable(String(value));
}
