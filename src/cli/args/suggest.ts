import { type Failure, usage } from "../../domain/failure.ts";
import { nearest } from "../../domain/nearest.ts";
import type { Command } from "../command/define-command.ts";
import { flagName } from "../command/flag.ts";
import { topics } from "../help/topics.ts";
import { globalFlags } from "./globals.ts";
import { meantPaths } from "./meant.ts";
import { namesSecret, otherFlags } from "./other-words.ts";

/**
 * The failure of a command that there is not, `words` being what follows the group. What was typed
 * is only repeated if it is a plain word.
 */
export function unknownCommand(path: string, words: string[], commands: Command[]): Failure {
  const where = path === "" ? "lenden" : `lenden ${path}`;
  const [typed = ""] = words;
  const help = `See '${where} --help' for what there is.`;
  if (typed.startsWith("-")) return usage(flagBefore(typed, commands), help);
  const meant = meantLines(path, words, commands);
  return usage(
    [`${where} has no command ${shown(typed)}.`],
    meant.length > 0 ? question(meant) : help,
  );
}

/** A flag that stands where the command should. */
function flagBefore(typed: string, commands: Command[]): string[] {
  const name = typed.split("=")[0] ?? typed;
  const isOfCommands = commands
    .flatMap(({ flags }) => Object.values(flags))
    .some((one) => flagName(one) === name);
  return isOfCommands
    ? [`${name} is a flag of a command, and stands after it.`]
    : unknownFlags([typed], {});
}

/** The failure of help on something that there is not: neither a command nor a topic. */
export function unknownHelp(words: string[], commands: Command[]): Failure {
  const topic = nearestTopic(words.join("-"));
  const meant = topic ? [topic] : meantPaths("", words, commands);
  return usage(
    [`There is no command or topic ${shown(...words)}.`],
    meant.length > 0
      ? question(meant.map((one) => `lenden help ${one}`))
      : "See 'lenden --help' and 'lenden help topics' for what there is.",
  );
}

/** One sentence for each unknown flag. Its value is never repeated: it may be a secret. */
export function unknownFlags(typed: string[], flags: Command["flags"]): string[] {
  const own = Object.values(flags).map(flagName);
  const all = [...own, ...Object.values(globalFlags).map(flagName)];
  return typed.map((text) => {
    const name = text.split("=")[0] ?? text;
    const bare = name.replace(/^-+/, "");
    if (text !== name && all.includes(name)) return `${name} takes no value.`;
    // Before any near miss: whoever follows one puts the secret into another field.
    if (namesSecret(bare))
      return `There is no flag ${shown(name)}: no flag takes a secret. Store it with 'lenden profile add'.`;
    const meant = all.find((flag) => isOtherName(bare, flag)) ?? nearest(name, all);
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
function shown(...words: string[]): string {
  const isWord = (text: string) => /^(?:--)?[a-z]+(?:-[a-z]+)*$|^-[a-z]$/i.test(text);
  const text = words.join(" ");
  return words.every(isWord) && text.length <= 20 ? `'${text}'` : "of that name";
}
