import type { Command } from "../command/define-command.ts";
import { commandPage, groupPage } from "./commands.ts";
import { strong } from "./emphasis.ts";
import type { Page } from "./page.ts";
import { rootPage, topicsPage } from "./root.ts";
import { pageText } from "./text.ts";
import { topics } from "./topics.ts";

/**
 * The help of a command, of a group of commands, of a topic, or of lenden itself (an empty path).
 * All of it is made from the command list and from the tables of the code.
 *
 * @throws Failure `usage` when there is nothing of that name
 */
export async function helpText(
  path: string,
  commands: Command[],
  { color }: { color: boolean },
): Promise<string> {
  return pageText(await pageOf(path, commands), color ? strong : plain);
}

async function pageOf(path: string, commands: Command[]): Promise<Page> {
  if (path === "") return rootPage(commands);
  const command = commands.find(({ name }) => name === path);
  if (command) return commandPage(command);
  if (commands.some(({ name }) => name.startsWith(`${path} `))) return groupPage(path, commands);
  if (path === "topics") return topicsPage();
  const topic = topics.find(({ name }) => name === path);
  if (topic) return (await topic.load()).page;
  const { unknownHelp } = await import("../args/suggest.ts");
  throw unknownHelp(path.split(" "), commands);
}

function plain(heading: string): string {
  return heading;
}
