import { actors } from "../../domain/actor.ts";
import { limitNames } from "../../domain/limit.ts";
import { phases, states } from "../../domain/state.ts";
import { kinds } from "../columns.ts";

/*
 * Whoever has the role of a writer can insert rows without lenden. The server rejects what lenden could not read, and
 * what a hint would show as a part of a command.
 */

/** A condition on a column. */
type Form = (column: string) => string;

const matches =
  (pattern: string): Form =>
  (column) =>
    `${column} ~ '${pattern}'`;
const oneOf =
  (words: readonly string[]): Form =>
  (column) =>
    `${column} IN (${words.map((word) => `'${word}'`)})`;
const between =
  (least: number, most: number): Form =>
  (column) =>
    `${column} BETWEEN ${least} AND ${most}`;
const both =
  (one: Form, other: Form): Form =>
  (column) =>
    `${one(column)} AND ${other(column)}`;
const isShort =
  (bytes: number): Form =>
  (column) =>
    `octet_length(${column}) < ${bytes}`;
/** The cast rejects what is no JSON. */
const json =
  (type: "array" | "object"): Form =>
  (column) =>
    `json_typeof(${column}::json) = '${type}'`;

const id = matches("^[A-Za-z0-9-]{1,64}$");
/** As `LENDEN_ACCOUNT`, and the names that a new account gets. */
const accountName = matches("^[A-Za-z0-9][A-Za-z0-9._-]{0,255}$");
/** None that could be taken for the ID of an operation, or for another reference that looks the same. */
const reference: Form = (column) =>
  `${column} !~ '^OP[0-9A-Z]{26}$|^\\s|\\s$|[\\x01-\\x1f\\x7f\\u00ad\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]'`;
/** Far below the largest one, so that there is a next one. */
const number = between(1, 1e15);
const eventName = matches("^[a-z-]{1,40}$");
/** As `toISOString` writes it. */
const time = matches(
  "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$",
);
/** A response of the API and a body of `lenden api` have at most 1 MiB. */
const object = both(isShort(2_000_000), json("object"));
const jsonText = '"(?:[^"\\\\]|\\\\.)*"';
const texts = both(matches(`^\\[(${jsonText}(,${jsonText})*)?\\]$`), json("array"));
const textsByName = both(
  matches(`^\\{(${jsonText}:${jsonText}(,${jsonText}:${jsonText})*)?\\}$`),
  json("object"),
);

/** By table and column. Null is accepted where the column accepts it. */
const forms: Record<string, Record<string, Form>> = {
  processes: { id, origin: object },
  accounts: { name: accountName },
  account_keys: { first_used_at: time },
  operations: {
    ...{ number, id, reference, kind: oneOf(kinds), state: oneOf(states), phase: oneOf(phases) },
    actor: oneOf(actors),
    ...{ asked: object, origin: object, process: id, held_since: time },
    ...{ created_at: time, updated_at: time, accepted_at: time, completed_at: time },
    ...{ reopened_at: time, resumed_at: time },
  },
  events: { number, at: time, event: eventName, data: object },
  batches: {
    ...{
      number,
      id,
      columns: texts,
      row_count: between(1, 1_000_000_000),
      process: id,
      held_since: time,
    },
    ...{ created_at: time, cancelled_at: time },
  },
  limits: { name: oneOf(limitNames), value: matches("^(0|[1-9][0-9]{0,14}|reject|warn)$") },
  batch_rows: { reference, cells: texts },
  callbacks: {
    ...{ received_at: time, due_at: time, headers: textsByName, records: json("array") },
    body: isShort(1_000_000),
  },
  listeners: { process: id, held_since: time },
};

/** Adds them to the tables. */
export const checks = Object.entries(forms)
  .map(([table, columns]) => {
    const added = Object.entries(columns).map(([name, form]) => `ADD CHECK (${form(name)})`);
    return `ALTER TABLE lenden.${table} ${added.join(",\n  ")};`;
  })
  .join("\n");
