import { createReadStream, statSync } from "node:fs";
import { readApiKey } from "../../domain/api-keys.ts";
import { systemReason } from "../../domain/error-code.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { Host } from "../../platform/host.ts";

const mostBytes = 1024 * 1024;

/** Reads a small text from a file, or from standard input where the name is `-`. */
export async function readSmallText(name: string, flag: string, { stdin }: Pick<Host, "stdin">) {
  const isInput = name === "-";
  const label = isInput || flag === name ? flag : `${flag}: ${shownName(name)}`;
  return decoded(isInput ? await readAll(stdin, label) : await readFile(name, label), label);
}

/** The shell opened these for us, such as `<(…)`. To open another pipe could wait until someone writes to it. */
const inherited = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;

async function readFile(name: string, label: string): Promise<Uint8Array> {
  try {
    const found = inherited.test(name) ? undefined : statSync(name);
    if (found?.isDirectory()) throw usage([`${label} is a directory.`], "Name a file in it.");
    if (found && !found.isFile())
      throw new Failure("input.not-a-file", `${label} is not a regular file.`, {
        hint: "Write a pipe's content to standard input instead.",
      });
    return await readAll(createReadStream(name), label);
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

async function readAll(stream: AsyncIterable<string | Uint8Array>, label: string) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > mostBytes) throw usage([`${label}: the text is larger than 1 MiB.`]);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function decoded(bytes: Uint8Array, label: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usage([`${label}: the text is not UTF-8. Save it as UTF-8.`]);
  }
}
