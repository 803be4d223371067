import type { Ask } from "../prompts/ask.ts";
import type { Choice } from "../prompts/choice.ts";
import { type Candidate, candidatesOf, fitting } from "./candidates.ts";
import type { Context } from "./context.ts";
import type { Argument, Flag, Read } from "./flag.ts";

interface Wanted {
  of: Flag | Argument;
  /** How to ask, where the flag's own sentence is not the best question. */
  message: string | undefined;
  /** What Enter answers. */
  preset: string | undefined;
  isOptional: boolean;
}

/** Asks for one value, as it would be typed: from a list where there is one. */
export async function answerText(
  { of, message, preset, isOptional }: Wanted,
  ask: Ask,
  context: Context,
): Promise<string> {
  const { about, names, read } = of;
  if (read.words) {
    const words = read.words.map((word) => ({ name: word, value: word }));
    return ask.choice(`${message ?? about}:`, words);
  }
  const candidates = names && names !== "file" ? await candidatesOf(names, context) : [];
  if (candidates.length > 0) {
    const question = message ?? `Which ${names}?`;
    return names === "method"
      ? ask.choice(question, candidates.map(choice))
      : ask.search(question, searched(candidates, read));
  }
  const isLeftOut = isOptional && preset === undefined;
  return ask.text(`${message ?? about}${isLeftOut ? " (Enter leaves it out)" : ""}:`, {
    ...(preset === undefined ? {} : { preset }),
    check: (text) => (text === "" && isLeftOut ? undefined : problemOf(read, text)),
  });
}

/** The candidates that fit, and the typed text itself: it may be an id that this ledger does not know. */
function searched(candidates: Candidate[], read: Read<unknown>) {
  return (typed: string): Choice<string>[] => {
    const word = typed.trim();
    const isKnown = candidates.some(({ text }) => text === word);
    const isWord = word !== "" && !isKnown && problemOf(read, word) === undefined;
    const asTyped = { name: `${word}  (as typed)`, value: word };
    return [...fitting(word, candidates).map(choice), ...(isWord ? [asTyped] : [])];
  };
}

function choice({ text, shown }: Candidate): Choice<string> {
  return { name: shown, value: text };
}

function problemOf(read: Read<unknown>, text: string): string | undefined {
  const reading = read(text);
  return reading.ok ? undefined : reading.problem;
}
