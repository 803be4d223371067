import { usage } from "../../domain/failure.ts";
import type { Context } from "./context.ts";
import type { AnyGuide } from "./dialogue.ts";
import { type Argument, argumentName, type Flag } from "./flag.ts";
import { type Found, readFlags, readText, type TypedFlags } from "./read-flags.ts";

/** The command line, still as text. */
export interface Given {
  /** The command's: `payout send`. */
  name: string;
  flags: TypedFlags;
  arguments: string[];
  /** Unknown flags, and a flag without its value. */
  problems: string[];
  /** Invalid values of global flags. */
  globalProblems?: string[];
  /** The whole command line. */
  argv: string[];
}

interface Definition {
  flags: Record<string, Flag>;
  arguments: Record<string, Argument>;
  guide?: ((context: Context) => Promise<AnyGuide>) | undefined;
}

/**
 * Reads all flags and arguments, and asks for missing ones in a terminal. All problems are reported
 * together; if there are any, nothing is asked.
 */
export async function readInput(
  definition: Definition,
  given: Given,
  context: Context,
): Promise<Record<string, unknown>> {
  const { flags, arguments: args } = definition;
  const found: Found = {
    problems: [...given.problems, ...(given.globalProblems ?? [])],
    missing: new Map(),
  };
  const { problems, missing } = found;
  const typed = await withSettings(flags, given.flags, context);
  const left = [...given.arguments];
  const values: Record<string, unknown> = { ...readFlags(flags, typed, found) };
  for (const [name, one] of Object.entries(args))
    values[name] = readArgument(name, one, left, found);
  if (left.length > 0)
    problems.push(
      left.length === 1 ? "Unexpected argument." : `${left.length} unexpected arguments.`,
    );
  if (problems.length === 0 && missing.size === 0) return values;
  const ask = problems.length === 0 ? await context.ui.ask() : undefined;
  if (!ask) {
    // The problem of a value says what is valid; for unknown flags and extra arguments the help does.
    const isUnknown = given.problems.length > 0 || left.length > 0;
    const help = `To list flags, run 'lenden ${given.name} --help' and 'lenden help flags'.`;
    throw usage([...problems, ...missing.values()], isUnknown ? help : undefined);
  }
  const { askForMissing } = await import("./dialogue.ts");
  const guide = (await definition.guide?.(context)) ?? {};
  return askForMissing(
    { flags, arguments: args, guide, values, missing, argv: given.argv },
    ask,
    context,
  );
}

/** Settings of the profile take the place of absent flags. */
async function withSettings(
  flags: Record<string, Flag>,
  typed: TypedFlags,
  { config }: Context,
): Promise<TypedFlags> {
  const all = new Map(typed);
  for (const [name, { fallback, unless = "" }] of Object.entries(flags)) {
    if (!fallback || typed.has(name) || typed.has(unless)) continue;
    const setting = fallback(await config.settings());
    if (setting !== undefined) all.set(name, [setting]);
  }
  return all;
}

function readArgument(name: string, one: Argument, left: string[], found: Found): unknown {
  const label = `<${argumentName(one)}>`;
  if (one.presence === "rest")
    return left.splice(0).map((text) => readText(label, one.read, text, found));
  const text = left.shift();
  if (text !== undefined) return readText(label, one.read, text, found);
  if (one.presence === "required") found.missing.set(name, `Missing required argument ${label}.`);
  return undefined;
}
