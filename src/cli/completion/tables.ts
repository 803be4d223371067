import { childrenOf, lastWord, pathsOf, summaryOf } from "../args/command-tree.ts";
import { globalFlags } from "../args/globals.ts";
import type { Command } from "../command/define-command.ts";
import type { Argument, Flag, Named, Read } from "../command/flag.ts";

/**
 * What can stand at each place of the command line, made from the command list. It is written into
 * the scripts of `completions/`, so that a Tab on it starts no program; the rest of each script is
 * written by hand, and asks lenden for what only lenden knows.
 *
 * A flag is `-o,--output:table,json`: its names, then `+` if it can be repeated, then what it takes
 * if it takes something. That is a list of words, among them `@file`, `@command` and what
 * `__complete` can be asked for; an empty list is something that nobody can guess.
 */
export interface Tables {
  /** Flags that every place takes. */
  everywhere: Entry[];
  places: Place[];
}

/** Lenden itself, a group of commands, or a command. */
interface Place {
  path: string;
  /** What can follow: commands and groups. */
  members: Entry[];
  flags: Entry[];
  /** What each argument can be. */
  operands: string[];
}

export interface Entry {
  name: string;
  about: string;
}

export function tablesOf(commands: Command[]): Tables {
  const places = ["", ...pathsOf(commands)].map((path) => {
    const command = commands.find(({ name }) => name === path);
    const members = childrenOf(path, commands);
    return {
      path,
      members: [
        ...members.map((one) => ({ name: lastWord(one), about: summaryOf(one, commands) })),
        ...(path === "" ? [{ name: "help", about: "Show the help of a command" }] : []),
      ],
      flags: Object.values(command?.flags ?? {}).map(flagEntry),
      operands: Object.values(command?.arguments ?? {}).map(operandOf),
    };
  });
  return { everywhere: Object.values(globalFlags).map(flagEntry), places };
}

function flagEntry({ usage, about, presence, ...one }: Flag): Entry {
  const names = usage.match(/(?<![\w-])--?[a-z][a-z0-9-]*/g) ?? [];
  const takes = presence === "switch" ? "" : `:${valuesOf(one)}`;
  return { name: names.join(",") + (presence === "many" ? "+" : "") + takes, about };
}

/** A comma where there is nothing: a shell would lose an empty word, and the place of the next. */
function operandOf({ presence, ...one }: Argument): string {
  return presence === "rest" ? "@command" : valuesOf(one) || ",";
}

function valuesOf({ read, names }: { read: Read<unknown>; names?: Named }): string {
  const named: Named[] = names === "batch" ? ["batch", "file"] : names ? [names] : [];
  return [...(read.words ?? []), ...named.map((one) => `@${one}`)].join(",");
}
