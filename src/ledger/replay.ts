import { phaseOf, type State, states } from "../state.ts";
import { type Changing, decideOutcome } from "./decide.ts";
import type { Kind, Outcome } from "./operation.ts";
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

/** What the columns of an operation have to be; without those that its events do not tell. */
export interface Replayed {
  columns: Columns;
  /** Whether a column may differ all the same. */
  mayDiffer(name: string, stored: Columns): boolean;
}

/**
 * Replays the events of an operation: what was requested is as in the intent, and the rest is as the last
 * event left it. Undefined without a readable intent.
 */
export function replay(events: ReplayedEvent[]): Replayed | undefined {
  const [intent, ...later] = events.map((one) => ({ ...one, data: fieldsIn(one.data) }));
  if (intent?.event !== "intent" || !intent.data) return undefined;
  const { at: createdAt, data } = intent;
  let now: Changing = nothingYet;
  let [updatedAt, reopenedAt, resumedAt]: (string | null)[] = [createdAt, null, null];
  for (const { at, event, data: told } of later) {
    updatedAt = at;
    if (event === "resumed" || event === "reopened") resumedAt = at;
    if (event === "reopened") reopenedAt = at;
    if (event === "reopened") now = { ...now, state: "INTENT" };
    const sent = event === "attempt" ? { sent: true } : {};
    if (event === "attempt" || event === "look")
      now = decideOutcome(now, { ...outcomeIn(told ?? {}), ...sent }, at);
  }
  const isOld = data.keyHash === undefined;
  const columns = {
    ...intended(data, isOld),
    created_at: createdAt,
    updated_at: updatedAt ?? null,
    reopened_at: reopenedAt ?? null,
    resumed_at: resumedAt ?? null,
    ...changed(now),
  };
  return { columns, mayDiffer: isOld ? differencesOfOld(events) : () => false };
}

const nothingYet: Changing = {
  ...{ state: "INTENT", remoteId: null, status: null, code: null, message: null, attempts: 0 },
  ...{ acceptedAt: null, completedAt: null, paymentUrl: null },
};

/** The columns that never change. Events of earlier versions do not name the account and the key. */
function intended(data: Fields, isOld: boolean): Columns {
  const asked = isFields(data.asked) ? data.asked : {};
  const kind: Kind = data.kind === "payout" ? "payout" : "payment";
  const { recipient, recipientName, methodId, description } = listedOf({ kind, asked });
  const told = {
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
  };
  if (isOld) return { ...told, fingerprint: text(data.fingerprint) };
  return {
    ...told,
    fingerprint: "",
    account: text(data.account),
    environment: text(data.environment),
    profile: text(data.profile),
    base_url: text(data.baseUrl),
    key_hash: text(data.keyHash),
    method_name: text(data.methodName),
    batch: text(data.batch),
    actor: text(data.actor),
  };
}

function changed(now: Changing): Columns {
  return {
    state: now.state,
    phase: phaseOf(now),
    remote_id: now.remoteId,
    status: now.status,
    code: now.code,
    message: now.message,
    attempts: String(now.attempts),
    accepted_at: now.acceptedAt,
    completed_at: now.completedAt,
    payment_url: now.paymentUrl,
  };
}

function outcomeIn({ state, remoteId, status, code, message, paymentUrl }: Fields): Outcome {
  const known: State = states.find((one) => one === state) ?? "UNCERTAIN";
  return {
    state: known,
    ...textsOf({ remoteId, status, code, message, paymentUrl }),
  };
}

/** Without those that an event does not tell. */
function textsOf(fields: Fields): Record<string, string> {
  const told = Object.entries(fields).flatMap(([name, value]) => {
    const one = text(value);
    return one === null ? [] : [[name, one] as const];
  });
  return Object.fromEntries(told);
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
