import { actors } from "../domain/actor.ts";
import { keysOf } from "../domain/collect.ts";
import { isObject, scalarText } from "../domain/json.ts";
import { payeeOf } from "../domain/mobile.ts";
import { phases, states } from "../domain/state.ts";
import { jsonOf, known, numberIn, type Row, storable, type Value } from "./values.ts";

/*
 * The columns of the table `operations`: one line says all of a column. The type of an operation, its row, the
 * statements that write it, the tables of both databases, the rights of the server's role, the intent's event and
 * the check are made from these lines. A new column is the last line of `internal`, and a step in `version.ts`.
 */

/** What sets the value of a column. A column that neither a takeover nor an outcome sets never changes. */
type Source =
  /** The ledger, when it records the intent. */
  | "ledger"
  /** The event of the intent, which has the value. */
  | "intent"
  /** What was requested: the value is a part of it that SQL has to find. */
  | "request"
  /** Each event that changes something. */
  | "time"
  /** A process that takes over an operation. */
  | "takeover"
  /** The outcome of an attempt, or of a later status check. */
  | "outcome";

/** How a value is stored, in a row and in the JSON of an event. */
interface Type<Of> {
  stored: "text" | "number";
  isOptional: boolean;
  /** The value of a new operation, if its intent does not have it. */
  first?: Of;
  read(value: Value | undefined): Of;
  write(value: Of): Value;
  /** Undefined if the JSON of an event has another value. */
  parse(json: unknown): Of | undefined;
}

const text: Type<string> = {
  stored: "text",
  isOptional: false,
  read: (value) => String(value ?? ""),
  write: (value) => value,
  parse: (json) => (typeof json === "string" ? storable(json) : undefined),
};

/** ISO 8601. */
const time: Type<string> = {
  ...text,
  read: (value) => {
    const iso = text.read(value);
    if (Number.isNaN(Date.parse(iso))) throw new Error("the ledger has a time that is none");
    return iso;
  },
};

const number: Type<bigint> = {
  stored: "number",
  isOptional: false,
  read: numberIn,
  write: (value) => value,
  parse: (json) => (typeof json === "string" && /^-?\d+$/.test(json) ? BigInt(json) : undefined),
};

const count: Type<number> = {
  stored: "number",
  isOptional: false,
  first: 0,
  read: (value) => Number(value ?? 0n),
  write: (value) => BigInt(value),
  parse: (json) => (typeof json === "number" ? json : undefined),
};

const object: Type<Record<string, unknown>> = {
  stored: "text",
  isOptional: false,
  read: (value) => jsonOf(value, isObject),
  write: (value) => JSON.stringify(value),
  parse: (json) => (isObject(json) ? json : undefined),
};

/** One of some words, of which a new operation has the first. */
function oneOf<Word extends string>(words: readonly Word[]): Type<Word> {
  const [first] = words;
  return {
    ...(first === undefined ? {} : { first }),
    stored: "text",
    isOptional: false,
    read: (value) => known(words, String(value)),
    write: (value) => value,
    parse: (json) => words.find((word) => word === json),
  };
}

function optional<Of>(type: Type<Of>): Type<Of | null> {
  return {
    stored: type.stored,
    isOptional: true,
    first: null,
    read: (value) => (value === null || value === undefined ? null : type.read(value)),
    write: (value) => (value === null ? null : type.write(value)),
    // An event of a version that did not have the column lacks it.
    parse: (json) => (json === null || json === undefined ? null : type.parse(json)),
  };
}

interface Column<Of> extends Type<Of> {
  from: readonly Source[];
  /** The value of a column that has a part of what was requested. */
  of?(request: Request): Of;
}

function column<Of, const From extends readonly Source[]>(type: Type<Of>, ...from: From) {
  return { ...type, from };
}

function requested<Of>(type: Type<Of>, of: (request: Request) => Of) {
  return { ...column(type, "request"), of };
}

/** What was requested, as far as its own columns are concerned. */
interface Request {
  kind: Kind;
  asked: Record<string, unknown>;
}

export const kinds = ["payment", "payout", "refund", "cancel", "trigger"] as const;
/** The five kinds of requests that change something at the API. */
export type Kind = (typeof kinds)[number];

