import type { Settings } from "../../config/settings.ts";
import { didYouMean } from "../../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../../domain/result.ts";
import type { Resource } from "../../domain/statuses.ts";
import type { Folders } from "../../platform/host.ts";

/**
 * A flag of a command. The option, its validation, its help and its completion are made from it. `presence`
 * also decides the type of its value.
 */
export interface Flag<Value = unknown, Presence extends FlagPresence = FlagPresence> extends More {
  /** The long name with its placeholder, after a short one if there is one: `-o, --output <format>`. */
  usage: string;
  about: string;
  presence: Presence;
  read: Read<Value>;
}

interface More {
  /** The kind of thing it names: a prompt lists those that this machine knows, and Tab completes them. */
  names?: Named;
  /** What Tab completes if no kind of thing does: the values that the command's feature has stored. */
  stored?: (folders: Folders) => Promise<string[]>;
  /** The value from the profile if the flag is absent. */
  fallback?: (settings: Settings) => string | undefined;
  /** The flag that replaces this one. */
  unless?: string;
  /** Why only a person may use it, a clause: "only a person accepts duplicates". An agent is rejected. */
  needsPerson?: string;
  /** The flag that this one requires. */
  onlyWith?: string;
  /** The global flag that this is another name of. */
  sameAs?: "json";
}

/**
 * `setting`: required unless set in the profile. `either`: as `setting`, but another flag can replace it.
 */
type FlagPresence = "required" | "optional" | "many" | "switch" | "setting" | "either";

/** Reads a text into a value; `words` lists all valid texts if they are few. */
export interface Read<Value> {
  (text: string): Result<Value>;
  words?: readonly string[];
  /** True if it reads several words, separated by commas. */
  isList?: boolean;
}

/** The kinds of things that a flag or an argument can name. */
export type Named =
  | ("profile" | "method" | Resource | "batch" | "operation")
  /** Files are completed by the shell. */
  | ("file" | "csv-file");

function flagOf<Presence extends FlagPresence>(presence: Presence) {
  return <Value>(usage: string, about: string, read: Read<Value>, more: Named | More = {}) =>
    ({ usage, about, read, presence, ...moreOf(more) }) satisfies Flag<Value, Presence>;
}

/** The kinds of flags. */
export const flag = {
  required: flagOf("required"),
  optional: flagOf("optional"),
  many: flagOf("many"),
  setting: flagOf("setting"),
  either: flagOf("either"),
  toggle: (usage: string, about: string, more: More = {}) =>
    flagOf("switch")(usage, about, () => err("It takes no value."), more),
};

/**
 * A positional argument. `many` and `rest` are all that follow; of `many` there must be one, unless a flag
 * replaces them.
 */
export interface Argument<Value = unknown, Presence extends ArgumentPresence = ArgumentPresence>
  extends Pick<More, "names" | "stored" | "unless"> {
  name: string;
  about: string;
  presence: Presence;
  read: Read<Value>;
}
type ArgumentPresence = "required" | "optional" | "many" | "rest";

function argumentOf<Presence extends ArgumentPresence>(presence: Presence) {
  return <Value>(name: string, about: string, read: Read<Value>, more: Named | More = {}) =>
    ({ name, about, read, presence, ...moreOf(more) }) satisfies Argument<Value, Presence>;
}

export const argument = {
  required: argumentOf("required"),
  optional: argumentOf("optional"),
  many: argumentOf("many"),
  rest: argumentOf("rest"),
};

function moreOf(more: Named | More): More {
  return typeof more === "string" ? { names: more } : more;
}

/** A reader that lists its valid words, for completion and prompts. */
export function takes<Value>(words: readonly string[], read: (text: string) => Result<Value>) {
  return Object.assign((text: string) => read(text), { words });
}

export type Shape = Record<string, { presence: string; read: (text: string) => Result<unknown> }>;

/** The values that `run` of a command receives, by the names of its flags and arguments. */
export type Input<S extends Shape> = {
  [Name in keyof S]: S[Name] extends { presence: infer P; read: (text: string) => Result<infer V> }
    ? P extends "required" | "setting"
      ? V
      : P extends "many" | "rest"
        ? V[]
        : P extends "switch"
          ? boolean
          : V | undefined
    : never;
};

