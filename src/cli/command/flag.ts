import type { Settings } from "../../config/settings.ts";
import { didYouMean } from "../../domain/nearest.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import type { Resource } from "../../domain/statuses.ts";

/**
 * A flag: one line in a command, and from it come the option, its check, its row in the help and
 * its completion. `presence` is also what its value's type follows from.
 */
export interface Flag<Value = unknown, Presence extends FlagPresence = FlagPresence> {
  /** Long name with its placeholder: `--amount <bdt>`; a short one may stand before it. */
  usage: string;
  about: string;
  presence: Presence;
  read: Read<Value>;
  /** What it names: a prompt lists those that there are, and a Tab completes them. */
  names?: Named;
  /** Where a `setting` comes from when it is not typed. */
  fallback?: (settings: Settings) => string | undefined;
  /** The flag that makes this one superfluous. */
  unless?: string;
  /** The flag without which this one would do nothing. */
  onlyWith?: string;
  /** The global switch that this is another name for. */
  sameAs?: "json";
}

/**
 * `setting`: the flag, else the profile's own value, else it is missing. `either`: the same, but
 * another flag may stand in for it.
 */
type FlagPresence = "required" | "optional" | "many" | "switch" | "setting" | "either";

/** Text → value; `words` are all that it takes, where they are few. */
export interface Read<Value> {
  (text: string): Result<Value>;
  words?: readonly string[];
}

/** The kinds of things that a flag or an argument can name, and of which this machine knows some. */
export type Named =
  | ("profile" | "method" | Resource | "batch" | "operation")
  /** Files are completed by the shell. */
  | ("file" | "csv-file");

/** The kinds of flags. */
export const flag = {
  required: <Value>(usage: string, about: string, read: Read<Value>, names?: Named) =>
    ({ usage, about, read, ...named(names), presence: "required" }) satisfies Flag,
  optional: <Value>(usage: string, about: string, read: Read<Value>, names?: Named) =>
    ({ usage, about, read, ...named(names), presence: "optional" }) satisfies Flag,
  many: <Value>(usage: string, about: string, read: Read<Value>) =>
    ({ usage, about, read, presence: "many" }) satisfies Flag,
  setting: <Value>(
    usage: string,
    about: string,
    read: Read<Value>,
    fallback: (settings: Settings) => string | undefined,
  ) => ({ usage, about, read, fallback, presence: "setting" }) satisfies Flag,
  either: <Value>(
    usage: string,
    about: string,
    read: Read<Value>,
    {
      fallback,
      unless,
      names,
    }: {
      fallback: (settings: Settings) => string | undefined;
      unless: string;
      names?: Named;
    },
  ) =>
    ({
      usage,
      about,
      read,
      ...named(names),
      fallback,
      unless,
      presence: "either",
    }) satisfies Flag,
  toggle: (usage: string, about: string, more: Pick<Flag, "sameAs"> = {}) =>
    ({
      usage,
      about,
      ...more,
      read: () => err("takes no value"),
      presence: "switch",
    }) satisfies Flag,
};

/** A positional argument. `rest` takes all that follow. */
export interface Argument<Value = unknown, Presence extends ArgumentPresence = ArgumentPresence> {
  name: string;
  about: string;
  presence: Presence;
  read: Read<Value>;
  names?: Named;
}
type ArgumentPresence = "required" | "optional" | "rest";

export const argument = {
  required: <Value>(name: string, about: string, read: Read<Value>, names?: Named) =>
    ({ name, about, read, ...named(names), presence: "required" }) satisfies Argument,
  optional: <Value>(name: string, about: string, read: Read<Value>, names?: Named) =>
    ({ name, about, read, ...named(names), presence: "optional" }) satisfies Argument,
  rest: <Value>(name: string, about: string, read: Read<Value>) =>
    ({ name, about, read, presence: "rest" }) satisfies Argument,
};

/** A reader that says which words it takes, so that they can be offered. */
export function takes<Value>(
  words: readonly string[],
  read: (text: string) => Result<Value>,
): Read<Value> {
  return Object.assign((text: string) => read(text), { words });
}

/** An absent property is not one that holds undefined. */
function named(names: Named | undefined): { names?: Named } {
  return names ? { names } : {};
}

export type Shape = Record<string, { presence: string; read: (text: string) => Result<unknown> }>;

/** The values that a command's `run` gets, by the names of its flags and arguments. */
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

/** `transaction-id` of `transactionId`. */
export function argumentName({ name }: Pick<Argument, "name">): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Reads one of a few words. */
export function oneOf<Word extends string>(words: readonly Word[]): Read<Word> {
  return takes(words, (text) => {
    const found = words.find((word) => word === text);
    return found === undefined
      ? err(`This is not one of: ${words.join(", ")}.${didYouMean(text, words)}`)
      : ok(found);
  });
}
