import { type Actor, actors } from "../domain/actor.ts";
import { isObject, jsonIn } from "../domain/json.ts";
import { isFree, isUnresolved, isUnsettled, states } from "../domain/state.ts";
import { type FieldFrom, intentColumns, type Recorded, recordedBy } from "./columns.ts";
import { decideOutcome, isSamePayout, mayHavePaid, payoutOf } from "./decide.ts";
import type { FoundOperation, Operation, Outcome, Sendable } from "./operation.ts";

/*
 * The events of an operation: what each contains, how it is read, and what it changes. A store writes what an event
 * changes, and the check makes a row from its events in the same way.
 */

interface EventOf<Name extends string, Data> {
  /** ISO 8601. */
  at: string;
  event: Name;
  data: Data;
  /** Who wrote it: the login at the server, or on a file the user of the operating system. */
  login?: string;
  /** Its place in the chain, for an operation that was found; none while the current transaction adds it. */
  number?: number;
}

/** A value in JSON, which has no bigint. */
type Json<Value> = Value extends bigint ? string : Value;

/** The values that an intent sets. */
export type IntentData = { [Field in FieldFrom<"intent">]: Json<Recorded[Field]> } & {
  /** If it is not the time of the event. */
  createdAt?: string | undefined;
};

/** An outcome, with the person who reported it, as JSON. */
interface OutcomeData extends Omit<Outcome, "isReported"> {
  origin?: string;
}

/** A process that takes over an operation, as JSON: itself, and the person who started it; and who acts. */
interface Taker {
  holder: string;
  origin: string;
  actor: Actor;
  /** The request and its seal, if that person orders it again. */
  asked?: Record<string, unknown>;
  seal?: string | null;
}

interface ResumedData extends Taker {
  /** True if no process worked on the operation: a run before this one has recorded what it sent. */
  wasReleased: boolean;
}

/** The operation is an INTENT of the key that sends it again. */
interface ReopenedData extends Taker {
  state: "INTENT";
  keyHash: string;
}

export type IntentEvent = EventOf<"intent", IntentData>;
export type TakeoverEvent = EventOf<"resumed", ResumedData> | EventOf<"reopened", ReopenedData>;
export type OperationEvent =
  | IntentEvent
  | TakeoverEvent
  | EventOf<"attempt", OutcomeData>
  | EventOf<"look", OutcomeData>
  | EventOf<"final-status-changed", OutcomeData>
  /** Evidence of a process that had lost the operation: it changes nothing. */
  | EventOf<"late", OutcomeData>;

/** An event that this version of lenden does not know, or whose content was changed. */
interface UnreadableEvent extends EventOf<"unreadable", unknown> {
  name: string;
}

export type HistoryEvent = OperationEvent | UnreadableEvent;

/** Reads an event as it is stored. */
export function readEvent(at: string, event: string, json: string): HistoryEvent {
  const parsed = jsonIn(json);
  const data = parsed?.value;
  // SQL and JSON read other texts in different ways, for example one with a name twice.
  const isExact = parsed !== undefined && JSON.stringify(data) === json;
  if (!isExact || !isTime(at)) return { at, event: "unreadable", name: event, data: json };
  if (event === "intent" && isIntent(data)) return { at, event, data };
  if (event === "resumed" && isResumed(data)) return { at, event, data };
  if (event === "reopened" && isReopened(data)) return { at, event, data };
  if (event === "late" && isOutcome(data)) return { at, event, data };
  const isOfOutcome = event === "attempt" || event === "look" || event === "final-status-changed";
  if (isOfOutcome && isOutcome(data)) return { at, event, data };
  return { at, event: "unreadable", name: event, data: parsed ? data : json };
}

interface StoredEvent extends Record<"at" | "event" | "data" | "login", string> {
  number: number;
}

/** The events of an operation that were read with it, as one JSON text. */
export function readHistory(json: string): HistoryEvent[] {
  const stored: StoredEvent[] = JSON.parse(json);
  return stored.map(({ at, event, data, ...of }) => ({ ...readEvent(at, event, data), ...of }));
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
/** As lenden writes it: everything else could not be compared or shown. */
const isTime: Check = (value) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)) &&
  !Number.isNaN(Date.parse(String(value)));
const isTruth: Check = (value) => typeof value === "boolean";
const maybe =
  (fits: Check): Check =>
  (value) =>
    value === undefined || fits(value);

/** A check of the data of an event, which names all of its fields. */
function shape<Data>(checks: { [Field in keyof Required<Data>]: Check }) {
  const fields = Object.entries<Check>(checks);
  return (data: unknown): data is Data =>
    isObject(data) && fields.every(([field, fits]) => fits(data[field]));
}

