import { createReadStream, statSync } from "node:fs";
import { readApiKey } from "../../domain/api-keys.ts";
import { systemReason } from "../../domain/error-code.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { bytesOf, utf8Text } from "../../domain/text.ts";
import type { Host } from "../../platform/host.ts";

const mostBytes = 1024 * 1024;

/** Reads a small text from a file, or from standard input where the name is `-`. */
export async function readSmallText(name: string, flag: string, { stdin }: Pick<Host, "stdin">) {
  const isInput = name === "-";
  const label = isInput || flag === name ? flag : `${flag}: ${shownName(name)}`;
  const bytes = await (isInput ? bytesOf(stdin, mostBytes) : readFile(name, label));
  if (!bytes) throw usage([`${label}: the text is larger than 1 MiB.`]);
  const text = utf8Text(bytes);
  if (text === undefined) throw usage([`${label}: the text is not UTF-8. Save it as UTF-8.`]);
  return text;
}

/** The shell opened these for us, such as `<(…)`. To open another pipe could wait until someone writes to it. */
const inherited = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;

async function readFile(name: string, label: string): Promise<Uint8Array | undefined> {
  try {
    const found = inherited.test(name) ? undefined : statSync(name);
    if (found?.isDirectory()) throw usage([`${label} is a directory.`], "Name a file in it.");
    if (found && !found.isFile())
      throw new Failure("input.not-a-file", `${label} is not a regular file.`, {
        hint: "Write a pipe's content to standard input instead.",
      });
    return await bytesOf(createReadStream(name), mostBytes);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const hint = /:\/\//.test(name) ? "Write a URL to standard input instead." : "Check the path.";
    throw usage([`${label} cannot be read: ${systemReason(error)}.`], hint);
  }
}

/** The name of a file, unless it looks like the secret itself, typed in place of the file. */
function shownName(name: string): string {
  const isSecret = readApiKey(name).ok || /^[A-Za-z0-9+=_-]{20,}$/.test(name);
  return isSecret ? "the file (its name looks like a secret)" : name;
}
