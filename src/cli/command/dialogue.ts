import { Failure, whyAndHint } from "../../domain/failure.ts";
import { problemOf } from "../../domain/result.ts";
import { shellLine } from "../../domain/text.ts";
import { clean } from "../output/terminal-text.ts";
import type { Ask, Choice } from "../terminal/ask.ts";
import { type Candidate, candidatesOf, fitting } from "./candidates.ts";
import type { Context } from "./context.ts";
import { type Argument, type Flag, flagName, type Input, type Read, type Shape } from "./flag.ts";

/** Prompts of a command that need more than the definition of a flag or an argument has. */
export type Guide<S extends Shape> = {
  [Name in keyof S]?: GuidedQuestion<Exclude<Input<S>[Name], undefined>, Partial<Input<S>>>;
};

interface GuidedQuestion<Value, Known> {
  /** The label without a colon, if the name of the flag is not the best one. */
  message?: string;
  /** True if an optional value is asked for when another one is missing; Enter skips it. */
  isOffered?: boolean;
  /** The default answer. @throws Failure that ends the dialogue */
  preset?(known: Known): Promise<string>;
  /**
   * Checks a valid answer against the API or the ledger, and shows what was found.
   *
   * @throws Failure `refused`, `not-found` or `usage`: it is shown, and the prompt is repeated
   */
  look?(value: Value, known: Known): Promise<void>;
}

/** A guide without the types of its values. */
export type AnyGuide = Record<string, GuidedQuestion<unknown, Record<string, unknown>> | undefined>;

/** The input of a dialogue. */
interface Asked {
  flags: Record<string, Flag>;
  arguments: Record<string, Argument>;
  guide: AnyGuide;
  /** The missing ones, by name. */
  missing: Map<string, string>;
  /** The values of the command line. */
  values: Record<string, unknown>;
  /** The command line as it was typed. */
  argv: string[];
}

/**
 * Asks for all missing values, validated as their flags are, and shows the command line that does the
 * same.
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
  // A missing account is reported before the first prompt, not after the last one.
  if (wanted.some(([, { names }]) => names && names !== "profile")) await context.config.account();
  const answers: { of: Flag | Argument; text: string }[] = [];
  for (const [name, of] of wanted) {
    const question = { of, guide: guide[name] ?? {}, isOptional: !missing.has(name), values };
    const answer = await answerTo(question, ask, context);
    if (answer === undefined) continue;
    values[name] = of.presence === "many" ? [answer.value] : answer.value;
    answers.push({ of, text: answer.text });
  }
  showSame([withAnswers(argv, answers)], context.ui);
  return values;
}

interface Question {
  of: Flag | Argument;
  guide: NonNullable<AnyGuide[string]>;
  isOptional: boolean;
  values: Record<string, unknown>;
}

/** The answer as text and as value; undefined if an optional one was skipped. */
async function answerTo(question: Question, ask: Ask, context: Context) {
  const { of, guide, isOptional, values } = question;
  for (;;) {
    const text = await answerText(question, await guide.preset?.(values), ask, context);
    if (text === "" && isOptional) return undefined;
    const reading = of.read(text);
    if (!reading.ok) {
      context.ui.notice(reading.problem);
      continue;
    }
    try {
      await guide.look?.(reading.value, values);
      return { text, value: reading.value };
    } catch (error) {
      if (!isAnotherTry(error)) throw error;
      context.ui.notice(whyAndHint(error));
    }
  }
}

function isAnotherTry(error: unknown): error is Failure {
  return error instanceof Failure && ["refused", "not-found", "usage"].includes(error.kind);
}

/** The command line with the answers, before the `--` that ends its options. */
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

/** Asks for one value, from a list if there is one. */
async function answerText(
  { of, guide: { message }, isOptional }: Question,
  preset: string | undefined,
  ask: Ask,
  context: Context,
): Promise<string> {
  const { names, read } = of;
  const label = message ?? labelOf(of);
  if (read.words) {
    const words = read.words.map((word) => ({ name: word, value: word }));
    return ask.choice(`${label}:`, words);
  }
  const candidates =
    names && names !== "file" && names !== "csv-file"
      ? await candidatesOf(names, {
          ledger: context.ledger.own,
          methods: context.api.methods,
          profiles: context.config.profiles,
        })
      : [];
  if (candidates.length > 0) {
    const question = message ?? `Which ${names}?`;
    return names === "method"
      ? ask.choice(question, candidates.map(choice))
      : ask.search(question, searched(candidates, read));
  }
  const mayBeEmpty = isOptional && preset === undefined;
  return ask.text(`${label}${mayBeEmpty ? " (optional)" : ""}:`, {
    ...(preset === undefined ? {} : { preset }),
    check: (text) => (text === "" && mayBeEmpty ? undefined : problemOf(read(text))),
  });
}

/** `Account number` for `--account-number`, `Payment ID` for the ID of a payment. */
function labelOf(of: Flag | Argument): string {
  const { names } = of;
  const isId = names !== undefined && !["file", "csv-file", "profile"].includes(names);
  const words = "usage" in of ? flagName(of).slice(2).split("-") : isId ? [names, "ID"] : [of.name];
  const label = words
    .join(" ")
    .replace(/\burl\b/, "URL")
    .replace(/\bid\b/, "ID")
    .replace(/\bref\b/, "reference");
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** The candidates that match, and the typed text itself: it may be an ID that this ledger does not have. */
function searched(candidates: Candidate[], read: Read<unknown>) {
  return (typed: string): Choice<string>[] => {
    const word = typed.trim();
    const isKnown = candidates.some(({ text }) => text === word);
    const isWord = word !== "" && !isKnown && problemOf(read(word)) === undefined;
    const asTyped = { name: `${word}  (as typed)`, value: word };
    return [...fitting(word, candidates).map(choice), ...(isWord ? [asTyped] : [])];
  };
}

function choice({ text, shown }: Candidate): Choice<string> {
  return { name: shown, value: text };
}

/**
 * Shows the command lines that do the same as a dialogue did, except for those with characters that a
 * terminal cannot show.
 */
export function showSame(argvs: string[][], { notice }: Pick<Context["ui"], "notice">): void {
  const lines = argvs.map((argv) => shellLine(["lenden", ...argv]));
  const shown = lines.filter((line) => clean(line) === line);
  if (shown.length === 0) return;
  for (const text of [
    "",
    "The same command without prompts:",
    ...shown.map((one) => `  ${one}`),
    "",
  ])
    notice(text);
}
