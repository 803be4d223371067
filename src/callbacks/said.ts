import { jsonIn } from "../json.ts";
import type { CallbackContent } from "../ledger/callback.ts";
import { meaningOf } from "./meaning.ts";
import { isForm, isQuery, shapeOf } from "./shape.ts";

/** One value that a callback holds, wherever it stood. */
export interface Said {
  /** The names of the objects and lists around it, from the outside in. */
  within: string[];
  /** Its own name, in lower case and without what is no letter or digit; none in a plain text. */
  name: string;
  value: string;
  /** A text, and no number or truth value: only texts are words. */
  isText: boolean;
}

/** All that a callback says. */
export interface Saying {
  said: Said[];
  /** Where it cannot be read in one way only, or has no end. */
  trouble: "twice" | "too much" | undefined;
  /** Why others may read something else in it, the beginning of a sentence. */
  unclear: string | undefined;
}

const mostSaid = 500;
const deepest = 12;

/**
 * Takes a callback apart, whatever its shape: the specification shows none (§6). JSON, a form, and either inside
 * the other are understood; of anything else the words are taken, and it is `unclear`.
 */
export function whatIsSaid(received: CallbackContent): Saying {
  const { kind, text, unclear } = shapeOf(received);
  const saying: Saying = { said: [], trouble: undefined, unclear };
  const query = queryOf(received.target);
  for (const segment of received.target.replace(/\?.*$/s, "").split("/"))
    word({ within: ["path"], name: "" }, unescaped(segment), saying);
  if (query !== "" && !isQuery(query)) saying.unclear ??= "Its query is not well-formed";
  form(["query"], query, saying);
  if (kind === "json") json({ within: ["body"], name: "" }, text, saying);
  if (kind === "form") form(["body"], text, saying);
  if (kind === "words") words(text, saying);
  return saying;
}

/** All behind the first question mark, as it is passed on: also what a browser would keep for itself. */
export function queryOf(target: string): string {
  return /\?(.*)$/s.exec(target)?.[1] ?? "";
}

/** Where somebody is. */
interface Place {
  within: string[];
  name: string;
}

function json(place: Place, text: string, saying: Saying): void {
  const found = jsonIn(text);
  if (!found) return;
  if (keysWritten(text) !== keysOf(found.value, 0)) saying.trouble ??= "twice";
  walk(place, found.value, saying);
}

/**
 * A name that stands twice is kept twice: who reads the first is told the same as who reads the last.
 * `data[status]`, `data.status` and `status[0]` are what many make of trees and lists.
 */
function form(within: string[], text: string, saying: Saying): void {
  for (const [written, value] of new URLSearchParams(text)) {
    const names = written.split(/[.[\]]+/).filter(Boolean);
    while (names.length > 1 && /^\d+$/.test(names.at(-1) ?? "")) names.pop();
    const name = names.pop() ?? "";
    walk({ within: [...within, ...names], name }, value, saying);
  }
}

/** Of prose, and of what is no shape at all: whoever reads "Completed" in it may believe it. */
function words(text: string, saying: Saying): void {
  for (const one of text.split(/[^\w-]+/)) {
    const name = meaningOf(one) === "Completed" ? "status" : "";
    word({ within: ["body"], name }, one, saying);
  }
}

function word(place: Place, value: string, saying: Saying): void {
  if (value !== "") walk(place, value, saying);
}

function walk({ within, name }: Place, value: unknown, saying: Saying): void {
  if (within.length > deepest || saying.said.length >= mostSaid) {
    saying.trouble = "too much";
  } else if (typeof value === "object" && value !== null) {
    named({ within, name }, value, saying);
    for (const [key, one] of Object.entries(value)) {
      const inside = name === "" ? within : [...within, name];
      const place = { within: inside, name: key };
      walk(Array.isArray(value) ? ofItem({ within, name }, place, one) : place, one, saying);
    }
  } else if (value !== null) {
    const isText = typeof value === "string";
    const plain = plainName(name);
    if (isStrange(name)) saying.unclear ??= "One of its names can be read in two ways";
    saying.said.push({ within, name: plain, value: String(value).trim(), isText });
    if (isText) inner([...within, name], value.trim(), saying);
  }
}

/** `{"name":"status","value":"Completed"}` says what it would say as `{"status":"Completed"}`. */
function named({ within, name }: Place, pair: object, saying: Saying): void {
  const fields = new Map(Object.entries(pair).map(([key, one]) => [plainName(key), one]));
  const called: unknown = fields.get("name") ?? fields.get("key") ?? fields.get("field");
  const value: unknown = fields.get("value");
  if (typeof called !== "string" || value === undefined) return;
  walk({ within: name === "" ? within : [...within, name], name: called }, value, saying);
}

/** A plain item is called what its list is called. */
function ofItem(list: Place, { within, name: index }: Place, item: unknown): Place {
  if (typeof item !== "object") return list;
  return { within: [...within, index], name: Array.isArray(item) ? list.name : "" };
}

/** A text that is JSON or a form itself. */
function inner(within: string[], text: string, saying: Saying): void {
  if (/^[[{"]/.test(text)) json({ within, name: "" }, text, saying);
  else if (/^[\w.[\]-]+=/.test(text) && isForm(text)) form(within, text, saying);
}

/** Letters of two scripts, or what some readers stop at: others may take it for another name. */
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
 * How many names JSON has as it is written. Parsing keeps the last of two equal ones; another parser
 * may keep the first, and would then act on something that nobody verified.
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
