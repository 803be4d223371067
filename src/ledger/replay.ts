import { phaseOf, states } from "../domain/state.ts";
import { type Changing, decideOutcome } from "./decide.ts";
import type { Outcome } from "./operation.ts";
import { listedOf } from "./sqlite/operation-rows.ts";

/** An event of one operation, as it is stored. */
export interface ReplayedEvent {
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

/** The columns of a row by name, as text. */
export type Columns = Record<string, string | null>;

/** The columns of an operation by its events, without those that the events do not contain. */
export interface Replayed {
  columns: Columns;
  /** True if a column may differ all the same. */
  mayDiffer(name: string, stored: Columns): boolean;
}

/**
 * Replays the events of an operation: what was requested is as in the intent, and the rest is as the last
 * event left it. Undefined without a readable intent.
 */
export function replay(events: ReplayedEvent[]): Replayed | undefined {
  const [intent, ...later] = events;
  const data = intent?.event === "intent" ? fieldsIn(intent.data) : undefined;
  if (!intent || !data) return undefined;
  let now: Changing = nothingYet;
  let updatedAt = intent.at;
  let reopenedAt: string | null = null;
  let resumedAt: string | null = null;
  let keyHash: string | null = null;
  for (const { at, event, data: told } of later) {
    updatedAt = at;
    if (event === "resumed" || event === "reopened") resumedAt = at;
    if (event === "reopened") {
      reopenedAt = at;
      keyHash = text(fieldsIn(told)?.keyHash) ?? keyHash;
      now = { ...now, state: "INTENT" };
    }
    if (event === "attempt" || event === "look")
      now = decideOutcome(now, outcomeIn(fieldsIn(told) ?? {}, event), at);
  }
  const isOld = data.keyHash === undefined;
  const columns = intended(data, isOld);
  columns.created_at = intent.at;
  columns.updated_at = updatedAt;
  columns.reopened_at = reopenedAt;
  columns.resumed_at = resumedAt;
  if (keyHash !== null) columns.key_hash = keyHash;
  setChanging(columns, now);
  return { columns, mayDiffer: isOld ? differencesOfOld(events) : () => false };
}

const nothingYet: Changing = {
  ...{ state: "INTENT", remoteId: null, status: null, code: null, message: null, attempts: 0 },
  ...{ acceptedAt: null, completedAt: null, paymentUrl: null },
};

/**
 * The columns that never change. Without `...`, which took half of the time for a million operations.
 *
 * @param isOld true for an event of an earlier version, which does not name the account and the key
 */
function intended(data: Fields, isOld: boolean): Columns {
  const { recipient, recipientName, methodId, description } = listedIn(data);
  const columns: Columns = {
    id: text(data.id),
    kind: text(data.kind),
    reference: text(data.reference),
    amount_paisa: text(data.amountPaisa),
    target: text(data.target),
    asked: JSON.stringify(data.asked),
    user: text(data.user),
    command: text(data.command),
    recipient_key: recipient,
    recipient_name: recipientName,
    method_id: methodId,
    description,
    fingerprint: isOld ? text(data.fingerprint) : "",
  };
  if (isOld) return columns;
  columns.account = text(data.account);
  columns.environment = text(data.environment);
  columns.profile = text(data.profile);
  columns.base_url = text(data.baseUrl);
  columns.key_hash = text(data.keyHash);
  columns.method_name = text(data.methodName);
  columns.batch = text(data.batch);
  columns.actor = text(data.actor);
  return columns;
}

function listedIn({ kind, asked }: Fields) {
  const body = isFields(asked) ? asked : {};
  return listedOf({ kind: kind === "payout" ? "payout" : "payment", asked: body });
}

function setChanging(columns: Columns, now: Changing): void {
  columns.state = now.state;
  columns.phase = phaseOf(now);
  columns.remote_id = now.remoteId;
  columns.status = now.status;
  columns.code = now.code;
  columns.message = now.message;
  columns.attempts = String(now.attempts);
  columns.accepted_at = now.acceptedAt;
  columns.completed_at = now.completedAt;
  columns.payment_url = now.paymentUrl;
}

function outcomeIn(told: Fields, event: "attempt" | "look"): Outcome {
  const outcome: Outcome = {
    state: states.find((one) => one === told.state) ?? "UNCERTAIN",
  };
  if (event === "attempt") outcome.sent = true;
  for (const name of ["remoteId", "status", "code", "message", "paymentUrl"] as const) {
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

/** As SQLite stores it: half of a character is no text there. */
function text(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value).toWellFormed();
}
