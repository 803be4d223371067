import { jsonIn } from "../json.ts";

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

/** What nests without end cannot be printed, compared or searched: no honest answer does. */
function isTooDeep(text: string): boolean {
  const brackets = text.split("{").length + text.split("[").length;
  if (brackets <= deepestAnswer) return false;
  let depth = 0;
  let deepest = 0;
  for (const [found] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (found === "{" || found === "[") depth += 1;
    if (found === "}" || found === "]") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest > deepestAnswer;
}
