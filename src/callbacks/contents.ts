import { jsonIn } from "../domain/json.ts";
import type { CallbackContent } from "../ledger/callback.ts";
import { isForm, isQuery, shapeOf } from "./shape.ts";
import { meaningOf } from "./status-words.ts";

/** One value of a callback, wherever it stood. */
export interface NamedValue {
  /** The names of the objects and lists around it, from the outside in. */
  within: string[];
  /** Its own name, in lower case, letters and digits alone; empty in a plain text. */
  name: string;
  value: string;
  /** Whether it is a text, and not a number or a truth value. */
  isText: boolean;
}

/** All that a callback says. */
export interface Contents {
  values: NamedValue[];
  /** `twice`: one object has a name twice. `too much`: it is too deep or too long to be read whole. */
  trouble: "twice" | "too much" | undefined;
  /** Why another reader may understand something else: the beginning of a sentence. */
  unclear: string | undefined;
}

/** What is being taken apart; it ends as `Contents`. */
interface Collected extends Contents {
  /** How many objects, lists and values were looked at: a pair inside a pair is looked at twice. */
  visits: number;
}

const mostValues = 500;
const mostVisits = 10_000;
const deepest = 12;

/**
 * Takes a callback apart. service.md §6 shows no shape: JSON, forms, and one inside the other
 * are understood. Of anything else the words are taken, and it is `unclear`.
 */
export function contentsOf(received: CallbackContent): Contents {
  const { kind, text, unclear } = shapeOf(received);
  const contents: Collected = { values: [], trouble: undefined, unclear, visits: 0 };
  const query = queryOf(received.target);
  for (const segment of received.target.replace(/\?.*$/s, "").split("/"))
    addText({ within: ["path"], name: "" }, unescaped(segment), contents);
  if (query !== "" && !isQuery(query)) contents.unclear ??= "Its query is not well-formed";
  addForm(["query"], query, contents);
  if (kind === "json") addJson({ within: ["body"], name: "" }, text, contents);
  if (kind === "form") addForm(["body"], text, contents);
  if (kind === "words") addWords(text, contents);
  const { visits: _, ...found } = contents;
  return found;
}

/** Everything after the first question mark, as it is passed on; a fragment is part of it. */
export function queryOf(target: string): string {
  return /\?(.*)$/s.exec(target)?.[1] ?? "";
}

/** Where a value stands: the names around it, and its own. */
interface Place {
  within: string[];
  name: string;
}

function addJson(place: Place, text: string, contents: Collected): void {
  const found = jsonIn(text);
  if (!found) return;
  if (keysWritten(text) !== keysOf(found.value, 0)) contents.trouble ??= "twice";
  addValue(place, found.value, contents);
}

/**
 * A name that stands twice gives two values: another reader may take the first or the last.
 * `data[status]`, `data.status` and `status[0]` are the usual ways to write trees and lists.
 */
function addForm(within: string[], text: string, contents: Collected): void {
  for (const [written, value] of new URLSearchParams(text)) {
    const names = written.split(/[.[\]]+/).filter(Boolean);
    while (names.length > 1 && /^\d+$/.test(names.at(-1) ?? "")) names.pop();
    const name = names.pop() ?? "";
    addValue({ within: [...within, ...names], name }, value, contents);
  }
}

/** The words of a text without any shape: somebody who reads "Completed" in it may believe it. */
function addWords(text: string, contents: Collected): void {
  for (const one of text.split(/[^\w-]+/)) {
    const name = meaningOf(one) === "Completed" ? "status" : "";
    addText({ within: ["body"], name }, one, contents);
  }
}

function addText(place: Place, value: string, contents: Collected): void {
  if (value !== "") addValue(place, value, contents);
}

function addValue({ within, name }: Place, value: unknown, contents: Collected): void {
  contents.visits += 1;
  const isTooMuch = contents.values.length >= mostValues || contents.visits > mostVisits;
  if (within.length > deepest || isTooMuch) {
    contents.trouble = "too much";
  } else if (typeof value === "object" && value !== null) {
    addPair({ within, name }, value, contents);
    for (const [key, one] of Object.entries(value)) {
      const inside = name === "" ? within : [...within, name];
      const place = { within: inside, name: key };
      addValue(Array.isArray(value) ? ofItem({ within, name }, place, one) : place, one, contents);
    }
  } else if (value !== null) {
    const isText = typeof value === "string";
    const plain = plainName(name);
    if (isStrange(name)) contents.unclear ??= "One of its names can be read in two ways";
    contents.values.push({ within, name: plain, value: String(value).trim(), isText });
    if (isText) addInner([...within, name], value.trim(), contents);
  }
}

/** `{"name":"status","value":"Completed"}` means the same as `{"status":"Completed"}`. */
function addPair({ within, name }: Place, pair: object, contents: Collected): void {
  const fields = new Map(Object.entries(pair).map(([key, one]) => [plainName(key), one]));
  const called: unknown = fields.get("name") ?? fields.get("key") ?? fields.get("field");
  const value: unknown = fields.get("value");
  if (typeof called !== "string" || value === undefined) return;
  addValue({ within: name === "" ? within : [...within, name], name: called }, value, contents);
}

/** An item that is no object has the name of its list. */
function ofItem(list: Place, { within, name: index }: Place, item: unknown): Place {
  if (typeof item !== "object") return list;
  return { within: [...within, index], name: Array.isArray(item) ? list.name : "" };
}

/** What is inside a text that is itself JSON or a form. */
function addInner(within: string[], text: string, contents: Collected): void {
  if (/^[[{"]/.test(text)) addJson({ within, name: "" }, text, contents);
  else if (/^[\w.[\]-]+=/.test(text) && isForm(text)) addForm(within, text, contents);
}

/** Letters of two scripts, or control characters: another reader may take it for another name. */
function isStrange(name: string): boolean {
  const plain = name.normalize("NFKC");
  return /\p{Cc}/u.test(name) || (/[A-Za-z]/.test(plain) && /(?![A-Za-z])\p{L}/u.test(plain));
}

export function plainName(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
}

/**
 * How many names stand in a JSON text. Of two equal names JSON.parse keeps the last; another parser may
 * keep the first, and would act on a value that nobody verified.
 */
function keysWritten(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon).length;
}

function keysOf(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null || depth > deepest) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, one) => sum + keysOf(one, depth + 1), own);
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
