import { parseUrl } from "../contract/url.ts";

/** A request as it came: nothing of it is believed. */
export interface Received {
  method: string;
  /** Path and query. */
  target: string;
  /** In lower case, without what could be a secret of somebody's. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** One value that a callback holds, wherever it stood. */
export interface Said {
  /** The names of the objects and lists around it, from the outside in. */
  within: string[];
  /** Its own name, in lower case and without what is no letter or digit; none in a list or a plain text. */
  name: string;
  value: string;
  /** A text, and no number or truth value: only texts are words. */
  isText: boolean;
}

/** All that a callback says; `trouble` where it cannot be read in one way only, or has no end. */
export interface Saying {
  said: Said[];
  trouble: "twice" | "too much" | undefined;
}

const mostSaid = 500;
const deepest = 12;

/**
 * Takes a callback apart, whatever its shape: service.md §6 shows none. JSON, a form, JSON in a form,
 * and plain words are understood; the content type decides nothing, for anybody can write one.
 */
export function whatIsSaid({ target, body }: Pick<Received, "target" | "body">): Saying {
  const collected: Collected = { said: [], trouble: undefined };
  const url = parseUrl(`http://callback${target.startsWith("/") ? "" : "/"}${target}`);
  for (const segment of url?.pathname.split("/") ?? [])
    word(["path"], unescaped(segment), collected);
  form(["query"], url?.search.slice(1) ?? "", collected);
  content(["body"], new TextDecoder().decode(body).trim(), collected);
  return collected;
}

type Collected = Saying;

function content(within: string[], text: string, collected: Collected): void {
  const json = parsed(text);
  if (json) {
    if (keysWritten(text) !== keysOf(json.value, 0)) collected.trouble ??= "twice";
    walk({ within, name: "" }, json.value, collected);
  } else if (/^[^\s=]+=/.test(text)) {
    form(within, text, collected);
  } else {
    for (const one of text.split(/[^\w-]+/)) word(within, one, collected);
  }
}

/** A name that stands twice is kept twice: who reads the first is told the same as who reads the last. */
function form(within: string[], text: string, collected: Collected): void {
  for (const [name, value] of new URLSearchParams(text)) {
    walk({ within, name }, value, collected);
  }
}

function walk(
  { within, name }: { within: string[]; name: string },
  value: unknown,
  collected: Collected,
): void {
  if (within.length > deepest || collected.said.length >= mostSaid) {
    collected.trouble = "too much";
  } else if (typeof value === "object" && value !== null) {
    const inside = name === "" ? within : [...within, name];
    for (const [key, one] of Object.entries(value)) {
      const isItem = Array.isArray(value);
      const around = isItem ? [...inside, key] : inside;
      walk({ within: around, name: isItem ? "" : key }, one, collected);
    }
  } else if (typeof value === "string" && /^\s*[[{]/.test(value)) {
    content([...within, name], value.trim(), collected);
  } else if (value !== null) {
    const isText = typeof value === "string";
    const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
    collected.said.push({ within, name: plain, value: String(value).trim(), isText });
  }
}

function word(within: string[], value: string, collected: Collected): void {
  if (value !== "") walk({ within, name: "" }, value, collected);
}

function parsed(text: string): { value: unknown } | undefined {
  if (!/^["[{]/.test(text)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * How many names JSON has as it is written. Parsing keeps the last of two equal ones; another parser
 * may keep the first, and would then act on something that nobody verified.
 */
function keysWritten(json: string): number {
  return [...json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon).length;
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
