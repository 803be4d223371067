import { distance } from "fastest-levenshtein";
import { type Failure, usage } from "../failure.ts";
import type { Command } from "../frame/command.ts";
import { flagName } from "../frame/flag.ts";
import { globalFlags } from "./globals.ts";

/** The failure of a command that there is not. What was typed is only repeated if it is a plain word. */
export function unknownCommand(path: string, typed: string, commands: Command[]): Failure {
  const where = path === "" ? "lenden" : `lenden ${path}`;
  const start = path === "" ? "" : `${path} `;
  const names = new Set(
    commands
      .filter(({ name }) => name.startsWith(start))
      .map(({ name }) => name.slice(start.length).split(" ")[0] ?? ""),
  );
  const meant = nearest(typed, [...names]);
  return usage(
    [`${where} has no command ${shown(typed)}.`],
    meant ? `Did you mean '${where} ${meant}'?` : `See '${where} --help' for what there is.`,
  );
}

/** One sentence for each unknown flag. Its value is never repeated: it may be a secret. */
export function unknownFlags(typed: string[], command: Command): string[] {
  const known = [...Object.values(command.flags), ...Object.values(globalFlags)].map(flagName);
  return typed.map((text) => {
    const name = text.split("=")[0] ?? text;
    const meant = nearest(name, known);
    return `There is no flag ${shown(name)}${meant ? `; did you mean ${meant}?` : "."}`;
  });
}

function nearest(typed: string, words: string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, far: distance(typed.toLowerCase(), word) }))
    .sort((one, other) => one.far - other.far);
  const [best] = ranked;
  return best && best.far <= Math.max(2, Math.floor(typed.length / 3)) ? best.word : undefined;
}

/** Letters and hyphens, and not many: what a mistyped word looks like, and a secret does not. */
function shown(text: string): string {
  return /^(?:--)?[a-z]+(?:-[a-z]+)*$/i.test(text) && text.length <= 20
    ? `'${text}'`
    : "of that name";
}
