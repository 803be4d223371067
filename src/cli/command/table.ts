import type { Command } from "./define-command.ts";

/** A command or a group of commands, as the program finds, lists and completes it. */
export interface Entry {
  /** All its words: `payout batch send`. */
  name: string;
  summary: string;
  /** The heading under which the first page of help lists it. */
  heading?: string;
  /** The description of a group in its help. */
  description?: string;
  /** Absent for a group. A definition is loaded only when its command is on the command line. */
  load?: () => Promise<Command>;
}

/** The entries right below a group; an empty name is lenden itself. */
export function entriesBelow(entries: readonly Entry[], group: string): Entry[] {
  const start = group === "" ? "" : `${group} `;
  return entries.filter(
    ({ name }) => name.startsWith(start) && !name.slice(start.length).includes(" "),
  );
}

/** Every definition, for the manual, for suggestions and for tests. */
export async function loadCommands(
  entries: readonly Entry[],
): Promise<(Command & { name: string })[]> {
  const loaded = entries.map(async ({ name, load }) => (load ? [{ ...(await load()), name }] : []));
  return (await Promise.all(loaded)).flat();
}
