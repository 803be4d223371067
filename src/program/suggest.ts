import { type Failure, usage } from "../failure.ts";
import type { Command } from "../frame/command.ts";
import { flagName } from "../frame/flag.ts";
import { nearest } from "../nearest.ts";
import { globalFlags } from "./globals.ts";
import { topics } from "./help/topics.ts";
import { childrenOf } from "./help/tree.ts";
import { otherFlags, otherWords, secretFlags } from "./other-words.ts";

/**
 * The failure of a command that there is not, `words` being what follows the group. What was typed
 * is only repeated if it is a plain word.
 */
export function unknownCommand(path: string, words: string[], commands: Command[]): Failure {
  const where = path === "" ? "lenden" : `lenden ${path}`;
  const [typed = ""] = words;
  const meant = meantLines(path, words, commands);
  return usage(
    [`${where} has no command ${shown(typed)}.`],
    meant.length > 0 ? question(meant) : `See '${where} --help' for what there is.`,
  );
}

/** The failure of help on something that there is not: neither a command nor a topic. */
export function unknownHelp(words: string[], commands: Command[]): Failure {
  const [group, rest] = split(words, commands);
  const where = group === "" ? "lenden" : `lenden ${group}`;
  const topic = group === "" && nearestTopic(words.join("-"));
  const meant = topic ? [topic] : meantPaths(group, rest, commands);
  return usage(
    [`${where} has no command ${group === "" ? "or topic " : ""}${shown(rest[0] ?? "")}.`],
    meant.length > 0
      ? question(meant.map((one) => `lenden help ${one}`))
      : "See 'lenden --help' for what there is.",
  );
}

/** One sentence for each unknown flag. Its value is never repeated: it may be a secret. */
export function unknownFlags(typed: string[], command: Command): string[] {
  const own = Object.values(command.flags).map(flagName);
  const all = [...own, ...Object.values(globalFlags).map(flagName)];
  return typed.map((text) => {
    const name = text.split("=")[0] ?? text;
    const bare = name.replace(/^-+/, "");
    const meant = all.find((flag) => isOtherName(bare, flag)) ?? nearest(name, all);
    if (!meant && secretFlags.includes(bare.toLowerCase()))
      return `There is no flag ${shown(name)}: no flag takes a key or a secret. Set LENDEN_API_KEY and LENDEN_PAYOUT_SECRET, or run 'lenden profile add'.`;
    return `There is no flag ${shown(name)}${meant ? `; did you mean ${meant}?` : "."}`;
  });
}

function isOtherName(bare: string, flag: string): boolean {
  return otherFlags[flag.slice(2)]?.includes(bare) === true;
}

/** Whole command lines that were probably meant: a command, a topic, or a global flag. */
function meantLines(path: string, words: string[], commands: Command[]): string[] {
  const [typed = ""] = words;
  const meant = meantPaths(path, words, commands);
  if (meant.length > 0) return meant.map((one) => `lenden ${one}`);
  if (path !== "") return [];
  const flag = Object.values(globalFlags)
    .map(flagName)
    .find((name) => name === `--${typed}`);
  if (flag) return [`lenden ${flag}`];
  const topic = nearestTopic(typed);
  return topic ? [`lenden help ${topic}`] : [];
}

const mostShown = 3;

/** Commands and groups that were probably meant: one below the path, else some that are elsewhere. */
function meantPaths(path: string, words: string[], commands: Command[]): string[] {
  const here = below(path, words, commands);
  if (here !== path) return [here];
  const [typed = "", ...rest] = words;
  const names = allNames(commands);
  const same = names.filter((name) => last(name) === typed.toLowerCase());
  const others = names.filter((name) => isOtherWord(typed, last(name)));
  return (same.length > 0 ? same : others)
    .slice(0, mostShown)
    .map((name) => below(name, rest, commands));
}

/** Follows what was typed down the tree of commands, as far as it can be understood. */
function below(path: string, [typed, ...rest]: string[], commands: Command[]): string {
  if (typed === undefined) return path;
  const children = childrenOf(path, commands);
  const near = nearest(typed, children.map(last));
  const child =
    children.find((name) => last(name) === typed) ??
    children.find((name) => isOtherWord(typed, last(name))) ??
    children.find((name) => last(name) === near);
  if (child === undefined) return path;
  if (rest.length > 0) return below(child, rest, commands);
  // A word such as `login` says both what it is about and what to do with it.
  return childrenOf(child, commands).find((name) => isOtherWord(typed, last(name))) ?? child;
}

/** Every command and every group, those with few words first. */
function allNames(commands: Command[]): string[] {
  const names = commands.flatMap(({ name }) => {
    const words = name.split(" ");
    return words.map((_, index) => words.slice(0, index + 1).join(" "));
  });
  const depth = (name: string) => name.split(" ").length;
  return [...new Set(names)].sort((one, other) => depth(one) - depth(other));
}

function last(name: string): string {
  return name.split(" ").at(-1) ?? "";
}

function isOtherWord(typed: string, word: string): boolean {
  return (
    Object.hasOwn(otherWords, word) && otherWords[word]?.includes(typed.toLowerCase()) === true
  );
}

/** The group that the first words name, and what follows it. */
function split(words: string[], commands: Command[]): [group: string, rest: string[]] {
  const lengths = words.map((_, index) => index).reverse();
  const length =
    lengths.find((count) => childrenOf(words.slice(0, count).join(" "), commands).length > 0) ?? 0;
  return [words.slice(0, length).join(" "), words.slice(length)];
}

function nearestTopic(typed: string): string | undefined {
  return nearest(
    typed,
    topics.map(({ name }) => name),
  );
}

function question(lines: string[]): string {
  return `Did you mean ${lines.map((line) => `'${line}'`).join(" or ")}?`;
}

/** Letters and hyphens, and not many: what a mistyped word looks like, and a secret does not. */
function shown(text: string): string {
  const isWord = /^(?:--)?[a-z]+(?:-[a-z]+)*$/i.test(text) && text.length <= 20;
  return isWord || /^-[a-z]$/i.test(text) ? `'${text}'` : "of that name";
}
