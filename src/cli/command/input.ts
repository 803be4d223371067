import { usage } from "../../domain/failure.ts";
import type { Context } from "./context.ts";
import type { AnyGuide } from "./dialogue.ts";
import { type Argument, type Flag, flagName, type Read } from "./flag.ts";

/** What was typed, still as text. */
export interface Given {
  flags: Map<string, string[]>;
  arguments: string[];
  /** What is already known to be wrong with it: unknown flags, for one. */
  problems: string[];
  /** The whole line, before it was taken apart. */
  argv: string[];
}

interface Shape {
  /** The command's. */
  name: string;
  flags: Record<string, Flag>;
  arguments: Record<string, Argument>;
}

/** What the command line says, and what it does not. */
interface Typed {
  values: Record<string, unknown>;
  /** Everything that is wrong, each a sentence. */
  problems: string[];
  /** Everything that is needed and was not typed: its name, and a sentence. */
  missing: Map<string, string>;
}

/**
 * Reads everything that was typed, and asks a person at a terminal for what is missing. All problems
 * are reported together; where anything is wrong, nothing is asked.
 */
export async function readInput(
  shape: Shape & { guide?: ((context: Context) => Promise<AnyGuide>) | undefined },
  given: Given,
  context: Context,
): Promise<Record<string, unknown>> {
  const { values, problems, missing } = await readTyped(shape, given, context);
  if (problems.length === 0 && missing.size === 0) return values;
  const ask = problems.length === 0 ? await context.ask() : undefined;
  if (!ask) throw usage([...problems, ...missing.values()], hintOn(shape, given));
  const { askForMissing } = await import("./dialogue.ts");
  const guide = (await shape.guide?.(context)) ?? {};
  return askForMissing({ ...shape, guide, values, missing, argv: given.argv }, ask, context);
}

/** A value that is wrong says itself what would be right; of a line's shape the help does. */
function hintOn({ name, arguments: args }: Shape, given: Given): string | undefined {
  const takesRest = Object.values(args).some(({ presence }) => presence === "rest");
  const isTooMuch = !takesRest && given.arguments.length > Object.keys(args).length;
  return given.problems.length > 0 || isTooMuch
    ? `'lenden ${name} --help' shows what it takes.`
    : undefined;
}

/** Reads everything that was typed, and what a profile holds instead of it. */
async function readTyped(
  shape: Shape,
  given: Given,
  context: Pick<Context, "settings">,
): Promise<Typed> {
  const read: Typed = { values: {}, problems: [...given.problems], missing: new Map() };
  const { values, problems } = read;
  for (const [name, one] of Object.entries(shape.flags)) {
    const typed = given.flags.get(name);
    if (typed !== undefined) problems.push(...beside(one, shape.flags, given.flags));
    if (one.unless !== undefined && given.flags.has(one.unless)) continue;
    const setting = typed === undefined && one.fallback?.(await context.settings());
    values[name] = readFlag([name, one], setting ? [setting] : typed, read);
  }
  const left = [...given.arguments];
  for (const [name, one] of Object.entries(shape.arguments)) {
    values[name] = readArgument([name, one], left, read);
  }
  if (left.length > 0)
    problems.push(
      `${left.length === 1 ? "There is an argument" : `There are ${left.length} arguments`} too many.`,
    );
  return read;
}

/** What is wrong with a flag that was typed, by what else was. */
function beside(
  one: Flag,
  flags: Record<string, Flag>,
  typed: ReadonlyMap<string, unknown>,
): string[] {
  const problems: string[] = [];
  const { unless = "", onlyWith = "" } = one;
  const other = flags[unless];
  if (other && typed.has(unless))
    problems.push(`${flagName(one)} and ${flagName(other)} contradict each other: give one.`);
  const needed = flags[onlyWith];
  if (needed && !typed.has(onlyWith))
    problems.push(`${flagName(one)} does nothing without ${flagName(needed)}: give both.`);
  return problems;
}

function readFlag(
  [name, one]: [string, Flag],
  texts: string[] | undefined,
  { problems, missing }: Typed,
): unknown {
  const label = flagName(one);
  if (one.presence === "switch") return texts !== undefined;
  if (one.presence === "many")
    return (texts ?? []).map((text) => readText(label, one.read, text, problems));
  const [text, ...others] = texts ?? [];
  if (others.some((other) => other !== text))
    problems.push(`${label} is given twice, with different values.`);
  if (text !== undefined) return readText(label, one.read, text, problems);
  if (one.presence !== "optional") missing.set(name, isMissing(label, one));
  return undefined;
}

function readArgument(
  [name, one]: [string, Argument],
  left: string[],
  { problems, missing }: Typed,
): unknown {
  const label = `<${one.name}>`;
  if (one.presence === "rest")
    return left.splice(0).map((text) => readText(label, one.read, text, problems));
  const text = left.shift();
  if (text !== undefined) return readText(label, one.read, text, problems);
  if (one.presence === "required") missing.set(name, isMissing(label, one));
  return undefined;
}

function readText(label: string, read: Read<unknown>, text: string, problems: string[]): unknown {
  const reading = read(text);
  if (reading.ok) return reading.value;
  problems.push(`${label}: ${reading.problem}`);
  return undefined;
}

function isMissing(label: string, { about }: { about: string }): string {
  return `${label} is missing: ${about.slice(0, 1).toLowerCase()}${about.slice(1)}.`;
}
