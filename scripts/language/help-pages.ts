// Collects the help pages for the language check, which bundles this file.
import { helpText } from "../../src/cli/help/help.ts";
import { topics } from "../../src/cli/help/topics.ts";
import { commandTable, entries } from "../../src/commands/index.ts";

export interface Page {
  name: string;
  summary: string;
  text: string;
  description: string;
  flags: { usage: string; about: string }[];
  examples: Record<string, string>;
  exitCodes: string[];
}

/** Every page of the help. Groups and topics have only a summary and a text. */
export async function helpPages(): Promise<Page[]> {
  const bare = { description: "", flags: [], examples: {}, exitCodes: [] };
  const textOf = (path: string) => helpText(path, commandTable, { color: false });
  const commands = await Promise.all(
    entries.map(async ({ name, summary, load, description: ofGroup = "" }) => {
      const command = await load?.();
      return {
        name,
        summary,
        text: await textOf(name),
        description: command?.description ?? ofGroup,
        flags: Object.values({ ...command?.arguments, ...command?.flags }).map((one) => ({
          usage: "usage" in one ? one.usage : one.name,
          about: one.about,
        })),
        examples: command?.examples ?? {},
        exitCodes: Object.values(command?.exitCodes ?? {}),
      };
    }),
  );
  const others = [
    { name: "", summary: "Collect payments" },
    { name: "topics", summary: "List" },
    ...topics,
  ];
  const pages = others.map(async ({ name, summary }) => ({
    ...bare,
    name,
    summary,
    text: await textOf(name),
  }));
  return [...commands, ...(await Promise.all(pages))];
}
