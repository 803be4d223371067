import { type Entry, entries, entriesBelow } from "../../commands/index.ts";
import type { Host } from "../../platform/host.ts";
import { globalFlags } from "../args/globals.ts";
import type { Command } from "../command/define-command.ts";
import type { Argument, Flag, Named } from "../command/flag.ts";
import { topics } from "../help/topics.ts";
import type { Chosen, Completion } from "./known-values.ts";

/**
 * Requests to the shell: complete a file, a CSV file, or the command line of another program after the
 * first `--`.
 */
const byShell = { file: ":file", "csv-file": ":csv", program: ":program" };

/**
 * Answers Tab for the scripts in completions/: `lenden __complete --typed=<text> [<word>...]`, the words
 * being those before the cursor. Prints one completion per line, a tab before what it means, or a line
 * that begins with a colon (`byShell`). Reads this machine only: no request, no API key, no keychain.
 */
export async function complete([typed = "", ...words]: string[], host: Host): Promise<string> {
  const completions = await completionsOf(words, typed.replace(/^--typed=/, ""), host);
  return completions.map(({ text, about }) => `${text}\t${about}\n`).join("");
}

async function completionsOf(words: string[], typed: string, host: Host): Promise<Completion[]> {
  const line = await readLine(words);
  const { command, awaited } = line;
  const values = async (of: Argument | Flag | undefined, before = ""): Promise<Completion[]> => {
    if (!of) return [];
    const found = await valuesOf(of, typed.slice(before.length), line, host);
    return found.map(({ text, about }) => ({
      text: isByShell(text) ? text : before + text,
      about,
    }));
  };
  const offered = async (): Promise<Completion[]> => {
    if (line.isOver) return takesProgram(command) ? [{ text: byShell.program, about: "" }] : [];
    if (awaited) return values(awaited);
    const [name = ""] = typed.split("=", 1);
    if (typed.startsWith("--") && typed.includes("="))
      return values(flagNamed(name, command), `${name}=`);
    if (typed.startsWith("-")) return openFlags(line);
    const below = line.position === 0 ? entriesBelow(line.path) : [];
    if (line.isHelp || below.length > 0) return members(below, line);
    const argument = Object.values(command?.arguments ?? {})[line.position];
    if (argument && argument.presence !== "rest") return values(argument);
    return typed === "" ? openFlags(line) : [];
  };
  const fitting = (await offered()).filter(({ text }) => isByShell(text) || text.startsWith(typed));
  return [...new Map(fitting.map((one) => [one.text, one])).values()];
}

/** The words before the cursor, parsed. */
interface Line {
  path: string;
  command: Command | undefined;
  isHelp: boolean;
  /** The number of arguments before the cursor. */
  position: number;
  given: string[];
  /** A flag whose value comes next. */
  awaited: Flag | undefined;
  chosen: Chosen;
  /** After `--`. */
  isOver: boolean;
}

async function readLine(words: string[]): Promise<Line> {
  const line: Line = {
    ...{ path: "", command: undefined, isHelp: false, position: 0 },
    ...{ given: [], awaited: undefined, chosen: {}, isOver: false },
  };
  for (const word of words) {
    const [name = "", value] = /^--[^=]+=/.test(word) ? word.split(/=(.*)/s) : [word];
    if (line.awaited) choose(line, line.awaited, word);
    else if (word === "--") return { ...line, isOver: true };
    else if (word.startsWith("-")) give(line, name, value);
    else if (word === "help" && line.path === "" && !line.isHelp) line.isHelp = true;
    else await follow(line, word);
  }
  return line;
}

function give(line: Line, name: string, value: string | undefined): void {
  const flag = flagNamed(name, line.command);
  line.given.push(name);
  if (flag && value !== undefined) choose(line, flag, value);
  else line.awaited = flag?.presence === "switch" ? undefined : flag;
}

/** These two flags decide whose values are offered. */
function choose(line: Line, flag: Flag, value: string): void {
  if (flag === globalFlags.profile) line.chosen.profile = value;
  if (flag === globalFlags.baseUrl) line.chosen.baseUrl = value;
  line.awaited = undefined;
}

async function follow(line: Line, word: string): Promise<void> {
  const name = line.path === "" ? word : `${line.path} ${word}`;
  const entry = line.position === 0 ? entries.find((one) => one.name === name) : undefined;
  if (!entry) {
    line.position += 1;
    return;
  }
  line.path = name;
  line.command = line.isHelp ? undefined : await entry.load?.();
}

function members(below: Entry[], { path, isHelp }: Line): Completion[] {
  const commands = below.map(({ name, summary }) => ({
    text: name.split(" ").at(-1) ?? "",
    about: summary,
  }));
  if (path !== "") return commands;
  return isHelp
    ? [...commands, ...topics.map(({ name, summary }) => ({ text: name, about: summary }))]
    : [...commands, { text: "help", about: "Show the help of a command or a topic" }];
}

function flagsOf(command: Command | undefined): Flag[] {
  return [...Object.values(command?.flags ?? {}), ...Object.values(globalFlags)];
}

function flagNamed(name: string, command: Command | undefined): Flag | undefined {
  return flagsOf(command).find((flag) => namesOf(flag).includes(name));
}

function namesOf({ usage }: Flag): string[] {
  return usage.match(/(?<![\w-])--?[a-z][a-z0-9-]*/g) ?? [];
}

/** Flags that were not given yet, or are repeatable. */
function openFlags({ isHelp, command, given }: Line): Completion[] {
  if (isHelp) return [];
  return flagsOf(command)
    .filter(
      (flag) => flag.presence === "many" || !namesOf(flag).some((name) => given.includes(name)),
    )
    .flatMap((flag) => namesOf(flag).map((text) => ({ text, about: flag.about })));
}

function takesProgram(command: Command | undefined): boolean {
  return Object.values(command?.arguments ?? {}).some(({ presence }) => presence === "rest");
}

async function valuesOf(
  { read, names }: { read: Flag["read"]; names?: Named },
  typed: string,
  { chosen }: Line,
  host: Host,
): Promise<Completion[]> {
  const words = (read.words ?? []).map((text) => ({ text, about: "" }));
  if (names === undefined) return words;
  if (names === "file" || names === "csv-file") return [{ text: byShell[names], about: "" }];
  const { knownValues } = await import("./known-values.ts");
  const known = await knownValues(names, typed, chosen, host);
  const isFile = names === "batch" && !known.some(({ text }) => text.startsWith(typed));
  return [...words, ...known, ...(isFile ? [{ text: byShell["csv-file"], about: "" }] : [])];
}

function isByShell(text: string): boolean {
  return text.startsWith(":");
}
