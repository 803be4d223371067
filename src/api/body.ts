import { jsonIn } from "../domain/json.ts";

const decoder = new TextDecoder("utf-8");

/** The text of an answer's body. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** What that text says; undefined where it is no JSON, or JSON that nobody can work with. */
export function saidIn(text: string): unknown {
  return isTooDeep(text) ? undefined : jsonIn(text)?.value;
}

const deepestAnswer = 100;
const [quote, backslash] = ['"'.charCodeAt(0), "\\".charCodeAt(0)];
const [opening, closing] = [codesOf("[{"), codesOf("]}")];

/**
 * What nests without end cannot be printed, compared or searched: no honest answer does. One pass: a
 * pattern that looks for the end of each string takes quadratic time on quotes that are never closed.
 */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString && code === backslash) at += 1;
    else if (!isInString && opening.includes(code)) depth += 1;
    else if (!isInString && closing.includes(code)) depth -= 1;
    if (depth > deepestAnswer) return true;
  }
  return false;
}

function codesOf(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0));
}
