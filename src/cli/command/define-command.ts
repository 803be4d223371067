import { masked } from "../../domain/api-keys.ts";
import { Failure, type FailureKind, usage } from "../../domain/failure.ts";
import type { Schemas } from "../output/json-schema.ts";
import type { OutputFormat } from "../output/render.ts";
import { wordsOrWhy } from "../output/terminal-text.ts";
import type { View } from "../output/view.ts";
import type { Context } from "./context.ts";
import type { AnyGuide, Guide } from "./dialogue.ts";
import {
  type Argument,
  argumentName,
  type Flag,
  type Found,
  flag,
  flagName,
  type Input,
  readFlags,
  readText,
  type TypedFlags,
} from "./flag.ts";
import type { Preview } from "./preview.ts";

export type { Schemas } from "../output/json-schema.ts";
export type { Context } from "./context.ts";

export interface Spec<F extends Record<string, Flag>, A extends Record<string, Argument>, Result> {
  /** The part of its help after the summary: at most four sentences. */
  description?: string;
  /** Commands by what they do, an imperative: `Send a payout and wait for it`. A test runs each in a shell. */
  examples: Record<string, string>;
  arguments?: A;
  flags?: F;
  /** The command whose help describes the flags that both have. */
  sameFlagsAs?: string;
  /**
   * What it does at the API, which decides how it is confirmed and stopped.
   *
   * - `read` (default) changes nothing.
   * - `write` changes something: it has --dry-run, production asks, and requests in flight may end after the first
   *   Ctrl-C.
   * - `act` is as `write`, but without --dry-run: each request follows from earlier responses.
   * - `serve` runs until it is stopped: without a deadline, and a stop is success.
   */
  mode?: "read" | "write" | "act" | "serve";
  /**
   * True if the command must not run again because this result is lost: it changed something at the API, or recorded
   * what a person decided (default: each result of a command that writes, except of a dry run).
   */
  changed?(result: Result): boolean;
  /** True if requests in flight may end after the first signal (default: if it changes something at the API). */
  finishes?: boolean;
  /** True if it has no deadline except --timeout. */
  patient?: boolean;
  /** True if successive results are one list: one JSON array. */
  list?: boolean;
  /** True if its result contains secrets that a program needs. */
  showsSecrets?: boolean;
  /** Default: table. */
  format?: OutputFormat;
  /** Formats that other commands do not have. */
  formats?: readonly OutputFormat[];
  /** True if it rejects a production account before anything is sent. */
  sandboxOnly?: boolean;
  /** Why only a person may run it, a clause: "only a person changes profiles". An agent is rejected. */
  needsPerson?: string;
  /** The same for an account that is not a sandbox's. */
  needsPersonInProduction?: string;
  /** True if an agent runs it, whoever starts it. */
  isForAgents?: boolean;
  /** The exit codes that are special to this command, each in at most 12 words. */
  exitCodes?: Partial<Record<FailureKind, string>>;
  /** Problems of values that depend on each other, each with its flag; reported with all others. */
  problems?(input: Partial<Input<F & A>>): string[];
  /** Called before the first question. @throws Failure if it must not be asked */
  guide?(context: Context, how: { dryRun: boolean }): Promise<Guide<F & A>>;
  run(
    input: Input<F & A> & { dryRun: boolean },
    context: Context,
  ): Promise<Result | Preview> | AsyncIterable<Result>;
  /** Absent if another program prints to our streams. */
  view?(result: Result): View;
  /**
   * The schema of what it prints with --json; of a list, of an item. Absent if it prints what the API, a file or
   * another program has.
   */
  output?(schema: Schemas): ReturnType<Schemas["record"]>;
  /** The JSON output (default: the result). */
  json?(result: Result): unknown;
  /** The error of a result that is shown but is not a success; a Failure is printed after it. */
  ending?(result: Result): Ending;
}

/** A kind for a result that is shown although it is no success, an error, or the exit code of another program. */
export type Ending =
  | Extract<
      FailureKind,
      | "internal"
      | "refused"
      | "conflict"
      | "pending"
      | "cancelled"
      | "unverified"
      | "unreachable"
      | "uncertain"
    >
  | Failure
  | number
  | undefined;

/** A result that can be shown in any format. */
export interface Shown {
  result: unknown;
  view: (() => View) | undefined;
  ending: Ending;
  /** True if the command must not run again because this result cannot be printed. */
  changed: boolean;
  /** True for one of several successive results: one JSON document per line. */
  streamed: boolean;
}

/** A command without its types. */
export interface Command
  extends Omit<
    Spec<Record<string, Flag>, Record<string, Argument>, unknown>,
    "run" | "changed" | "view" | "json" | "ending" | "arguments" | "flags" | "guide" | "problems"
  > {
  arguments: Record<string, Argument>;
  flags: Record<string, Flag>;
  /** True if it changes something at the API, which may move money. */
  writes: boolean;
  finishes: boolean;
  start(given: Given, context: Context): AsyncIterable<Shown>;
}

