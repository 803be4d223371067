import { groups, purposes } from "../../commands/groups.ts";
import type { Command } from "../command/define-command.ts";

/** Every command and every group, by their whole names; a group before what is in it. */
export function pathsOf(commands: Command[]): string[] {
  const paths = commands.flatMap(({ name }) => {
    const words = name.split(" ");
    return words.map((_, index) => words.slice(0, index + 1).join(" "));
  });
  return [...new Set(paths)];
}

/** `send` of `payout send`. */
export function lastWord(path: string): string {
  return path.split(" ").at(-1) ?? "";
}

/** The commands and groups right below a path, whole names; an empty path is lenden itself. */
export function childrenOf(path: string, commands: Command[]): string[] {
  const start = path === "" ? "" : `${path} `;
  const depth = path === "" ? 1 : path.split(" ").length + 1;
  const below = commands.map(({ name }) => name).filter((name) => name.startsWith(start));
  return [...new Set(below.map((name) => name.split(" ").slice(0, depth).join(" ")))];
}

/** The sentence of a command or of a group, without a full stop. */
export function summaryOf(name: string, commands: Command[]): string {
  return (commands.find((one) => one.name === name) ?? groups.get(name))?.summary ?? "";
}

/** What one short line says of a command: its sentence; of a group: the words that may follow. */
export function sayingOf(name: string, commands: Command[]): string {
  if (commands.some((one) => one.name === name)) return summaryOf(name, commands);
  return childrenOf(name, commands)
    .filter((child) => !hasOwnLine(child))
    .map(lastWord)
    .join(", ");
}

/** Everything that has a line on the first page of help, by what one wants to do with it. */
export function indexOf(commands: Command[]): { title: string; names: string[] }[] {
  const roots = childrenOf("", commands);
  const exists = (name: string) => commands.some((one) => `${one.name} `.startsWith(`${name} `));
  const homeless = roots.filter((name) => !hasOwnLine(name));
  return purposes
    .map(({ title, names }, index) => ({
      title,
      names: [...names.filter(exists), ...(index === purposes.length - 1 ? homeless : [])],
    }))
    .filter(({ names }) => names.length > 0);
}

function hasOwnLine(name: string): boolean {
  return purposes.some(({ names }) => names.includes(name));
}
