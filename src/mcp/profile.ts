import type { Context } from "../cli/command/context.ts";
import { shellLine } from "../domain/text.ts";

/** The account whose money moves, at the end of a sentence. */
export async function accountText({ config }: Pick<Context, "config">): Promise<string> {
  const { environment } = await config.account();
  const { profile } = await config.settings();
  return `${profile ? `with profile ${profile.value} ` : ""}(${environment})`;
}

/** What a person runs in a terminal, with the profile that the server was started with. */
export async function commandLine(
  words: string[],
  { config }: Pick<Context, "config">,
): Promise<string> {
  const { profile } = await config.settings();
  return shellLine(["lenden", ...words, ...(profile ? ["--profile", profile.value] : [])]);
}
