import { globalFlags } from "../../src/cli/args/globals.ts";
import { type Argument, argumentName, type Flag, flagName } from "../../src/cli/command/flag.ts";
import { loadCommands } from "../../src/cli/command/table.ts";
import { topicPages } from "../../src/cli/help/topic-pages.ts";
import { entries } from "../../src/commands/index.ts";
import { settable } from "../../src/commands/profile/flags.ts";

/*
 * What an agent can change about a command: its flags, the variables and the settings of a profile, all as lenden itself
 * lists them. A new one is tried without a change here, if it takes what others take.
 */

export const commands = await loadCommands(entries);
export type Command = (typeof commands)[number];

/** By the name of a flag, a variable, a setting or an argument, or by a placeholder. */
export type Values = Record<string, string[]>;

/** One thing that differs from the usual run of a command. */
export interface Change {
  words(line: string[]): string[];
  env?: Record<string, string>;
}

export const usual: Change = { words: (line) => line };

/** Each value of each flag that is a command's own. */
export function flagChanges(command: Command, values: Values): Change[] {
  return changesOf(Object.keys(command.flags), { ...globalFlags, ...command.flags }, values);
}

/** Each value of each flag that all commands have. */
export function globalChanges(values: Values): Change[] {
  return changesOf(Object.keys(globalFlags), globalFlags, values);
}

function changesOf(names: string[], flags: Record<string, Flag>, values: Values): Change[] {
  return Object.entries(flags).flatMap(([key, flag]) => {
    if (!names.includes(key)) return [];
    const name = flagName(flag);
    const replaced = Object.entries(flags).flatMap(([other, { unless }]) =>
      unless === key || flag.unless === other ? [flagName(flags[other] ?? flag)] : [],
    );
    const needed = flags[flag.onlyWith ?? ""];
    return valuesOf(flag, values).map((value) => ({
      words: (line: string[]) => [
        ...[...(flag.presence === "many" ? [] : [name]), ...replaced].reduce(
          (words, one) => withoutFlag(words, one),
          line,
        ),
        ...(needed ? [flagName(needed), ...valuesOf(needed, values).slice(0, 1)] : []).flatMap(
          (word) => word ?? [],
        ),
        ...(value === undefined ? [name] : [name, value]),
      ],
    }));
  });
}

/** Each variable that 'lenden help flags' lists. */
export function variableChanges(values: Values): Change[] {
  const sections = Object.entries(topicPages.flags).filter(([title]) =>
    title.startsWith("Environment variables"),
  );
  const names = sections.flatMap(([, rows]) => Object.keys(rows)).flatMap((row) => row.split(", "));
  return names.flatMap((name) =>
    valuesFor([name, kindOfVariable(name)], values).map((value) => ({
      words: usual.words,
      env: { [name]: value },
    })),
  );
}

function kindOfVariable(name: string): string {
  return /_(?:DIR|HOME)$|APPDATA$/.test(name) ? "a directory" : "a variable";
}

/** Each setting that a person can give to a profile, with the line that does so. */
export function settingsOf(values: Values) {
  return Object.keys(settable).flatMap((name) =>
    valuesFor([name], values).map((value) => ({ name, line: ["profile", "set", name, value] })),
  );
}

/** A command with nothing but what it requires. */
export function shortestLine(command: Command, values: Values): string[] {
  const required = Object.values(command.flags).filter(({ presence }) => presence === "required");
  return [
    ...command.name.split(" "),
    ...Object.values(command.arguments).flatMap((one) => wordsOf(one, values)),
    ...required.flatMap((flag) => [flagName(flag), valuesOf(flag, values)[0] ?? ""]),
  ];
}

function wordsOf(one: Argument, values: Values): string[] {
  if (one.presence === "optional" || one.presence === "rest") return [];
  const [value = ""] = one.read.words ?? valuesFor([argumentName(one), one.names ?? ""], values);
  return [value];
}

/** The values of a flag that it accepts; undefined for the one of a switch. */
function valuesOf(flag: Flag, values: Values): (string | undefined)[] {
  if (flag.presence === "switch") return [undefined];
  const [placeholder = ""] = /<.*>/.exec(flag.usage) ?? [];
  const known = values[flagName(flag)] ?? flag.read.words ?? valuesFor([placeholder], values);
  const accepted = known.filter((value) => flag.read(value).ok);
  if (accepted.length === 0) throw new Error(`no value that is tried suits ${flag.usage}`);
  return accepted;
}

function valuesFor(names: string[], values: Values): string[] {
  const found = names.map((name) => values[name]).find((one) => one !== undefined);
  if (!found) throw new Error(`no value is known for ${names.join(" or ")}`);
  return found;
}

/** A line without a flag and its values. */
function withoutFlag(line: string[], name: string): string[] {
  const at = line.indexOf(name);
  if (at < 0) return line;
  const hasValue = line[at + 1]?.startsWith("-") === false;
  return withoutFlag([...line.slice(0, at), ...line.slice(at + (hasValue ? 2 : 1))], name);
}
