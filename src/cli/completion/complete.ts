import type { Host } from "../../platform/host.ts";
import { globalFlags, ownOutputFlag } from "../args/globals.ts";
import { reachWhole, withoutUnknown } from "../args/parse.ts";
import type { Completion } from "../command/candidates.ts";
import type { Command } from "../command/define-command.ts";
import type { Flag } from "../command/flag.ts";
import { type Entry, entriesBelow } from "../command/table.ts";
import { topics } from "../help/topics.ts";

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
export async function complete(
  [typed = "", ...words]: string[],
  host: Host,
  entries: readonly Entry[],
): Promise<string> {
  const completions = await completionsOf(words, typed.replace(/^--typed=/, ""), host, entries);
  return completions.map(({ text, about }) => `${text}\t${about}\n`).join("");
}

async function completionsOf(
  words: string[],
  typed: string,
  host: Host,
  entries: readonly Entry[],
): Promise<Completion[]> {
  const line = await readLine(words, entries);
  const fitting = (await offered(line, typed, host)).filter(
    ({ text }) => isByShell(text) || text.startsWith(typed),
  );
  return [...new Map(fitting.map((one) => [one.text, one])).values()];
}

async function offered(line: Line, typed: string, host: Host): Promise<Completion[]> {
  const { command, awaited } = line;
  const all = Object.values(command?.arguments ?? {});
  if (line.isOver)
    return all.some(({ presence }) => presence === "rest")
      ? [{ text: byShell.program, about: "" }]
      : [];
  if (awaited) return valuesOf(awaited, typed, line, host);
  if (/^--[^=]+=/.test(typed)) {
    const [name = "", value = ""] = typed.split(/=(.*)/s);
    const flag = Object.values(flagsOf(command)).find((one) => namesOf(one).includes(name));
    const values = flag ? await valuesOf(flag, value, line, host) : [];
    return values.map((one) =>
      isByShell(one.text) ? one : { ...one, text: `${name}=${one.text}` },
    );
  }
  if (typed.startsWith("-")) return openFlags(line);
  const below = line.position === 0 ? entriesBelow(line.entries, line.path) : [];
  if (line.isHelp || below.length > 0) return members(below, line);
  const argument = all[line.position] ?? all.find(({ presence }) => presence === "many");
  if (argument && argument.presence !== "rest") return valuesOf(argument, typed, line, host);
  return typed === "" ? openFlags(line) : [];
}

type Line = Awaited<ReturnType<typeof readLine>>;

/** Parses the words before the cursor. */
async function readLine(words: string[], entries: readonly Entry[]) {
  const end = words.indexOf("--");
  const { reached, awaited } = await reachWhole(end < 0 ? words : words.slice(0, end), entries);
  const { command, own, globals } = reached;
  const { known } = withoutUnknown(reached.args);
  const isHelp = reached.path === "" && known[0] === "help";
  return {
    entries,
    path: isHelp ? known.slice(1).join(" ") : reached.path,
    command,
    isHelp,
    /** The number of arguments before the cursor. */
    position: isHelp ? 0 : known.length,
    /** The flags before the cursor, by their names in the code. */
    given: [...own.keys(), ...globals.keys()],
    /** A flag whose value comes next. */
    awaited: Object.values(flagsOf(command)).find(({ usage }) => usage === awaited),
    chosen: { profile: globals.get("profile")?.at(-1), baseUrl: globals.get("baseUrl")?.at(-1) },
    /** After `--`. */
    isOver: end >= 0,
  };
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

function flagsOf(command: Command | undefined): Record<string, Flag> {
  return { ...command?.flags, ...globalFlags, ...ownOutputFlag(command ?? {}) };
}

function namesOf({ usage }: Flag): string[] {
  return usage.match(/(?<![\w-])--?[a-z][a-z0-9-]*/g) ?? [];
}

/** Flags that were not given yet, or are repeatable. */
function openFlags({ isHelp, command, given }: Line): Completion[] {
  if (isHelp) return [];
  return Object.entries(flagsOf(command))
    .filter(([name, flag]) => flag.presence === "many" || !given.includes(name))
    .flatMap(([, flag]) => namesOf(flag).map((text) => ({ text, about: flag.about })));
}

async function valuesOf(
  { read, names, stored }: Pick<Flag, "read" | "names" | "stored">,
  typed: string,
  { chosen }: Line,
  host: Host,
): Promise<Completion[]> {
  const before = read.isList ? typed.slice(0, typed.lastIndexOf(",") + 1) : "";
  const words = firstParts(read.words ?? [], typed.slice(before.length))
    .filter((word) => !before.split(",").includes(word))
    .map((word) => ({ text: `${before}${word}`, about: "" }));
  if (stored) {
    const values = await stored(host.folders).catch(() => []);
    return [...words, ...values.filter(isPlain).map((text) => ({ text, about: "" }))];
  }
  if (names === undefined) return words;
  if (names === "file" || names === "csv-file") return [{ text: byShell[names], about: "" }];
  const { knownValues } = await import("../command/candidates.ts");
  const values = await knownValues(names, typed, chosen, host);
  const known = values.filter(({ text }) => isPlain(text));
  const isFile = names === "batch" && !known.some(({ text }) => text.startsWith(typed));
  return [...words, ...known, ...(isFile ? [{ text: byShell["csv-file"], about: "" }] : [])];
}

/** Of words such as `endpoint:kind`, only the endpoints until one of them is clear: there are many. */
function firstParts(words: readonly string[], typed: string): readonly string[] {
  const fitting = words.filter((word) => word.startsWith(typed));
  const heads = new Set(fitting.map((word) => word.replace(/:.*/, ":")));
  return heads.size > 1 ? [...heads] : fitting;
}

/** Such a value means itself in every shell. ASCII first: V8 needs 4 ms to learn all other letters. */
function isPlain(value: string): boolean {
  if (/^@?\w[\w.:+-]*$/.test(value)) return true;
  return /^@?[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:+-]*$/u.test(value);
}

function isByShell(text: string): boolean {
  return text.startsWith(":");
}
