/** An event of one operation, as it is stored. */
export interface ReplayedEvent {
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

/** The columns of an operation by name, as text. */
export type Columns = Record<string, string | null>;

/** What the columns of an operation have to be; without those that its events do not tell. */
export interface Replayed {
  columns: Columns;
  /** Whether a column may differ all the same. */
  mayDiffer(name: string, stored: Columns): boolean;
}

/**
 * Replays the events of an operation: what was asked is as in the intent, and the rest is as the last
 * event left it. Undefined without a readable intent.
 */
export function replay(events: ReplayedEvent[]): Replayed | undefined {
  const [intent, ...later] = events;
  const asked = intent?.event === "intent" ? fieldsIn(intent.data) : undefined;
  if (!intent || !asked) return undefined;
  const columns: Columns = {
    id: text(asked.id),
    kind: text(asked.kind),
    reference: text(asked.reference),
    fingerprint: text(asked.fingerprint),
    amount_paisa: text(asked.amountPaisa),
    target: text(asked.target),
    asked: JSON.stringify(asked.asked),
    user: text(asked.user),
    command: text(asked.command),
    created_at: intent.at,
    state: "INTENT",
    remote_id: null,
    status: null,
    code: null,
    message: null,
    attempts: "0",
    updated_at: intent.at,
    reopened_at: null,
    resumed_at: null,
  };
  for (const event of later) apply(event, columns);
  const isOld = asked.account === undefined;
  if (!isOld) {
    columns.account = text(asked.account);
    columns.profile = text(asked.profile);
    columns.environment = text(asked.environment);
  }
  return { columns, mayDiffer: isOld ? differencesOfOld(events) : never };
}

const never = (): boolean => false;

/** Changes the columns as lenden did at that event. A million operations are replayed in one check. */
function apply({ at, event, data }: ReplayedEvent, columns: Columns): void {
  columns.updated_at = at;
  if (event === "resumed" || event === "reopened") columns.resumed_at = at;
  if (event === "reopened") {
    columns.state = "INTENT";
    columns.reopened_at = at;
  }
  if (event !== "attempt" && event !== "look") return;
  if (event === "attempt") columns.attempts = String(Number(columns.attempts) + 1);
  const { state, remoteId, status, code, message } = fieldsIn(data) ?? {};
  // What the outcome does not tell stays, except for the reason of another state.
  const before = columns.state;
  columns.state = text(state);
  columns.remote_id = text(remoteId) ?? columns.remote_id ?? null;
  columns.status = text(status) ?? columns.status ?? null;
  columns.code = text(code);
  columns.message = text(message) ?? (columns.state === before ? (columns.message ?? null) : null);
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
    if (name === "resumed_at")
      return value === null || (value >= (created_at ?? "") && value <= (updated_at ?? ""));
    return false;
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
