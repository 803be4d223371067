import { type Entry, entries, entriesBelow, loadCommands } from "../../commands/index.ts";
import { type Failure, usage } from "../../domain/failure.ts";
import { nearest } from "../../domain/nearest.ts";
import { type Flag, flagName } from "../command/flag.ts";
import { topics } from "../help/topics.ts";
import { globalFlags } from "./globals.ts";
import { namesSecret, otherFlags, otherTopics, otherWords } from "./other-words.ts";

/** Repeats a typed word only if it looks like a mistyped one: anything else may be a secret. */
export async function unknownCommand(path: string, words: string[]): Promise<Failure> {
  const where = path === "" ? "lenden" : `lenden ${path}`;
  const [typed = ""] = words;
  const help = `Run '${where} --help' to list its commands.`;
  if (typed.startsWith("-")) return usage(await flagBeforeCommand(typed), help);
  const meant = meantLines(path, words);
  return usage([`Unknown command${shown(typed)}.`], meant.length > 0 ? question(meant) : help);
}

/** The error for help on something that is neither a command nor a topic. */
export function unknownHelp(words: string[]): Failure {
  const topic = meantTopic(words.join("-"));
  const meant = topic ? [topic] : meantPaths("", words);
  return usage(
    [`Unknown command or topic${shown(...words)}.`],
    meant.length > 0
      ? question(meant.map((one) => `lenden help ${one}`))
      : "Run 'lenden --help' or 'lenden help topics' to list them.",
  );
}

/** One sentence for each unknown flag. Its value is never repeated: it may be a secret. */
export function unknownFlags(typed: string[], flags: Record<string, Flag>): string[] {
  const all = [...Object.values(flags), ...Object.values(globalFlags)].map(flagName);
  return typed.map((text) => {
    const name = text.split("=")[0] ?? text;
    const bare = name.replace(/^-+/, "");
    if (text !== name && all.includes(name)) return `${name} takes no value.`;
    // First of all: a near miss would put the secret into another field.
    if (namesSecret(bare))
      return `Unknown flag${shown(name)}: no flag takes a secret. Store it with 'lenden profile add'.`;
    const names = all.map((flag) => flag.slice(2));
    const meant =
      names.find((flag) => otherFlags[flag]?.includes(bare)) ??
      (name.startsWith("--") ? nearest(bare, names) : undefined);
    return `Unknown flag${shown(name)}.${meant ? ` Did you mean --${meant}?` : ""}`;
  });
}

async function flagBeforeCommand(typed: string): Promise<string[]> {
  const name = typed.split("=")[0] ?? typed;
  const flags = (await loadCommands()).flatMap((command) => Object.values(command.flags));
  return flags.some((one) => flagName(one) === name)
    ? [`${name} is a flag of a command: put it after the command.`]
    : unknownFlags([typed], {});
}

/** Whole command lines that were probably meant: commands, a topic, or a global flag. */
function meantLines(path: string, words: string[]): string[] {
  const [typed = ""] = words;
  const meant = meantPaths(path, words);
  if (meant.length > 0) return meant.map((one) => `lenden ${one}`);
  if (path !== "") return [];
  const flag = Object.values(globalFlags)
    .map(flagName)
    .find((name) => name === `--${typed}`);
  const topic = flag ? undefined : meantTopic(typed);
  if (topic) return [`lenden help ${topic}`];
  return flag ? [`lenden ${flag}`] : [];
}

const mostShown = 3;

/** In a group only its own commands are meant: `payout cancel` has nothing to do with `refund cancel`. */
function meantPaths(path: string, words: string[]): string[] {
  const here = follow(path, words);
  if (here !== path) return [here];
  if (path !== "") return [];
  const [typed = "", ...rest] = words;
  const same = entries.filter((one) => lastWord(one) === typed.toLowerCase());
  const others = entries.filter((one) => isOtherWord(typed, one));
  return (same.length > 0 ? same : others)
    .sort((one, other) => one.name.split(" ").length - other.name.split(" ").length)
    .slice(0, mostShown)
    .map(({ name }) => follow(name, rest));
}

/** Follows what was typed down the groups, as far as it can be understood. */
function follow(path: string, [typed, ...rest]: string[]): string {
  if (typed === undefined) return path;
  const below = entriesBelow(path);
  const near = nearest(typed, below.map(lastWord));
  const found =
    below.find((one) => lastWord(one) === typed) ??
    below.find((one) => isOtherWord(typed, one)) ??
    below.find((one) => lastWord(one) === near);
  if (!found) return path;
  if (rest.length > 0) return follow(found.name, rest);
  // A word such as `login` names both the group and the command in it.
  return entriesBelow(found.name).find((one) => isOtherWord(typed, one))?.name ?? found.name;
}

function lastWord({ name }: Entry): string {
  return name.split(" ").at(-1) ?? "";
}

function isOtherWord(typed: string, entry: Entry): boolean {
  return otherWords[lastWord(entry)]?.includes(typed.toLowerCase()) === true;
}

function meantTopic(typed: string): string | undefined {
  const names = topics.map(({ name }) => name);
  return names.find((name) => otherTopics[name]?.includes(typed)) ?? nearest(typed, names);
}

function question(lines: string[]): string {
  return `Did you mean ${lines.map((line) => `'${line}'`).join(" or ")}?`;
}

/** A few letters and hyphens: what a mistyped word looks like, and a secret does not. */
function shown(...words: string[]): string {
  const isWord = (text: string) => /^(?:--)?[a-z]+(?:-[a-z]+)*$|^-[a-z]$/i.test(text);
  const text = words.join(" ");
  return words.every(isWord) && text.length <= 20 ? ` '${text}'` : "";
}