function isIntent(data: unknown): data is IntentData {
  return (
    isObject(data) &&
    maybe(isTime)(data.createdAt) &&
    intentColumns.every(({ field, parse }) => parse(data[field]) !== undefined)
  );
}

const taker = {
  ...{ holder: isText, origin: isText, asked: maybe(isObject) },
  actor: (actor: unknown) => actors.some((one) => one === actor),
  seal: (seal: unknown) => seal === null || maybe(isText)(seal),
};
const isResumed = shape<ResumedData>({ ...taker, wasReleased: isTruth });
const isReopened = shape<ReopenedData>({
  ...taker,
  state: (state) => state === "INTENT",
  keyHash: isText,
});
const isOutcome = shape<OutcomeData>({
  state: (state) => states.some((one) => one === state),
  remoteId: maybe(isText),
  status: maybe(isText),
  recordUpdatedAt: maybe(isTime),
  recordCreatedAt: maybe(isTime),
  matched: maybe(
    shape<NonNullable<Outcome["matched"]>>({
      line: isText,
      statement: maybe(isText),
      reason: isText,
      by: isText,
    }),
  ),
  sent: maybe(isTruth),
  code: maybe(isText),
  message: maybe(isText),
  answer: maybe(isText),
  otherId: maybe(isText),
  paymentUrl: maybe(isText),
  origin: maybe(isText),
});

/** The columns of a new operation. */
export function recordedAt(number: bigint, { at, data }: IntentEvent): Recorded {
  const recorded = recordedBy(data);
  recorded.number = number;
  recorded.createdAt = data.createdAt ?? at;
  recorded.updatedAt = at;
  return recorded;
}

/** What a process changes that takes over an operation. */
export function takenOver(event: TakeoverEvent): Partial<Pick<Recorded, FieldFrom<"takeover">>> {
  const { at } = event;
  const { seal } = event.data;
  const resumed = { resumedAt: at, ...(seal == null ? {} : { seal }) };
  if (event.event === "resumed") return resumed;
  const { state, keyHash } = event.data;
  return { ...resumed, reopenedAt: at, state, phase: "unresolved", keyHash };
}

/**
 * The columns of an operation by its events; undefined without an intent. Events that change nothing: what a process
 * reported that had lost the operation, and what cannot be read.
 *
 * @param visit is called with each event after the intent, the columns before it, and its place
 */
export function replay(
  number: bigint,
  history: HistoryEvent[],
  visit?: (before: Recorded, one: HistoryEvent, place: number) => void,
): Recorded | undefined {
  const [intent, ...later] = history;
  if (intent?.event !== "intent") return undefined;
  const recorded = recordedAt(number, intent);
  for (const [place, one] of later.entries()) {
    visit?.(recorded, one, place + 1);
    const { at, event } = one;
    if (event === "attempt" || event === "look" || event === "final-status-changed")
      Object.assign(recorded, decideOutcome(recorded, one.data, at), { updatedAt: at });
    if (event === "resumed" || event === "reopened")
      Object.assign(recorded, takenOver(one), { updatedAt: at });
  }
  return recorded;
}

/**
 * When a request of an operation may last have been sent, by its events. Neither a status check nor a run that
 * sent nothing counts. A run that resumes after another one ended without a record counts, because the other
 * one may have sent something until then.
 */
export function lastSentAt(history: HistoryEvent[]): string {
  const last = history.findLast((one) => {
    if (one.event === "attempt") return one.data.sent !== false;
    if (one.event === "resumed") return !one.data.wasReleased;
    // One that cannot be read may be of a request.
    return one.event === "intent" || one.event === "reopened" || one.event === "unreadable";
  });
  if (!last) throw new Error("an operation of the ledger has no intent");
  return last.at;
}

/** Whose events of an operation a run trusts. */
interface Trusted {
  /** The login that recorded it. */
  recorder: string;
  /** The login of this run. */
  own: string;
}

type IsTrusted = (one: HistoryEvent) => boolean;

/**
 * True for events of this run's login, and those that the current transaction adds. Those of the login that recorded the
 * operation count until another login takes it: what is sent from then on is not the order of its recorder.
 */
function trustOf({ recorder, own }: Trusted, history: HistoryEvent[]): IsTrusted {
  const isOther = (login: string | undefined) => login !== undefined && login !== recorder;
  const taken = history.findIndex(
    ({ event, login }) => (event === "resumed" || event === "reopened") && isOther(login),
  );
  const until = new Set(taken < 0 ? history : history.slice(0, taken));
  return (one) =>
    one.login === undefined || one.login === own || (one.login === recorder && until.has(one));
}

/**
 * The trusted events. After an event that is not trusted gave the operation the ID of a record, status checks of
 * whatever login are about that record, until a trusted event gives it another ID.
 */
