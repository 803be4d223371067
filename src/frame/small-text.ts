import { createReadStream } from "node:fs";
import { errorCode } from "../error-code.ts";
import { Failure, usage } from "../failure.ts";
import type { Host } from "../host.ts";

const mostBytes = 1024 * 1024;

/** Reads a small text from a file, or from standard input where the name is `-`. */
export async function readSmallText(
  name: string,
  flag: string,
  { stdin }: Pick<Host, "stdin">,
): Promise<string> {
  return decoded(name === "-" ? await readAll(stdin, flag) : await readFile(name, flag), flag);
}

/** A file, or a pipe such as the shell's `<(…)`: read bit by bit, so that neither hangs the process. */
async function readFile(name: string, flag: string): Promise<Uint8Array> {
  try {
    return await readAll(createReadStream(name), flag);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = errorCode(error) ?? "unknown";
    throw usage([`${flag}: the file cannot be read (${code}).`]);
  }
}

async function readAll(
  stream: AsyncIterable<string | Uint8Array>,
  flag: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > mostBytes) throw usage([`${flag}: this holds more than 1 MiB.`]);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function decoded(bytes: Uint8Array, flag: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usage([`${flag}: this is not UTF-8 text.`]);
  }
}
