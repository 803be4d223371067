import { Command as Commander, CommanderError } from "commander";
import { usage } from "../../domain/failure.ts";
import type { Command } from "../command/define-command.ts";
import type { Flag } from "../command/flag.ts";
import type { Given } from "../command/input.ts";
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
  const { chosen, problems } = chooseWhole(options, commands);
  const { globals } = chosen.typed;
  const [first, ...others] = chosen.args;
  if (globals.has("version")) return { kind: "version" };
  if (chosen.path === "" && first === "help")
    return { kind: "help", path: others.join(" "), globals };
  const isMistyped = !chosen.command && first !== undefined && !first.startsWith("-");
  if (globals.has("help") && !isMistyped) return { kind: "help", path: chosen.path, globals };
  if (chosen.command) return invocation(chosen.command, chosen, { argv, operands, problems });
  if (first === undefined && operands.length === 0)
    return { kind: "help", path: chosen.path, globals };
  const { unknownCommand } = await import("./suggest.ts");
  throw unknownCommand(chosen.path, [...chosen.args, ...operands], commands);
}

interface Chosen {
  /** What is left of the line: arguments, and flags that nobody knows. */
  args: string[];
  typed: Typed;
  path: string;
  command: Command | undefined;
}

/**
 * Lets commander take the options apart, over a tree of groups and commands: those whose words stand
 * on the line, for no other can be chosen, and a tree of all of them takes ten milliseconds to make.
 */
function choose(argv: string[], commands: Command[]): Chosen {
  let chosen: Chosen | undefined;
  const root = new Commander("lenden");
  const rootTyped = prepare(root, {}, undefined, (typed) => {
    chosen = { args: root.args, typed, path: "", command: undefined };
  });
  const groups = new Map([["", { node: root, typed: rootTyped }]]);
  const isTyped = (word: string) => argv.includes(word);
  for (const command of commands) {
    const words = command.name.split(" ");
    const above = words.slice(0, -1);
    if (!above.every(isTyped)) continue;
    const group = groupOf(above);
    if (!words.every(isTyped)) continue;
    const leaf = group.node.command(words.at(-1) ?? "");
    prepare(leaf, command.flags, group.typed, (typed) => {
      chosen = { args: leaf.args, typed, path: command.name, command };
    });
  }
  root.parse(argv, { from: "user" });
  return chosen ?? { args: [], typed: rootTyped, path: "", command: undefined };

  function groupOf(words: string[]): { node: Commander; typed: Typed } {
    const path = words.join(" ");
    const known = groups.get(path);
    if (known) return known;
    const parent = groupOf(words.slice(0, -1));
    const node = parent.node.command(words.at(-1) ?? "");
    const typed = prepare(node, {}, parent.typed, (all) => {
      chosen = { args: node.args, typed: all, path, command: undefined };
    });
    const group = { node, typed };
    groups.set(path, group);
    return group;
  }
}

/** Every occurrence of every flag, by its name in the code; a switch has no text. */
interface Typed {
  own: Map<string, string[]>;
  globals: Map<string, string[]>;
}

/**
 * Commander only takes the line apart here: help, errors and unknown flags are ours, so that
 * nothing is echoed. Global options stand on every level, and each level reads its own part of the
 * line, so that a value which looks like a global option stays a value. Occurrences are collected
 * by commander's events: `--input` and `--no-input` would share one of its values, and of two
 * occurrences the last would win in silence.
 */
function prepare(
  node: Commander,
  flags: Record<string, Flag>,
  parent: Typed | undefined,
  onAction: (typed: Typed) => void,
): Typed {
  const typed: Typed = { own: new Map(), globals: parent?.globals ?? new Map() };
  node
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} })
    .helpOption(false)
    .helpCommand(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .enablePositionalOptions()
    .action(() => onAction(typed));
  for (const [name, one] of Object.entries(globalFlags)) listen(node, one, name, typed.globals);
  for (const [name, one] of Object.entries<Flag>(flags)) {
    if (one.sameAs) listen(node, one, one.sameAs, typed.globals);
    else listen(node, one, name, typed.own);
  }
  return typed;
}

function listen(
  node: Commander,
  { usage: written, about }: Pick<Flag, "usage" | "about">,
  name: string,
  into: Map<string, string[]>,
): void {
  const option = node.createOption(written, about);
  node.addOption(option);
  node.on(`option:${option.name()}`, (text?: string | null) => {
    into.set(name, [...(into.get(name) ?? []), ...(typeof text === "string" ? [text] : [])]);
  });
}

/** A last flag that lacks its value is one problem among others, not the only one. */
function chooseWhole(argv: string[], commands: Command[]): { chosen: Chosen; problems: string[] } {
  try {
    return { chosen: choose(argv, commands), problems: [] };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const problems = [`${error.message.replace(/^error: o/, "O")}.`];
    if (error.code !== "commander.optionMissingArgument") throw usage(problems);
    return { chosen: choose(argv.slice(0, -1), commands), problems };
  }
}

async function invocation(
  command: Command,
  { args, typed }: Chosen,
  { argv, operands, problems }: Record<"argv" | "operands" | "problems", string[]>,
): Promise<Invocation> {
  const { unknown, known } = withoutUnknown(args);
  const more =
    unknown.length === 0 ? [] : (await import("./suggest.ts")).unknownFlags(unknown, command.flags);
  const given = {
    flags: typed.own,
    arguments: [...known, ...operands],
    problems: [...problems, ...more],
    argv,
  };
  return { kind: "run", command, given, globals: typed.globals };
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