function trustedEvents(isTrusted: IsTrusted, history: HistoryEvent[]): HistoryEvent[] {
  let isOfOther = false;
  return history.filter((one) => {
    if (givesId(one)) isOfOther = !isTrusted(one);
    // A report that nothing was created is not about that record.
    const isLook = one.event === "look" && one.data.state !== "NOT_SENT";
    const isCheck = isLook || one.event === "final-status-changed";
    return isTrusted(one) && !(isOfOther && isCheck);
  });
}

function givesId(one: HistoryEvent): boolean {
  const { event } = one;
  const changes = event === "attempt" || event === "look" || event === "final-status-changed";
  return changes && one.data.remoteId !== undefined;
}

/**
 * Since when the API may know an operation, and the key that sent it; an empty text if several did. Whoever took it may
 * have sent it, so the times and keys of all takers count. When this run's login, or its recorder, reopens what had
 * certainly paid nothing, they count from there.
 */
export function sendableBy(
  trusted: Trusted,
  { createdAt, keyHash }: Pick<Operation, "createdAt" | "keyHash">,
  history: HistoryEvent[],
): Sendable {
  let start = 0;
  replay(0n, history.filter(trustOf(trusted, history)), (before, one) => {
    if (one.event !== "reopened" || mayHavePaid(before)) return;
    const place = history.indexOf(one);
    const others = recordedByOthers(trusted, { number: 0n }, history.slice(0, place));
    if (!others || !mayHavePaid(others.without)) start = place;
  });
  const takes = history.slice(start).filter(isTake);
  const times = [...(start === 0 ? [createdAt] : []), ...takes.map(({ at }) => at)].sort();
  const keys = new Set(takes.flatMap((one) => (one.event === "resumed" ? [] : [one.data.keyHash])));
  const [only = keyHash] = keys;
  return { openedAt: times[0] ?? createdAt, keyHash: keys.size > 1 ? "" : only };
}

/**
 * The place in the chain of the event by which a login last ordered an operation; undefined if it did not. What was
 * recorded from its record was not ordered here.
 */
export function orderedAt(own: string, history: HistoryEvent[]): number | undefined {
  const [, second] = history;
  const wasFound = second?.event === "look" && second.data.recordCreatedAt !== undefined;
  const order = history.findLast(
    ({ event, login = own }) =>
      login === own && (event === "reopened" || (event === "intent" && !wasFound)),
  );
  return order && (order.number ?? Number.POSITIVE_INFINITY);
}

/** Since which of its events an operation was free, or not. What the current transaction adds is after all plans. */
export function freeStatesOf(
  { number }: Pick<Operation, "number">,
  history: HistoryEvent[],
): FoundOperation["freeStates"] {
  const states: FoundOperation["freeStates"] = [];
  const add = (one: HistoryEvent | undefined, state: Recorded) =>
    states.push({ place: one?.number ?? Number.POSITIVE_INFINITY, isFree: isFree(state) });
  const now = replay(number, history, (before, _, place) => add(history[place - 1], before));
  if (now) add(history.at(-1), now);
  return states;
}

/**
 * When a person last reported that it was created, or not created; undefined if none did. Without a reference, a record
 * that was found later is only like the request, so what it shows counts as a report. ISO 8601.
 */
export function reportedAt(history: HistoryEvent[]): string | undefined {
  const [intent] = history;
  const isProved = intent?.event === "intent" && intent.data.reference !== null;
  return latestOf(
    history.filter(
      ({ event, data }) =>
        event === "look" &&
        (data.origin !== undefined || (data.remoteId !== undefined && !isProved)),
    ),
  );
}

/** The latest time of events, which is not that of the last one if clocks differ. ISO 8601. */
export function latestOf(events: HistoryEvent[]): string | undefined {
  return events
    .filter(({ event }) => event !== "unreadable")
    .map(({ at }) => at)
    .sort()
    .at(-1);
}

/**
 * As `replay`, of events that are trusted. An operation that was taken only because of other events may have been sent
 * before: what is recorded then proves nothing about that, unless it ends as paid, or a person with this run's login
 * reports that it was not created.
 */
function provedBy({ own }: Trusted, number: bigint, events: HistoryEvent[]): Recorded | undefined {
  let sent: Recorded | undefined;
  const end = replay(number, events, (before, one) => {
    const isReport = one.event === "look" && one.data.origin !== undefined;
    const isOwn = one.login === undefined || one.login === own;
    if (isReport && isOwn && one.data.state === "NOT_SENT") sent = undefined;
    const isOfOthers =
      (one.event === "resumed" && !isUnsettled(before)) ||
      (one.event === "reopened" && mayHavePaid(before));
    if (!isOfOthers) return;
    const unknown = { state: "INTENT", phase: "unresolved", code: null } as const;
    sent = { ...before, ...(mayHavePaid(before) ? {} : unknown) };
  });
  if (!end || !sent || mayHavePaid(end)) return end;
  return { ...sent, updatedAt: end.updatedAt };
}

