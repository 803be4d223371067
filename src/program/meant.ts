import type { Command } from "../frame/command.ts";
import { nearest } from "../nearest.ts";
import { childrenOf } from "./help/tree.ts";
import { otherWords } from "./other-words.ts";

const mostShown = 3;

/** Commands and groups that were probably meant: one below the path, else some that are elsewhere. */
export function meantPaths(path: string, words: string[], commands: Command[]): string[] {
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
