import { distance } from "fastest-levenshtein";
import { type Failure, usage } from "../../domain/failure.ts";
import { nearest } from "../../domain/nearest.ts";
import { type Flag, flagName } from "../command/flag.ts";
import { type Entry, entriesBelow, loadCommands } from "../command/table.ts";
import { topics } from "../help/topics.ts";
import { plainWords, wordsOrWhy } from "../output/terminal-text.ts";
import { globalFlags } from "./globals.ts";

/*
 * commander suggests on one level only, from all of `--flag=value`, and repeats what was typed, which may be
 * a secret. Here a typed word is repeated only if it looks like a mistyped one.
 */

export async function unknownCommand(
  path: string,
  words: string[],
  entries: readonly Entry[],
): Promise<Failure> {
  const [typed = ""] = words;
  const help = `Run '${path === "" ? "lenden" : `lenden ${path}`} --help' to list the commands.`;
  if (typed.startsWith("-")) return usage(await flagBeforeCommand(typed, entries), help);
  const meant = meantPaths(path, words, entries).map((one) => `lenden ${one}`);
  if (path === "" && meant.length === 0) {
    const topic = meantTopic(typed);
    if (Object.hasOwn(globalFlags, typed)) meant.push(`lenden --${typed}`);
    else if (topic) meant.push(`lenden help ${topic}`);
  }
  return usage([`Unknown command${wordsOrWhy(typed)}.`], meant.length > 0 ? question(meant) : help);
}

/** The error for help on something that is neither a command nor a topic. */
export function unknownHelp(words: string[], entries: readonly Entry[]): Failure {
  if (words[0] === "json") {
    const command = words.slice(1).join(" ");
    const shown = entries.some(({ name }) => name === command) ? ` '${command}'` : undefined;
    return usage(
      [`There is no JSON Schema of${shown ?? wordsOrWhy(...words.slice(1))}.`],
      "Name a command, not a group. 'lenden help json' shows which commands have none.",
    );
  }
  const topic = meantTopic(words.join("-"));
  const meant = topic ? [topic] : meantPaths("", words, entries);
  return usage(
    [`Unknown command or topic${wordsOrWhy(...words)}.`],
    meant.length > 0
      ? question(meant.map((one) => `lenden help ${one}`))
      : "Run 'lenden --help' or 'lenden help topics' to list them.",
  );
}

/** One sentence for each unknown flag. */
export function unknownFlags(typed: string[], flags: Record<string, Flag>): string[] {
  const all = [...Object.values(flags), ...Object.values(globalFlags)].map(flagName);
  return typed.map((text) => {
    const name = text.split("=")[0] ?? text;
    const bare = name.replace(/^-+/, "");
    if (text !== name && all.includes(name)) return `${name} takes no value.`;
    // First of all: a near miss would put the secret into another field.
    if (namesSecret(bare))
      return `Unknown flag${plainWords(name)}: no flag takes a secret. 'lenden profile add' reads it from a prompt, a file or standard input.`;
    // Another list has it.
    if ("limit" in flags && listFilters.includes(bare)) {
      const own = Object.values(flags).map(flagName).join(", ");
      return `This list has no filter ${name}. Its flags are ${own}.`;
    }
    const names = all.map((flag) => flag.slice(2));
    const meant =
      names.find((flag) => otherFlags[flag]?.split(" ").includes(bare)) ??
      (name.startsWith("--") ? nearest(bare, names) : undefined);
    return `Unknown flag${wordsOrWhy(name)}.${meant ? ` Did you mean --${meant}?` : ""}`;
  });
}

const listFilters = ["status", "method", "to", "ref", "batch", "min", "max"];

async function flagBeforeCommand(typed: string, entries: readonly Entry[]): Promise<string[]> {
  const name = typed.split("=")[0] ?? typed;
  const flags = (await loadCommands(entries)).flatMap((command) => Object.values(command.flags));
  return flags.some((one) => flagName(one) === name)
    ? [`${name} must come after the command.`]
    : unknownFlags([typed], {});
}

/** Flags that take a secret in other tools, without hyphens; here no flag does. */
const secretFlags =
  "key apikey xapikey accesskey secretkey privatekey token apitoken accesstoken authtoken bearer secret secrets apisecret clientsecret payoutsecret password passwd passphrase auth authorization credential credentials";

/** True if a flag's name suggests that its value is a secret; a long name may be mistyped. */
function namesSecret(bare: string): boolean {
  const name = bare.toLowerCase().replace(/[-_]/g, "");
  const most = name.length < 5 ? 0 : name.length < 6 ? 1 : 2;
  return secretFlags.split(" ").some((one) => one === name || distance(one, name) <= most);
}

const mostShown = 3;

/** In a group only its own commands are meant: `payout cancel` has nothing to do with `refund cancel`. */
function meantPaths(path: string, words: string[], entries: readonly Entry[]): string[] {
  const here = follow(path, words, entries);
  if (here !== path) return [here];
  if (path !== "") return [];
  const [typed = "", ...rest] = words;
  const same = entries.filter((one) => lastWord(one) === typed.toLowerCase());
  const others = entries.filter((one) => isOtherWord(typed, one));
  return (same.length > 0 ? same : others)
    .sort((one, other) => one.name.split(" ").length - other.name.split(" ").length)
    .slice(0, mostShown)
    .map(({ name }) => follow(name, rest, entries));
}

/** Follows what was typed down the groups, as far as it can be understood. */
function follow(path: string, [typed, ...rest]: string[], entries: readonly Entry[]): string {
  if (typed === undefined) return path;
  const below = entriesBelow(entries, path);
  const near = nearest(typed, below.map(lastWord));
  const found =
    below.find((one) => lastWord(one) === typed) ??
    below.find((one) => isOtherWord(typed, one)) ??
    below.find((one) => lastWord(one) === near);
  if (!found) return path;
  if (rest.length > 0) return follow(found.name, rest, entries);
  // A word such as `login` names both the group and the command in it.
  return (
    entriesBelow(entries, found.name).find((one) => isOtherWord(typed, one))?.name ?? found.name
  );
}

function lastWord({ name }: Entry): string {
  return name.split(" ").at(-1) ?? "";
}

function isOtherWord(typed: string, entry: Entry): boolean {
  return otherWords[lastWord(entry)]?.split(" ").includes(typed.toLowerCase()) === true;
}

function meantTopic(typed: string): string | undefined {
  return nearest(
    typed,
    topics.map(({ name }) => name),
  );
}

function question(lines: string[]): string {
  return `Did you mean ${lines.map((line) => `'${line}'`).join(" or ")}?`;
}

/** Names of commands in other tools, by the name here. They run nothing and only lead to suggestions. */
export const otherWords: Record<string, string> = {
  pay: "payment payments",
  payout: "transfer",
  batch: "payroll",
  profile: "login config",
  callback: "webhook webhooks",
  send: "create",
  get: "retrieve",
  list: "ls",
  add: "login",
  remove: "delete",
};

/** Names of flags in other tools, without hyphens. None leads to --again, which may pay twice. */
export const otherFlags: Record<string, string> = {
  to: "recipient phone",
  payer: "phone",
  ref: "reference idempotency-key",
  description: "desc",
  "dry-run": "preview",
};
