import { commands } from "../../commands/index.ts";
import { pathsOf } from "../args/command-tree.ts";
import { helpText } from "./help.ts";
import { pageFile } from "./ready.ts";
import { topics } from "./topics.ts";

/** Every page of the help with its headings marked, by its file: what the build writes down. */
export async function allPages(): Promise<Map<string, string>> {
  const paths = ["", ...pathsOf(commands)].map((path) => ({ path, file: pageFile(path) }));
  const named = ["topics", ...topics.map(({ name }) => name)].map((path) => ({
    path,
    file: pageFile(path, "topic"),
  }));
  const pages = [...paths, ...named].map(async ({ path, file }): Promise<[string, string]> => {
    return [file, await helpText(path, commands, { color: true })];
  });
  return new Map(await Promise.all(pages));
}