/** `--amount` of `--amount <bdt>`. */
export function flagName({ usage: written }: Pick<Flag, "usage">): string {
  return /--[a-z0-9-]+/.exec(written)?.[0] ?? written;
}

/** A flag and what it means, with what it requires. */
export function flagRow({ usage, about, presence }: Flag): [usage: string, meaning: string] {
  const notation: Partial<Record<Flag["presence"], string>> = {
    required: " (required)",
    setting: " (required unless set in the profile)",
    either: " (required unless set in the profile)",
    many: " (repeatable)",
  };
  return [usage, about + (notation[presence] ?? "")];
}

/** `transaction-id` of `transactionId`. */
export function argumentName({ name }: Pick<Argument, "name">): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function notOneOf(text: string, words: readonly string[]): string {
  return `${quoted(text)} is not one of: ${words.join(", ")}.${didYouMean(text, words)}`;
}

/** Reads some of a few words, separated by commas. */
export function someOf<Word extends string>(words: readonly Word[]): Read<Word[]> {
  const read = (text: string): Result<Word[]> => {
    const typed = text.split(",").map((word) => word.trim());
    const found = typed.flatMap((word) => words.find((one) => one === word) ?? []);
    const unknown = typed.find((word) => !found.some((one) => one === word));
    return unknown === undefined ? ok([...new Set(found)]) : err(notOneOf(unknown, words));
  };
  return Object.assign(takes(words, read), { isList: true });
}

/** Reads one of a few words. */
export function oneOf<Word extends string>(words: readonly Word[]): Read<Word> {
  return takes(words, (text) => {
    const found = words.find((word) => word === text);
    return found === undefined ? err(notOneOf(text, words)) : ok(found);
  });
}

/** Every occurrence of every flag, by its name in the code; a switch has no text. */
export type TypedFlags = Map<string, string[]>;

/** What is wrong with a command line, in sentences. */
export interface Found {
  problems: string[];
  /** One for each required flag or argument that is missing, by its name. */
  missing: Map<string, string>;
  /** The last flag if its value is missing, which is a problem already: `--amount`. */
  valueless?: string | undefined;
}

export function readFlags<Flags extends Record<string, Flag>>(
  flags: Flags,
  typed: TypedFlags,
  found: Found,
) {
  const values = Object.entries(flags).map(([name, one]) => {
    const { unless = "", onlyWith = "" } = one;
    const [other, needed] = [flags[unless], flags[onlyWith]];
    if (typed.has(name) && other && typed.has(unless))
      found.problems.push(`${flagName(one)} and ${flagName(other)} cannot be used together.`);
    if (typed.has(name) && needed && !typed.has(onlyWith))
      found.problems.push(`${flagName(one)} needs ${flagName(needed)}.`);
    return [name, readFlag(name, one, typed, found)] as const;
  });
  // The values were read by the very flags that the type is mapped from.
  return Object.fromEntries(values) as Input<Flags>;
}

function readFlag(name: string, one: Flag, typed: TypedFlags, found: Found): unknown {
  const { presence, read, unless = "", usage: written } = one;
  const { problems, missing } = found;
  const label = flagName(one);
  const texts = typed.get(name);
  if (presence === "switch") return texts !== undefined;
  if (presence === "many") return (texts ?? []).map((text) => readText(label, read, text, found));
  const [text, ...others] = texts ?? [];
  if (others.some((other) => other !== text))
    problems.push(`${label} is given twice with different values.`);
  if (text !== undefined) return readText(label, read, text, found);
  const isSetting = presence === "setting" || presence === "either";
  const how = isSetting ? " (or set it in the profile)" : "";
  if (presence !== "optional" && label !== found.valueless && !typed.has(unless))
    missing.set(name, `Missing required flag ${written}${how}.`);
  return undefined;
}

export function readText(label: string, read: Read<unknown>, text: string, { problems }: Found) {
  const reading = read(text);
  if (reading.ok) return reading.value;
  problems.push(`${label}: ${reading.problem}`);
  return undefined;
}
