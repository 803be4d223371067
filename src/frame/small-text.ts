import { readFileSync } from "node:fs";
import { usage } from "../failure.ts";
import type { Host } from "../host.ts";

const mostBytes = 1024 * 1024;

/** Reads a small text from a file, or from standard input where the name is `-`. */
export async function readSmallText(
  name: string,
  flag: string,
  { stdin }: Pick<Host, "stdin">,
): Promise<string> {
  return decoded(name === "-" ? await readAll(stdin, flag) : readFile(name, flag), flag);
}

function readFile(name: string, flag: string): Uint8Array {
  try {
    return readFileSync(name);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
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
    if (size > mostBytes) throw usage([`${flag}: standard input holds more than 1 MiB.`]);
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
