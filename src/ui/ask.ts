import { Failure } from "../failure.ts";

/** Where questions go: never to stdout, which is for the answer of the command. */
interface Terminal {
  stdin: NodeJS.ReadableStream;
  stderr: NodeJS.WritableStream;
}

/**
 * Asks for a line of text.
 *
 * @throws Failure `interrupted` on Ctrl-C
 */
export async function askText(message: string, { stdin, stderr }: Terminal): Promise<string> {
  const { input } = await import("@inquirer/prompts");
  try {
    return await input({ message }, { input: stdin, output: stderr });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ExitPromptError") throw error;
    throw new Failure("interrupted", "Stopped before anything was sent.", { cause: error });
  }
}