/** Defines a command. The type of `run`'s input follows from its flags and arguments. */
export function defineCommand<
  Result,
  F extends Record<string, Flag> = Record<never, never>,
  A extends Record<string, Argument> = Record<never, never>,
>(spec: Spec<F, A, Result>): Command {
  const own: Record<string, Flag> = spec.flags ?? {};
  const flags = spec.mode === "write" && !own.dryRun ? { ...own, dryRun } : own;
  const args: Record<string, Argument> = spec.arguments ?? {};
  const writes = spec.mode === "write" || spec.mode === "act";
  return {
    ...spec,
    flags,
    arguments: args,
    writes,
    finishes: spec.finishes ?? writes,
    async *start(given, context) {
      const { guide, problems } = spec;
      const definition = { flags, arguments: args, guide, ...(problems && { problems }) };
      const values = await readInput(definition, given, context);
      if (spec.sandboxOnly) await refuseProduction(context);
      // The values were read by the very flags that the type is mapped from.
      const input = values as Input<F & A> & { dryRun: boolean };
      const running = spec.run(input, context);
      const streamed = Symbol.asyncIterator in running;
      const { view, json, ending } = spec;
      for await (const result of streamed ? running : [await running]) {
        if (isPreview(result)) {
          const shown = { result: result.request, view: () => result.view() };
          yield { ...shown, ending: undefined, changed: false, streamed };
        } else
          yield {
            result: json ? json(result) : result,
            view: view && (() => view(result)),
            ending: ending?.(result),
            changed: spec.changed ? spec.changed(result) : writes && !input.dryRun,
            streamed,
          };
      }
    },
  };
}

function isPreview(result: unknown): result is Preview {
  return typeof result === "object" && result !== null && "isPreview" in result;
}

const dryRun = flag.toggle("--dry-run", "Print the request without sending it");

async function refuseProduction(context: Context): Promise<void> {
  const { environment, apiKey } = await context.config.account();
  if (environment === "sandbox") return;
  throw new Failure(
    "account.production",
    `This command needs a sandbox account, but ${masked(apiKey)} is the key of a production account.`,
    {
      hint: "Select a sandbox profile with --profile, or run the command with 'lenden sandbox exec'.",
    },
  );
}

/** The command line, still as text. */
export interface Given {
  /** The command's: `payout send`. */
  name: string;
  flags: TypedFlags;
  arguments: string[];
  /** Unknown flags, and a flag without its value. */
  problems: string[];
  /** The last flag if its value is missing, which is one of the problems: `--amount`. */
  valueless?: string | undefined;
  /** Invalid values of global flags. */
  globalProblems?: string[];
  /** The whole command line. */
  argv: string[];
}

interface Definition {
  flags: Record<string, Flag>;
  arguments: Record<string, Argument>;
  guide?: ((context: Context, how: { dryRun: boolean }) => Promise<AnyGuide>) | undefined;
  problems?(values: Record<string, unknown>): string[];
}

/**
 * Reads all flags and arguments, and asks for missing ones in a terminal. All problems are reported
 * together; if there are any, nothing is asked.
 */
async function readInput(definition: Definition, given: Given, context: Context) {
  const { flags, arguments: args } = definition;
  const found: Found = {
    problems: [...given.problems, ...(given.globalProblems ?? [])],
    missing: new Map(),
    valueless: given.valueless,
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
  problems.push(...(definition.problems?.(values) ?? []));
  if (left.length > 0) problems.push(unexpected(left, given, Object.values(args)));
  if (problems.length === 0 && missing.size === 0) return values;
  const ask = problems.length === 0 ? await context.ui.ask() : undefined;
  if (!ask) {
    // The problem of a value says what is valid; for unknown flags and extra arguments the help does.
    const isUnknown = given.problems.length > 0 || left.length > 0;
    const help = `To see the command's arguments and flags, run 'lenden ${given.name} --help'.`;
    throw usage([...problems, ...missing.values()], isUnknown ? help : undefined);
  }
  const { askForMissing } = await import("./dialogue.ts");
  const guide = (await definition.guide?.(context, { dryRun: values.dryRun === true })) ?? {};
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

/** PowerShell passes nothing for `@last` without quotes. */
function newest({ names = "file" }: Argument): string {
  return ["payment", "payout", "refund", "batch"].includes(names)
    ? " The newest is '@last'; PowerShell needs the quotes."
    : "";
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
    missing.set(
      name,
      `Missing required argument ${label}${other ? ` (or use ${other})` : ""}.${newest(one)}`,
    );
  const values = texts.map((text) => readText(label, one.read, text, found));
  return isList ? values : values[0];
}
