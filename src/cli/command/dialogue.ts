import { Failure } from "../../domain/failure.ts";
import type { Ask } from "../prompts/ask.ts";
import { answerText } from "./ask-value.ts";
import type { Context } from "./context.ts";
import { type Argument, type Flag, flagName } from "./flag.ts";
import type { AnyGuide } from "./guide.ts";
import { showSame } from "./same-command.ts";

/** What a dialogue is about. */
interface Asked {
  flags: Record<string, Flag>;
  arguments: Record<string, Argument>;
  guide: AnyGuide;
  /** Those that are missing, by their names. */
  missing: Map<string, string>;
  /** What was typed, as values. */
  values: Record<string, unknown>;
  /** The command line as it was typed. */
  argv: string[];
}

/**
 * Asks for everything that is missing, each answer with the very check of its flag, and shows the
 * command line that would have done without.
 *
 * @returns the values that were typed, and those that were answered
 */
export async function askForMissing(
  { flags, arguments: args, guide, missing, values: typed, argv }: Asked,
  ask: Ask,
  context: Context,
): Promise<Record<string, unknown>> {
  const values = { ...typed };
  const everything = { ...args, ...flags };
  const wanted = Object.entries(everything).filter(
    ([name]) => missing.has(name) || (guide[name]?.isOffered && values[name] === undefined),
  );
  // Who has no account should hear of it before the first question, not after the last.
  if (wanted.some(([, { names }]) => names && names !== "profile")) await context.account();
  const answers: { of: Flag | Argument; text: string }[] = [];
  for (const [name, of] of wanted) {
    const question = { of, guide: guide[name], isOptional: !missing.has(name), values };
    const answer = await answerTo(question, ask, context);
    if (answer === undefined) continue;
    values[name] = answer.value;
    answers.push({ of, text: answer.text });
  }
  showSame([withAnswers(argv, answers)], context);
  return values;
}

interface Question {
  of: Flag | Argument;
  guide: AnyGuide[string];
  isOptional: boolean;
  values: Record<string, unknown>;
}

/** The answer as text and as value; undefined where an optional one was left out. */
async function answerTo(
  { of, guide, isOptional, values }: Question,
  ask: Ask,
  context: Context,
): Promise<{ text: string; value: unknown } | undefined> {
  for (;;) {
    const preset = await guide?.preset?.(values);
    const text = await answerText(
      { of, message: guide?.message, preset, isOptional },
      ask,
      context,
    );
    if (text === "" && isOptional) return undefined;
    const reading = of.read(text);
    if (!reading.ok) {
      context.notice(reading.problem);
      continue;
    }
    try {
      await guide?.look?.(reading.value, values);
      return { text, value: reading.value };
    } catch (error) {
      if (!isAnotherTry(error)) throw error;
      context.notice([error.message, error.details.hint].filter(Boolean).join(" "));
    }
  }
}

function isAnotherTry(error: unknown): error is Failure {
  return error instanceof Failure && ["refused", "not-found", "usage"].includes(error.kind);
}

/** The line with the answers in it, before the `--` that ends its options. */
function withAnswers(argv: string[], answers: { of: Flag | Argument; text: string }[]): string[] {
  const end = argv.indexOf("--");
  const [options, operands] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
  const flags = answers.flatMap(({ of, text }) => {
    if (!("usage" in of)) return [];
    return text.startsWith("-") ? [`${flagName(of)}=${text}`] : [flagName(of), text];
  });
  const more = answers.flatMap(({ of, text }) => ("usage" in of ? [] : [text]));
  const all = [...operands, ...more];
  const needsEnd = all.some((text) => text.startsWith("-"));
  return needsEnd ? [...options, ...flags, "--", ...all] : [...options, ...flags, ...all];
}
