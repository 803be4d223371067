import { unsafeCharacters } from "../../domain/text.ts";

/** True for most texts; V8 needs a millisecond to compile the Unicode classes. */
const harmless = /^[\x20-\x7e]*$/;

/** A text from outside, safe in a terminal and on one line. */
export function clean(text: string): string {
  if (harmless.test(text)) return text;
  const parts = text.split(/[\r\n\t]+/);
  const last = parts.length - 1;
  // Joined at once: appending part by part copies the line each time.
  const trimmed = parts
    .map((part, index) => (index === 0 ? part : part.trimStart()))
    .map((part, index) => (index === last ? part : part.trimEnd()))
    .filter((part, index) => part !== "" || index === 0 || index === last);
  return trimmed.join(" ").replace(unsafeCharacters, "");
}

/** Several lines, each safe in a terminal. */
export function cleanLines(text: string): string {
  return text.split(/\r?\n/).map(clean).join("\n");
}

/** JSON with escapes for every character that a terminal acts on. */
export function safeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent) ?? "null";
  if (/^[\x20-\x7e\n]*$/.test(json)) return json;
  return json.replace(unsafeCharacters, (character) =>
    character === "\n" ? "\n" : escaped(character),
  );
}

/**
 * As `safeJson`, in pieces. A list may be any iterable, which is read while it is printed: each of its items is one
 * piece.
 */
export function* jsonPieces(value: unknown, indent = 0, depth = 0): Generator<string> {
  const lineAt = (deep: number) => (indent === 0 ? "" : `\n${" ".repeat(indent * deep)}`);
  if (typeof value !== "object" || value === null || "toJSON" in value)
    return yield safeJson(value);
  const isList = isIterable(value);
  const isRead = isList && !Array.isArray(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  let before = open;
  for (const [name, item] of isList ? unnamed(value) : Object.entries(value)) {
    if (item === undefined && !isList) continue;
    const key = isList ? "" : `${safeJson(name)}:${indent === 0 ? "" : " "}`;
    const start = `${before}${lineAt(depth + 1)}${key}`;
    before = ",";
    if (isRead) yield start + safeJson(item, indent).replaceAll("\n", lineAt(depth + 1));
    else {
      yield start;
      yield* jsonPieces(item, indent, depth + 1);
    }
  }
  yield before === open ? open + close : lineAt(depth) + close;
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

function* unnamed(items: Iterable<unknown>): Iterable<["", unknown]> {
  for (const item of items) yield ["", item];
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const code = character.charCodeAt(index).toString(16).padStart(4, "0");
    return `\\u${code}`;
  }).join("");
}

/**
 * Typed words for an error: a few letters and hyphens, as a mistyped word has and a secret has not. A flag may
 * be longer, if each of its words is short.
 */
export function plainWords(...words: string[]): string {
  const text = words.join(" ");
  if (/^--[a-z]{1,12}(?:-[a-z]{1,12}){0,4}$/.test(text)) return ` '${text}'`;
  const isWord = (word: string) => /^(?:--)?[a-z]+(?:-[a-z]+)*$|^-[a-z]$/i.test(word);
  return words.every(isWord) && text.length <= 20 ? ` '${text}'` : "";
}

/** Typed words for an error, or why they are not shown. */
export function wordsOrWhy(...words: string[]): string {
  const they = words.length > 1 ? "they" : "it";
  return plainWords(...words) || `, not shown because ${they} may be a secret`;
}
