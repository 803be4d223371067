/** An event of one operation, as it is stored. */
export interface ReplayedEvent {
  at: string;
  event: string;
  /** As it was parsed; null where it was no JSON. */
  data: unknown;
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
  const [intent, ...later] = events.map((one) => ({ ...one, data: fieldsOf(one.data) }));
  if (intent?.event !== "intent" || !intent.data) return undefined;
  const { at, data } = intent;
  const columns: Columns = {
    id: text(data.id),
    kind: text(data.kind),
    reference: text(data.reference),
    fingerprint: text(data.fingerprint),
    amount_paisa: text(data.amountPaisa),
    target: text(data.target),
    asked: JSON.stringify(data.asked),
    user: text(data.user),
    command: text(data.command),
    created_at: at,
    state: "INTENT",
    remote_id: null,
    status: null,
    code: null,
    message: null,
    updated_at: at,
    reopened_at: null,
    resumed_at: null,
  };
  let attempts = 0;
  for (const { at, event, data } of later) {
    columns.updated_at = at;
    if (event === "resumed" || event === "reopened") columns.resumed_at = at;
    if (event === "reopened") Object.assign(columns, { state: "INTENT", reopened_at: at });
    if (event === "attempt") attempts += 1;
    if (event === "attempt" || event === "look") Object.assign(columns, after(columns, data ?? {}));
  }
  const isOld = data.account === undefined;
  const { account, profile, environment } = data;
  const whose = isOld
    ? {}
    : { account: text(account), profile: text(profile), environment: text(environment) };
  return {
    columns: { ...columns, ...whose, attempts: String(attempts) },
    mayDiffer: isOld ? differencesOfOld(events) : () => false,
  };
}

/** What an attempt or a look leaves: what it does not tell stays, except for the reason. */
function after(
  { state = null, remote_id = null, status = null, message = null }: Columns,
  { state: newState, remoteId, status: newStatus, code, message: newMessage }: Fields,
): Columns {
  const isSame = text(newState) === state;
  return {
    state: text(newState),
    remote_id: text(remoteId) ?? remote_id,
    status: text(newStatus) ?? status,
    code: text(code),
    message: text(newMessage) ?? (isSame ? message : null),
  };
}

/**
 * Operations from before accounts were in the chain were resumed without an event, and their messages
 * were stored by other rules: what is possible is less exact.
 */
function differencesOfOld(events: ReplayedEvent[]): Replayed["mayDiffer"] {
  const told = events.map(({ data }) => fieldsOf(data) ?? {});
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

function fieldsOf(found: unknown): Fields | undefined {
  return typeof found === "object" && found !== null ? { ...found } : undefined;
}

/** As SQLite stores it: half of a character is no text there. */
function text(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value).toWellFormed();
}
