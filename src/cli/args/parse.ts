import { Command as Commander, CommanderError } from "commander";
import { usage } from "../../domain/failure.ts";
import type { Command, Given } from "../command/define-command.ts";
import { type Flag, flagName, type TypedFlags } from "../command/flag.ts";
import type { Entry } from "../command/table.ts";
import { globalFlags } from "./globals.ts";

/** The parsed command line. */
export type Invocation =
  | { kind: "run"; command: Command; given: Given; globals: TypedFlags }
  /** Help for a command, a group or a topic; an empty path is lenden itself. */
  | { kind: "help"; path: string; globals: TypedFlags }
  | { kind: "version" };

/** The group or command that commander reached, and the words that it did not use. */
export interface Reached {
  path: string;
  command: Command | undefined;
  own: TypedFlags;
  globals: TypedFlags;
  /** Arguments, and flags that do not exist. */
  args: string[];
}

/**
 * Finds the command and splits the line into flags and arguments. Values are still text: the command
 * reads them, so that all problems are reported together.
 *
 * @throws Failure `usage` for an unknown command, with a suggestion
 */
export async function parseArgv(argv: string[], entries: readonly Entry[]): Promise<Invocation> {
  const end = argv.indexOf("--");
  const [options, operands] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
  const { reached, awaited } = await reachWhole(options, entries);
  const valueless = awaited === undefined ? undefined : flagName({ usage: awaited });
  const problems = valueless === undefined ? [] : [`Missing value for ${valueless}.`];
  const { path, command, args, globals } = reached;
  const [first, ...others] = args;
  if (globals.has("version")) return { kind: "version" };
  if (path === "" && first === "help") return { kind: "help", path: others.join(" "), globals };
  const isMistyped = !command && first !== undefined && !first.startsWith("-");
  if (globals.has("help") && !isMistyped) return { kind: "help", path, globals };
  if (command) {
    const { known, unknown } = withoutUnknown(args);
    const suggested =
      unknown.length === 0
        ? []
        : (await import("./suggest.ts")).unknownFlags(unknown, command.flags);
    const given = {
      name: path,
      flags: reached.own,
      arguments: [...known, ...operands],
      problems: [...problems, ...suggested],
      valueless,
      argv,
    };
    return { kind: "run", command, given, globals };
  }
  if (problems.length > 0) throw usage(problems);
  if (first === undefined && operands.length === 0) return { kind: "help", path, globals };
  const { unknownCommand } = await import("./suggest.ts");
  throw await unknownCommand(path, [...args, ...operands], entries);
}

/** @returns also the usage of a last flag that lacks its value: one problem among others, not the only one */
export async function reachWhole(argv: string[], entries: readonly Entry[]) {
  try {
    return { reached: await reach(argv, entries), awaited: undefined };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code !== "commander.optionMissingArgument") throw usage([error.message]);
    const awaited = /'([^']+)'/.exec(error.message)?.[1] ?? "the last flag";
    return { reached: await reach(argv.slice(0, -1), entries), awaited };
  }
}

/**
 * Lets commander split the line, over a tree of all groups and commands. Each level reads its own
 * words: with the global flags on the root alone, `--note --yes` would skip a confirmation. Unknown
 * flags and errors are worded by us, because commander repeats what was typed.
 */
async function reach(argv: string[], entries: readonly Entry[]): Promise<Reached> {
  const globals: TypedFlags = new Map();
  let reached: Reached = { path: "", command: undefined, own: new Map(), globals, args: [] };
  const root = new Commander("lenden")
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} })
    .helpOption(false)
    .helpCommand(false)
    .allowExcessArguments()
    .enablePositionalOptions();
  const nodes = new Map([["", root]]);
  const entryOf = new Map<Commander, Entry>();

  const prepare = async (node: Commander): Promise<void> => {
    const entry = entryOf.get(node);
    const command = await entry?.load?.();
    const own: TypedFlags = new Map();
    for (const [name, flag] of Object.entries<Flag>(globalFlags))
      collect(node, flag, name, globals);
    for (const [name, flag] of Object.entries(command?.flags ?? {}))
      collect(node, flag, flag.sameAs ?? name, flag.sameAs ? globals : own);
    node
      .allowUnknownOption()
      .hook("preSubcommand", (_, below) => prepare(below))
      .action(() => {
        reached = { path: entry?.name ?? "", command, own, globals, args: node.args };
      });
  };

  for (const entry of entries) {
    const words = entry.name.split(" ");
    const group = words.slice(0, -1);
    // Only what can be reached: to create all of them takes a millisecond.
    if (!group.every((word) => argv.includes(word))) continue;
    const node = nodes.get(group.join(" "))?.command(words.at(-1) ?? "");
    if (!node) continue;
    nodes.set(entry.name, node);
    entryOf.set(node, entry);
  }
  await prepare(root);
  await root.parseAsync(argv, { from: "user" });
  return reached;
}

/**
 * Collects every occurrence by commander's events: `--input` and `--no-input` would share one value,
 * and of two occurrences the last would win without a word.
 */
function collect(node: Commander, { usage, about }: Flag, name: string, into: TypedFlags): void {
  const option = node.createOption(usage, about);
  node.addOption(option);
  node.on(`option:${option.name()}`, (text?: string | null) => {
    into.set(name, [...(into.get(name) ?? []), ...(typeof text === "string" ? [text] : [])]);
  });
}

/** Unknown flags, each with the value that seems to belong to it. A negative number is a value. */
export function withoutUnknown(args: string[]): { unknown: string[]; known: string[] } {
  const isFlag = (text = "") => /^-[^\d.]/.test(text);
  const known = args.filter((text, index) => {
    const before = args[index - 1];
    return !isFlag(text) && !(isFlag(before) && !before?.includes("="));
  });
  return { unknown: args.filter(isFlag), known };
}
