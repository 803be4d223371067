import { usage } from "../../domain/failure.ts";
import type { Context } from "./context.ts";
import type { AnyGuide } from "./dialogue.ts";
import { type Argument, argumentName, type Flag, flagName, type Read } from "./flag.ts";

/** The command line, still as text. */
export interface Given {
  /** The command's: `payout send`. */
  name: string;
  flags: Map<string, string[]>;
  arguments: string[];
  /** Problems that were found before, such as unknown flags. */
  problems: string[];
  /** The whole command line. */
  argv: string[];
}

interface Shape {
  flags: Record<string, Flag>;
  arguments: Record<string, Argument>;
}

/** The values of the command line, and the missing ones. */
interface Typed {
  values: Record<string, unknown>;
  /** Sentences. */
  problems: string[];
  /** A sentence for each required flag or argument, by its name. */
  missing: Map<string, string>;
}

/**
 * Reads all flags and arguments, and asks for missing ones in a terminal. All problems are reported
 * together; if there are any, nothing is asked.
 */
export async function readInput(
  shape: Shape & { guide?: ((context: Context) => Promise<AnyGuide>) | undefined },
  given: Given,
  context: Context,
): Promise<Record<string, unknown>> {
  const { values, problems, missing } = await readTyped(shape, given, context.config);
  if (problems.length === 0 && missing.size === 0) return values;
  const ask = problems.length === 0 ? await context.ui.ask() : undefined;
  if (!ask) throw usage([...problems, ...missing.values()], hintOn(shape, given));
  const { askForMissing } = await import("./dialogue.ts");
  const guide = (await shape.guide?.(context)) ?? {};
  return askForMissing({ ...shape, guide, values, missing, argv: given.argv }, ask, context);
}

/** The problem of a value says what is valid; for unknown flags and extra arguments the help does. */
function hintOn({ arguments: args }: Shape, given: Given): string | undefined {
  const takesRest = Object.values(args).some(({ presence }) => presence === "rest");
  const isTooMuch = !takesRest && given.arguments.length > Object.keys(args).length;
  return given.problems.length > 0 || isTooMuch
    ? `To list flags, run 'lenden ${given.name} --help' and 'lenden help flags'.`
    : undefined;
}

/** Reads the command line, and settings of the profile in place of missing flags. */
async function readTyped(
  shape: Shape,
  given: Given,
  { settings }: Pick<Context["config"], "settings">,
): Promise<Typed> {
  const read: Typed = { values: {}, problems: [...given.problems], missing: new Map() };
  const { values, problems } = read;
  for (const [name, one] of Object.entries(shape.flags)) {
    const typed = given.flags.get(name);
    if (typed !== undefined) problems.push(...beside(one, shape.flags, given.flags));
    if (one.unless !== undefined && given.flags.has(one.unless)) continue;
    const setting = typed === undefined && one.fallback?.(await settings());
    values[name] = readFlag([name, one], setting ? [setting] : typed, read);
  }
  const left = [...given.arguments];
  for (const [name, one] of Object.entries(shape.arguments)) {
    values[name] = readArgument([name, one], left, read);
  }
  if (left.length > 0)
    problems.push(
      left.length === 1 ? "Unexpected argument." : `${left.length} unexpected arguments.`,
    );
  return read;
}

/** Flags that exclude or need each other. */
function beside(
  one: Flag,
  flags: Record<string, Flag>,
  typed: ReadonlyMap<string, unknown>,
): string[] {
  const problems: string[] = [];
  const { unless = "", onlyWith = "" } = one;
  const other = flags[unless];
  if (other && typed.has(unless))
    problems.push(`${flagName(one)} and ${flagName(other)} cannot be used together.`);
  const needed = flags[onlyWith];
  if (needed && !typed.has(onlyWith)) problems.push(`${flagName(one)} needs ${flagName(needed)}.`);
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
    problems.push(`${label} is given twice with different values.`);
  if (text !== undefined) return readText(label, one.read, text, problems);
  // A flag without its value is a problem already.
  const isReported = problems.some((problem) => problem.includes(one.usage));
  if (one.presence !== "optional" && !isReported) missing.set(name, isMissing(one));
  return undefined;
}

function readArgument(
  [name, one]: [string, Argument],
  left: string[],
  { problems, missing }: Typed,
): unknown {
  const label = `<${argumentName(one)}>`;
  if (one.presence === "rest")
    return left.splice(0).map((text) => readText(label, one.read, text, problems));
  const text = left.shift();
  if (text !== undefined) return readText(label, one.read, text, problems);
  if (one.presence === "required") missing.set(name, `Missing required argument ${label}.`);
  return undefined;
}

function readText(label: string, read: Read<unknown>, text: string, problems: string[]): unknown {
  const reading = read(text);
  if (reading.ok) return reading.value;
  problems.push(`${label}: ${reading.problem}`);
  return undefined;
}

function isMissing({ usage: written, presence }: Flag): string {
  const isSetting = presence === "setting" || presence === "either";
  return `Missing required flag ${written}${isSetting ? " (or set it in the profile)" : ""}.`;
}
