import { Command as Commander, CommanderError } from "commander";
import { usage } from "../failure.ts";
import type { Command } from "../frame/command.ts";
import { type Flag, flagName } from "../frame/flag.ts";
import type { Given } from "../frame/input.ts";
import { globalFlags } from "./globals.ts";

/** What the command line asks for. */
export type Invocation =
  | { kind: "run"; command: Command; given: Given; globals: Map<string, string[]> }
  /** Help for a command or a group of commands; an empty path is lenden itself. */
  | { kind: "help"; path: string; globals: Map<string, string[]> }
  | { kind: "version" };

/**
 * Finds the command and takes the line apart. Values are still text: reading them, and saying what
 * is wrong with them, is the command's own business.
 *
 * @throws Failure `usage` for a command that there is not, with what was probably meant
 */
export async function readArgv(argv: string[], commands: Command[]): Promise<Invocation> {
  const end = argv.indexOf("--");
  const [options, operands] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
  const chosen = choose(options, commands);
  const globals = valuesOf(chosen.node, globalFlags);
  const [first, ...others] = chosen.node.args;
  if (globals.has("version")) return { kind: "version" };
  if (chosen.path === "" && first === "help")
    return { kind: "help", path: others.join(" "), globals };
  if (globals.has("help")) return { kind: "help", path: chosen.path, globals };
  if (chosen.command) return invocation(chosen.command, chosen.node, operands, globals);
  if (first === undefined) return { kind: "help", path: chosen.path, globals };
  const { unknownCommand } = await import("./suggest.ts");
  throw unknownCommand(chosen.path, first, commands);
}

interface Chosen {
  node: Commander;
  path: string;
  command: Command | undefined;
}

/** Lets commander take the options apart, over a tree of groups and commands. */
function choose(argv: string[], commands: Command[]): Chosen {
  let chosen: Chosen | undefined;
  const root = prepare(new Commander("lenden"), (node) => {
    chosen = { node, path: "", command: undefined };
  });
  addOptions(root, globalFlags);
  const groups = new Map<string, Commander>([["", root]]);
  for (const command of commands) {
    const words = command.name.split(" ");
    const leaf = groupOf(words.slice(0, -1)).command(words.at(-1) ?? "");
    addOptions(leaf, command.flags);
    prepare(leaf, (node) => {
      chosen = { node, path: command.name, command };
    });
  }
  try {
    root.parse(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw usage([`${error.message.replace(/^error: /, "")}.`]);
    throw error;
  }
  return chosen ?? { node: root, path: "", command: undefined };

  function groupOf(words: string[]): Commander {
    const path = words.join(" ");
    const known = groups.get(path);
    if (known) return known;
    const group = groupOf(words.slice(0, -1)).command(words.at(-1) ?? "");
    prepare(group, (node) => {
      chosen = { node, path, command: undefined };
    });
    groups.set(path, group);
    return group;
  }
}

/** Commander only parses here: help, errors and unknown flags are ours, so that nothing is echoed. */
function prepare(node: Commander, onAction: (node: Commander) => void): Commander {
  return node
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} })
    .helpOption(false)
    .helpCommand(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => onAction(node));
}

/** Every occurrence is collected: the last one must not win in silence. */
function addOptions(node: Commander, flags: Record<string, Flag>): void {
  for (const one of Object.values(flags)) {
    if (one.presence === "switch") node.option(one.usage, one.about);
    else
      node.option(one.usage, one.about, (text: string, before: string[] = []) => [...before, text]);
  }
}

/** The texts that were typed for each flag; a switch that was given has none. */
function valuesOf(node: Commander, flags: Record<string, Flag>): Map<string, string[]> {
  const typed: Record<string, unknown> = node.optsWithGlobals();
  const values = new Map<string, string[]>();
  for (const [name, one] of Object.entries(flags)) {
    const value = typed[attributeOf(one)];
    if (Array.isArray(value)) values.set(name, value.map(String));
    else if (one.presence === "switch" && value === !isNegated(one)) values.set(name, []);
  }
  return values;
}

/** Commander keeps `--no-input` as `input: false`, and `--base-url` as `baseUrl`. */
function attributeOf(one: Flag): string {
  const name = flagName(one).slice(isNegated(one) ? "--no-".length : "--".length);
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function isNegated(one: Flag): boolean {
  return flagName(one).startsWith("--no-");
}

async function invocation(
  command: Command,
  node: Commander,
  operands: string[],
  globals: Map<string, string[]>,
): Promise<Invocation> {
  const { unknown, known } = withoutUnknown(node.args);
  const problems =
    unknown.length === 0 ? [] : (await import("./suggest.ts")).unknownFlags(unknown, command);
  const given = {
    flags: valuesOf(node, command.flags),
    arguments: [...known, ...operands],
    problems,
  };
  return { kind: "run", command, given, globals };
}

/** What commander did not know: flags, each with the value that seems to belong to it. */
function withoutUnknown(args: string[]): { unknown: string[]; known: string[] } {
  const isFlag = (text: string | undefined) => text !== undefined && /^-./.test(text);
  const unknown = args.filter(isFlag);
  const known = args.filter((text, index) => {
    const before = args[index - 1];
    return !isFlag(text) && !(isFlag(before) && !before?.includes("="));
  });
  return { unknown, known };
}
