import type { Context } from "../cli/command/context.ts";
import { readSmallText } from "../cli/command/small-text.ts";
import { amountNumber, readAmount } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { isObject, jsonIn, repeatedKey } from "../domain/json.ts";
import { accepted, type Reading, rejected } from "../domain/reading.ts";
import { readTimestamp } from "../domain/timestamp.ts";

/** Reads a path that stays below the base URL. */
export function readPath(text: string): Reading<string> {
  const path = text.startsWith("/") ? text : `/${text}`;
  const climbs = path.split(/[/?]/).some((one) => /^(?:\.|%2e){1,2}$/i.test(one));
  const isPlain = /^[\x21-\x7e]+$/.test(path) && !/\/\/|\\|#/.test(path);
  return isPlain && !climbs
    ? accepted(path)
    : rejected("A path is relative to the base URL, for example /payment/methods.");
}

/** Reads `key=value`. */
export function readField(text: string): Reading<[string, string]> {
  const [, key, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? [];
  return key === undefined || value === undefined
    ? rejected("A field is key=value.")
    : accepted([key, value]);
}

/** What was typed of a raw call. */
interface Given {
  path: string;
  field: [string, string][];
  input: string | undefined;
}

/** The path with the fields as its query. */
export function withQuery({ path, field, input }: Given): string {
  if (input !== undefined) throw usage(["--input: a GET has no body."]);
  const query = new URLSearchParams(field).toString();
  return query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** The body, made of the fields or read from a file. */
export async function bodyOf(
  { field, input }: Given,
  { host }: Context,
): Promise<Record<string, unknown>> {
  if (input === undefined) return Object.fromEntries(once(field).map(typed));
  if (field.length > 0) throw usage(["Give the body with --input or with --field, not with both."]);
  return objectIn(await readSmallText(input, "--input", host));
}

/** A field that is given twice with different values: nobody can know which was meant. */
function once(fields: [string, string][]): [string, string][] {
  const values = new Map<string, string>();
  for (const [key, value] of fields) {
    const before = values.get(key) ?? value;
    if (before !== value) throw usage([`--field ${key} is given twice, with different values.`]);
    values.set(key, value);
  }
  return [...values];
}

/** The service's two kinds of numbers are checked like everywhere else. */
function typed([key, text]: [string, string]): [string, string | number] {
  if (key !== "amount" && key !== "timestamp") return [key, text];
  const reading = key === "amount" ? readAmount(text) : readTimestamp(text);
  if (!reading.ok) throw usage([`--field ${key}: ${reading.problem}`]);
  return [key, typeof reading.value === "bigint" ? amountNumber(reading.value) : reading.value];
}

/** A key that is no plain word may hold anything. */
function namedTwice(key: string): string {
  const name = /^[A-Za-z_]\w{0,40}$/.test(key) ? `the key ${key}` : "a key";
  return `--input: the body names ${name} twice in one object.`;
}

function objectIn(text: string): Record<string, unknown> {
  const value = jsonIn(text)?.value;
  if (isObject(value)) {
    const key = repeatedKey(text);
    if (key !== undefined) throw usage([namedTwice(key)], "Nothing was sent.");
    return value;
  }
  // Without the content: it may hold anything.
  throw usage(["--input: the body is not a JSON object."]);
}
