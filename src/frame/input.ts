import { usage } from "../failure.ts";
import type { Context } from "./context.ts";
import { type Argument, type Flag, flagName, type Read } from "./flag.ts";

/** What was typed, still as text. */
export interface Given {
  flags: Map<string, string[]>;
  arguments: string[];
  /** What is already known to be wrong with it: unknown flags, for one. */
  problems: string[];
}

interface Shape {
  flags: Record<string, Flag>;
  arguments: Record<string, Argument>;
}

/** Reads everything that was typed; all problems are reported together. */
export async function readInput(
  shape: Shape,
  given: Given,
  context: Pick<Context, "settings">,
): Promise<Record<string, unknown>> {
  const problems = [...given.problems];
  const values: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(shape.flags)) {
    const typed = given.flags.get(name);
    const isReplaced = one.unless !== undefined && given.flags.has(one.unless);
    if (isReplaced && typed !== undefined) {
      problems.push(`${flagName(one)} and the flag that stands in for it contradict each other.`);
    }
    if (isReplaced) continue;
    const setting = typed === undefined && one.fallback?.(await context.settings());
    values[name] = readFlag(one, setting ? [setting] : typed, problems);
  }
  const left = [...given.arguments];
  for (const [name, one] of Object.entries(shape.arguments)) {
    values[name] = readArgument(one, left, problems);
  }
  if (left.length > 0)
    problems.push(
      `${left.length === 1 ? "There is an argument" : `There are ${left.length} arguments`} too many.`,
    );
  if (problems.length > 0) throw usage(problems);
  return values;
}

function readFlag(one: Flag, texts: string[] | undefined, problems: string[]): unknown {
  const name = flagName(one);
  if (one.presence === "switch") return texts !== undefined;
  if (one.presence === "many")
    return (texts ?? []).map((text) => readText(name, one.read, text, problems));
  const [text, ...others] = texts ?? [];
  if (others.some((other) => other !== text))
    problems.push(`${name} is given twice, with different values.`);
  if (text !== undefined) return readText(name, one.read, text, problems);
  if (one.presence !== "optional") problems.push(`${name} is missing: ${lowerFirst(one.about)}.`);
  return undefined;
}

function readArgument(one: Argument, left: string[], problems: string[]): unknown {
  if (one.presence === "rest")
    return left.splice(0).map((text) => readText(`<${one.name}>`, one.read, text, problems));
  const text = left.shift();
  if (text !== undefined) return readText(`<${one.name}>`, one.read, text, problems);
  if (one.presence === "required")
    problems.push(`<${one.name}> is missing: ${lowerFirst(one.about)}.`);
  return undefined;
}

function readText(name: string, read: Read<unknown>, text: string, problems: string[]): unknown {
  const reading = read(text);
  if (reading.ok) return reading.value;
  problems.push(`${name}: ${reading.problem}`);
  return undefined;
}

function lowerFirst(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
}
