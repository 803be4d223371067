import { phaseOf, states } from "../domain/state.ts";
import { columns, columnsFrom, outcomeColumns, rowOf } from "./columns.ts";
import { type Changed, type Changing, decideOutcome } from "./decide.ts";
import type { Outcome } from "./operation.ts";
import { storable, type TextRow, textRow } from "./values.ts";

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
  const row = intended(data);
  row.created_at = text(data.createdAt) ?? intent.at;
  row.updated_at = intent.at;
  row.reopened_at = row.resumed_at = null;
  let now: Changing = nothingYet;
  for (const { at, event, data: json } of later) {
    // Evidence of a process that had lost the operation.
    if (event === "late") continue;
    const recorded = fieldsIn(json) ?? {};
    row.updated_at = at;
    if (event === "resumed" || event === "reopened") row.resumed_at = at;
    if (event === "reopened") {
      row.reopened_at = at;
      row.key_hash = text(recorded.keyHash);
      now = { ...now, state: "INTENT" };
    }
    if (event === "attempt" || event === "look" || event === "final-status-changed")
      now = decideOutcome(now, outcomeIn(recorded, event), at);
  }
  return Object.assign(row, textRow(rowOf(outcomeColumns, { ...now, phase: phaseOf(now) })));
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

/** The columns that never change. */
function intended(data: Fields): TextRow {
  const asked = isFields(data.asked) ? data.asked : {};
  const kind = columns.kind.parse(data.kind) ?? "cancel";
  const row: TextRow = { asked: JSON.stringify(data.asked) };
  for (const { name, of } of requestColumns) row[name] = text(of?.({ kind, asked }));
  for (const { field, name } of intentColumns) if (field !== "asked") row[name] = text(data[field]);
  return row;
}

const requestColumns = columnsFrom("request");
const intentColumns = columnsFrom("intent");

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
