import { phaseOf, states } from "../domain/state.ts";
import { type Changed, type Changing, decideOutcome } from "./decide.ts";
import { listedOf } from "./intent.ts";
import type { Outcome } from "./operation.ts";
import { changing, kinds, withColumns } from "./rows.ts";
import { storable, type TextRow } from "./values.ts";

/** An event of one operation, as it is stored. */
interface ReplayedEvent {
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

/** Replays the events of an operation that was read with them: the JSON text `history`. */
export function replayOf({ history }: TextRow): TextRow | undefined {
  return replay(JSON.parse(history ?? "[]"));
}

/**
 * The columns of an operation by its events: what was requested is as in the intent, and the rest is as the last
 * event left it. Undefined without a readable intent.
 */
function replay(events: ReplayedEvent[]): TextRow | undefined {
  const [intent, ...later] = events;
  const data = intent?.event === "intent" ? fieldsIn(intent.data) : undefined;
  if (!intent || !data) return undefined;
  const columns = intended(data);
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
      columns.key_hash = text(recorded.keyHash);
      now = { ...now, state: "INTENT" };
    }
    if (event === "attempt" || event === "look" || event === "final-status-changed")
      now = decideOutcome(now, outcomeIn(recorded, event), at);
  }
  columns.phase = phaseOf(now);
  for (const [field, column] of changing) columns[column] = text(now[field]);
  return columns;
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

const stored = withColumns(
  ...(["id", "kind", "reference", "amountPaisa", "target", "user", "command"] as const),
  ...(["account", "environment", "profile", "baseUrl", "keyHash", "methodName", "batch"] as const),
  "actor",
);

/** The columns that never change. */
function intended(data: Fields): TextRow {
  const asked = isFields(data.asked) ? data.asked : {};
  const kind = kinds.find((one) => one === data.kind) ?? "cancel";
  const { recipient, recipientName, methodId, description, payer } = listedOf({ kind, asked });
  const columns: TextRow = {
    asked: JSON.stringify(data.asked),
    recipient_key: recipient,
    recipient_name: recipientName,
    method_id: methodId,
    description,
    payer_key: payer,
  };
  for (const [field, column] of stored) columns[column] = text(data[field]);
  return columns;
}

const textsOfOutcome = [
  ...(["remoteId", "status", "code", "message", "paymentUrl"] as const),
  ...(["recordCreatedAt", "recordUpdatedAt"] as const),
];

function outcomeIn(told: Fields, event: Changed["event"]): Outcome {
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