/** True for a status check that shows a payout, which counts even if it may be that of another record. */
function showsPaid(one: HistoryEvent): boolean {
  const isCheck = one.event === "look" || one.event === "final-status-changed";
  return isCheck && mayHavePaid({ status: null, code: null, ...one.data });
}

/** The process that last took over an operation, and its login. */
export function takerIn(history: HistoryEvent[]): FoundOperation["taker"] {
  const take = history.findLast((one) => one.event === "resumed" || one.event === "reopened");
  if (take?.event !== "resumed" && take?.event !== "reopened") return undefined;
  const holder = jsonIn(take.data.holder)?.value;
  return { lock: isObject(holder) ? String(holder.lock) : "", login: take.login };
}

/** True for an event of a process that took the operation to send it. */
export function isTake(one: HistoryEvent): one is IntentEvent | TakeoverEvent {
  return one.event === "intent" || one.event === "resumed" || one.event === "reopened";
}

/** Whoever adds events can make each look at an operation longer. */
const mostTakes = 20;

/** What a login knows that took an operation, at each of the newest times: all until then, and what it and this run's login add. */
function viewsOfTakers({ own }: Trusted, history: HistoryEvent[]): IsTrusted[] {
  const taken = history.filter(isTake);
  const takers = [...new Set(taken.map(({ login }) => login))];
  const newest = takers.flatMap((taker) =>
    taken.filter(({ login }) => login === taker).slice(-mostTakes),
  );
  return newest.map((take): IsTrusted => {
    const before = new Set(history.slice(0, history.indexOf(take) + 1));
    const by = [undefined, own, take.login];
    return (one) => before.has(one) || by.includes(one.login);
  });
}

/**
 * What the events that a run does not trust say of an operation, and what the others say. Of several logins each may have
 * sent it, so what one of them recorded is also omitted alone, and what all others added after one of them took it.
 */
export function recordedByOthers(
  by: Trusted,
  { number }: Pick<Operation, "number">,
  history: HistoryEvent[],
): FoundOperation["others"] {
  const isTrusted = trustOf(by, history);
  if (history.every(isTrusted)) return null;
  const known = [undefined, by.own, by.recorder];
  const others = new Set(history.map(({ login }) => login).filter((one) => !known.includes(one)));
  const parts: IsTrusted[] = [
    isTrusted,
    ...[...others].map(
      (other): IsTrusted =>
        ({ login }) =>
          login !== other,
    ),
    ...viewsOfTakers(by, history),
  ];
  const views = parts.flatMap((isBelieved) => {
    const newest = history.findLast((one) => !isBelieved(one) && one.event !== "late");
    const trusted = new Set(trustedEvents(isBelieved, history));
    const shown = history.filter((one) => trusted.has(one) || (isBelieved(one) && showsPaid(one)));
    return [[...trusted], shown].flatMap((events) => {
      const without = provedBy(by, number, events);
      return newest && without ? [{ newest, without }] : [];
    });
  });
  const paid = views.filter(({ without }) => mayHavePaid(without));
  const view = paid.find(({ without }) => isUnresolved(without)) ?? paid[0] ?? views[0];
  if (!view) return null;
  const { state, status, code } = view.without;
  const newestOf = (times: (string | null)[]) =>
    times
      .filter((one) => one !== null)
      .sort()
      .at(-1);
  const alike = paid.length > 0 ? paid : [view];
  const newest = alike.map((one) => one.newest);
  const places = newest.map(({ number = 0 }) => number);
  const place = Math.max(...places);
  const { login = "", at } = newest[places.indexOf(place)] ?? view.newest;
  // Each view is of another login: together they say when something was sent or accepted last.
  const acceptedAt = newestOf(alike.map(({ without }) => without.acceptedAt)) ?? null;
  const updatedAt = newestOf(alike.map(({ without }) => without.updatedAt)) ?? at;
  const without = { state, status, code, acceptedAt, updatedAt };
  return { login, at, place, without, isUnsettled: views.every((one) => isUnsettled(one.without)) };
}

/**
 * The request of an operation as it was last sent, by its events: it may have been ordered again. An event with another
 * payout is not believed.
 */
export function lastAsked(operation: Operation, history: HistoryEvent[]): Operation["asked"] {
  const ordered = history.flatMap((one) =>
    (one.event === "reopened" || one.event === "resumed") && one.data.asked ? [one.data.asked] : [],
  );
  const asked = ordered.at(-1);
  if (!asked) return operation.asked;
  const isSame =
    asked.amount === operation.asked.amount &&
    asked.merchantRef === operation.asked.merchantRef &&
    isSamePayout(payoutOf({ ...operation, asked }), payoutOf(operation));
  return isSame ? asked : operation.asked;
}
