import { nearest } from "../../domain/nearest.ts";
import type { Command } from "../command/define-command.ts";
import { childrenOf, lastWord, pathsOf } from "./command-tree.ts";
import { otherWords } from "./other-words.ts";

const mostShown = 3;

/** Commands and groups that were probably meant: one below the path, else some that are elsewhere. */
export function meantPaths(path: string, words: string[], commands: Command[]): string[] {
  const here = below(path, words, commands);
  if (here !== path) return [here];
  const [typed = "", ...rest] = words;
  const names = pathsOf(commands).sort((one, other) => depthOf(one) - depthOf(other));
  const same = names.filter((name) => lastWord(name) === typed.toLowerCase());
  const others = names.filter((name) => isOtherWord(typed, lastWord(name)));
  return (same.length > 0 ? same : others)
    .slice(0, mostShown)
    .map((name) => below(name, rest, commands));
}

/** Follows what was typed down the tree of commands, as far as it can be understood. */
function below(path: string, [typed, ...rest]: string[], commands: Command[]): string {
  if (typed === undefined) return path;
  const children = childrenOf(path, commands);
  const near = nearest(typed, children.map(lastWord));
  const child =
    children.find((name) => lastWord(name) === typed) ??
    children.find((name) => isOtherWord(typed, lastWord(name))) ??
    children.find((name) => lastWord(name) === near);
  if (child === undefined) return path;
  if (rest.length > 0) return below(child, rest, commands);
  // A word such as `login` says both what it is about and what to do with it.
  return childrenOf(child, commands).find((name) => isOtherWord(typed, lastWord(name))) ?? child;
}

function depthOf(path: string): number {
  return path.split(" ").length;
}

function isOtherWord(typed: string, word: string): boolean {
  return (
    Object.hasOwn(otherWords, word) && otherWords[word]?.includes(typed.toLowerCase()) === true
  );
}