/** The columns that are fields of an operation, by the names of the fields. */
const fields = {
  /** Rises with every operation of this ledger. */
  number: column(number, "ledger"),
  /** `OP` and a ULID: what `ledger show` and `ledger resolve` accept. */
  id: column(text, "intent"),
  kind: column(oneOf(kinds), "intent"),
  /** A payout's `merchantRef`; null for everything else. */
  reference: column(optional(text), "intent"),
  /** Null if a raw body has an amount that cannot be read. */
  amountPaisa: column(optional(number), "intent"),
  /**
   * The payment of a refund; the record of a cancel or a trigger; the cancelled payout that a payout
   * replaces (P24).
   */
  target: column(optional(text), "intent"),
  /** The request's body without secrets, timestamp and signature. */
  asked: column(object, "intent"),
  /** The method's name as it was given; the request has its ID. */
  methodName: column(optional(text), "intent"),
  /** The number of the batch that this payout is a row of. */
  batch: column(optional(number), "intent"),
  state: column(oneOf(states), "takeover", "outcome"),
  /** The API's ID, once it is known. */
  remoteId: column(optional(text), "outcome"),
  /** The last status that the API returned, and nothing else. */
  status: column(optional(text), "outcome"),
  /**
   * Why it is in this state, if there is a reason: a kind of failure and its sentence, `existing` if the API
   * had the payout before it was first sent, or `record-differs`.
   */
  code: column(optional(text), "outcome"),
  message: column(optional(text), "outcome"),
  attempts: column(count, "outcome"),
  /** When it was recorded, or when the API created a record that was not sent from here. ISO 8601. */
  createdAt: column(time, "ledger"),
  updatedAt: column(time, "time"),
  /** When the API confirmed it, ISO 8601. */
  acceptedAt: column(optional(time), "outcome"),
  /** `updatedAt` of the record that was first retrieved as Completed, or when that was. ISO 8601. */
  completedAt: column(optional(time), "outcome"),
  /** The page where a customer pays, for a payment. */
  paymentUrl: column(optional(text), "outcome"),
  /** The operating-system user who started it, and the command's name. */
  user: column(text, "intent"),
  command: column(text, "intent"),
  profile: column(text, "intent"),
  environment: column(text, "intent"),
  baseUrl: column(text, "intent"),
  /** The hash of the API key that sent it. */
  keyHash: column(text, "intent", "takeover"),
  /** Who started it: a person, a script or an agent. */
  actor: column(oneOf(actors), "intent"),
};

/** The columns that only statements and the check read. */
const internal = {
  /** The number of the account. */
  account: column(number, "intent"),
  /** The person who started it, as JSON. */
  origin: column(text, "intent"),
  phase: column(oneOf(phases), "takeover", "outcome"),
  /** When it may first have been sent, if it was sent again after it was proved not sent. ISO 8601. */
  reopenedAt: column(optional(time), "takeover"),
  /** When a process last took it over. ISO 8601. */
  resumedAt: column(optional(time), "takeover"),
  /** The recipient of a payout or the account of a refund, as it is compared. */
  recipientKey: requested(optional(text), (request) => {
    if (request.kind === "payout") return recipientOf(request);
    return request.kind === "refund" ? payeeOf(scalarText(request.asked.accountNumber)) : null;
  }),
  recipientName: requested(optional(text), ({ asked }) => textIn(asked.recipientName)),
  methodId: requested(optional(text), ({ asked }) => textIn(asked.paymentMethodId)),
  description: requested(optional(text), ({ asked }) => textIn(asked.description)),
  /** The payer of a payment as it is compared: the last eleven digits; null without digits. */
  payerKey: requested(optional(text), (request) =>
    request.kind === "payment" ? payeeOf(payerOf(request)) || null : null,
  ),
  /** Shows that a holder of the payout secret ordered the payout; null if the ledger never sends it. Never shown. */
  seal: column(optional(text), "intent", "takeover"),
};

/** All columns but for the process that works on the row, in the order of the table. */
export const columns = { ...fields, ...internal };

/** The recipient of a payout as it is compared: the last eleven digits. */
export function recipientOf({ asked }: Pick<Request, "asked">): string {
  return payeeOf(scalarText(asked.recipientNumber));
}

