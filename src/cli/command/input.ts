import { usage } from "../../domain/failure.ts";
import { wordsOrWhy } from "../output/terminal-text.ts";
import type { Context } from "./context.ts";
import type { AnyGuide } from "./dialogue.ts";
import {
  type Argument,
  argumentName,
  type Flag,
  type Found,
  flagName,
  readFlags,
  readText,
  type TypedFlags,
} from "./flag.ts";

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
export async function readInput(definition: Definition, given: Given, context: Context) {
  const { flags, arguments: args } = definition;
  const found: Found = {
    problems: [...given.problems, ...(given.globalProblems ?? [])],
    missing: new Map(),
  };
  const { problems, missing } = found;
  const typed = await withSettings(flags, given.flags, context);
  const left = [...given.arguments];
  const values: Record<string, unknown> = { ...readFlags(flags, typed, found) };
  for (const [name, one] of Object.entries(args)) {
    const { unless = "" } = one;
    values[name] = readArgument(
      name,
      one,
      left,
      { by: flags[unless], is: typed.has(unless) },
      found,
    );
  }
  if (left.length > 0) problems.push(unexpected(left, given, Object.values(args)));
  if (problems.length === 0 && missing.size === 0) return values;
  const ask = problems.length === 0 ? await context.ui.ask() : undefined;
  if (!ask) {
    // The problem of a value says what is valid; for unknown flags and extra arguments the help does.
    const isUnknown = given.problems.length > 0 || left.length > 0;
    const help = `To see its arguments and flags, run 'lenden ${given.name} --help'.`;
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

/** Shows only what cannot be a secret; other arguments are named by their place. */
function unexpected(
  left: string[],
  { name, arguments: typed }: Pick<Given, "name" | "arguments">,
  args: Argument[],
): string {
  const first = typed.length - left.length + 1;
  const isOne = left.length === 1;
  const accepted = args.map((one) => `<${argumentName(one)}>`).join(" ");
  const shown = left.every((text) => text === "") ? ", an empty text" : wordsOrWhy(...left);
  const place = isOne ? ` ${first}` : ` ${first} to ${typed.length}`;
  const which = `argument${isOne ? "" : "s"}${shown.startsWith(",") ? place : ""}${shown}`;
  return `Unexpected ${which}: 'lenden ${name}' accepts ${accepted === "" ? "no arguments" : `only ${accepted}`}.`;
}

/** Settings of the profile take the place of absent flags. */
async function withSettings(flags: Record<string, Flag>, typed: TypedFlags, { config }: Context) {
  const all = new Map(typed);
  for (const [name, { fallback, unless = "" }] of Object.entries(flags)) {
    if (!fallback || typed.has(name) || typed.has(unless)) continue;
    const setting = fallback(await config.settings());
    if (setting !== undefined) all.set(name, [setting]);
  }
  return all;
}

/** @param replaced by which flag it can be, and whether it is */
function readArgument(
  name: string,
  one: Argument,
  left: string[],
  replaced: { by: Flag | undefined; is: boolean },
  found: Found,
) {
  const label = `<${argumentName(one)}>`;
  const { problems, missing } = found;
  const isList = one.presence === "many" || one.presence === "rest";
  const texts = left.splice(0, isList ? left.length : 1);
  const other = replaced.by && flagName(replaced.by);
  if (replaced.is && texts.length > 0)
    problems.push(`${label} and ${other} cannot be used together.`);
  const isNeeded = one.presence === "required" || one.presence === "many";
  if (isNeeded && !replaced.is && texts.length === 0)
    missing.set(name, `Missing required argument ${label}${other ? ` (or use ${other})` : ""}.`);
  const values = texts.map((text) => readText(label, one.read, text, found));
  return isList ? values : values[0];
}