/** The payer of a payment as it was requested. */
export function payerOf({ asked }: Pick<Request, "asked">): string {
  return scalarText(asked.suggestedPayerNumber);
}

function textIn(value: unknown): string | null {
  return typeof value === "string" ? storable(value) : null;
}

type ValuesOf<Columns> = {
  [Field in keyof Columns]: Columns[Field] extends Type<infer Of> ? Of : never;
};
/** The fields of an operation that are columns. */
export type Fields = ValuesOf<typeof fields>;
/** The values of all columns of an operation. */
export type Recorded = ValuesOf<typeof columns>;
/** The names of the values that a source sets. */
export type FieldFrom<One extends Source> = {
  [Field in keyof Recorded]: One extends (typeof columns)[Field]["from"][number] ? Field : never;
}[keyof Recorded];

/** The values of an intent, as its event has them. */
type IntentValues = { [Field in FieldFrom<"intent">]: unknown } & Pick<Recorded, keyof Request>;

interface NamedColumn extends Column<unknown> {
  field: keyof Recorded;
  /** In the table. */
  name: string;
}

function named(field: keyof Recorded): NamedColumn {
  const name = field.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`);
  return { ...columns[field], field, name };
}

const fieldColumns = keysOf(fields).map(named);
export const allColumns = keysOf(columns).map(named);
const noFields = firstOf(fieldColumns);
const firstValues = firstOf(allColumns);

function firstOf(columns: NamedColumn[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ field, first }) => [field, first]));
}

/** The columns that these sources set. */
function columnsFrom(...sources: Source[]): NamedColumn[] {
  return allColumns.filter(({ from }) => from.some((one) => sources.includes(one)));
}

/** The columns that change after the intent. */
export const changingColumns = columnsFrom("time", "takeover", "outcome");
export const intentColumns = columnsFrom("intent");
const requestColumns = columnsFrom("request");
export const outcomeColumns = columnsFrom("outcome");
/** None of them becomes null. */
export const takeoverColumns = columnsFrom("takeover");

/*
 * The compiler cannot follow a loop over columns: the first line of the next two functions says what the loop makes, by
 * the types of the columns. V8 keeps an object fast if the loop fills a copy, and not if it adds the values.
 */

/** The fields of an operation, each by its column. */
export function fieldsBy(read: (column: NamedColumn) => unknown): Fields;
export function fieldsBy(read: (column: NamedColumn) => unknown): Record<string, unknown> {
  const values = { ...noFields };
  for (const column of fieldColumns) values[column.field] = read(column);
  return values;
}

/** The values that a new operation has because of its intent, and the first values of all other columns. */
export function recordedBy(intent: IntentValues): Recorded;
export function recordedBy(intent: Request & Record<string, unknown>): Record<string, unknown> {
  const values = { ...firstValues };
  for (const { field, parse } of intentColumns) values[field] = parse(intent[field]);
  for (const { field, of } of requestColumns) values[field] = of?.(intent);
  return values;
}

/** Values in the order of their columns, as a database stores them; null if there is none. */
export function valuesOf(columns: readonly NamedColumn[], values: Partial<Recorded>): Value[] {
  return columns.map(({ field, write }) => {
    const value = values[field];
    return value === undefined ? null : write(value);
  });
}

/** As `valuesOf`, by the names of the columns. */
export function rowOf(columns: readonly NamedColumn[], values: Partial<Recorded>): Row {
  const row: Row = {};
  const stored = valuesOf(columns, values);
  for (const [place, { name }] of columns.entries()) row[name] = stored[place] ?? null;
  return row;
}

/**
 * The lines of the table's definition.
 *
 * @param types what the database calls a text and a number
 * @param rules of single columns, in place of what follows from the type
 */
export function definitions(
  types: Record<Type<unknown>["stored"], string>,
  rules: Partial<Record<keyof Recorded, string>>,
): string {
  return allColumns
    .map(({ field, name, stored, isOptional }) =>
      [`"${name}"`, types[stored], rules[field] ?? (isOptional ? "" : "NOT NULL")].join(" ").trim(),
    )
    .join(",\n");
}
