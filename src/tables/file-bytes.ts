import { closeSync, createReadStream, openSync, rmSync, type Stats, writeSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, systemReason } from "../domain/error-code.ts";
import { Failure, usage } from "../domain/failure.ts";
import { temporaryDirectory } from "../platform/files.ts";

/** The bytes of a file, read from the disk each time. */
export interface FileBytes {
  path: string;
  size: number;
  /** @throws Failure if the file cannot be read, or if it was changed since it was opened */
  pieces(): AsyncIterable<Uint8Array>;
}

/** What to do about a path that names no file of a useful size. */
export interface FileHints {
  missing: string;
  pipe: string;
  large: string;
}

const largestFile = 400_000_000;
const pieceLength = 256 * 1024;

/** @throws Failure `usage` if the path names no regular file, or one that is too large */
export async function openFile(path: string, hints: FileHints): Promise<FileBytes> {
  return readable(path, hints, async () => {
    const found = await stat(path);
    if (found.isDirectory()) throw usage([`${path} is a directory.`], "Name the file in it.");
    if (!found.isFile()) throw usage([`${path} is not a regular file.`], hints.pipe);
    if (found.size > largestFile) throw tooLarge(path, hints);
    return {
      path,
      size: found.size,
      async *pieces() {
        yield* piecesOf(path, found, hints);
      },
    };
  });
}

async function* piecesOf(path: string, found: Stats, hints: FileHints) {
  const pieces = createReadStream(path, { highWaterMark: pieceLength })[Symbol.asyncIterator]();
  while (true) {
    const { value, done } = await readable(path, hints, () => pieces.next());
    if (done) break;
    yield asBytes(value);
  }
  const now = await readable(path, hints, () => stat(path));
  if (now.mtimeMs !== found.mtimeMs || now.size !== found.size || now.ino !== found.ino)
    throw usage([`${path} was changed while it was read.`], "Run the command again.");
}

async function readable<Value>(
  path: string,
  hints: FileHints,
  read: () => Promise<Value>,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT") throw usage([`The file ${path} does not exist.`], hints.missing);
    throw new Failure("file.unreadable", `Cannot read ${path}: ${systemReason(error)}.`, {
      hint: "Check the permissions of the file, then run the same command again.",
      cause: error,
    });
  }
}

function tooLarge(path: string, hints: FileHints): Failure {
  return usage([`${path} is larger than 400 MB.`], hints.large);
}

/**
 * Copies a stream to a private temporary file, so that it can be read several times. The file is removed before it
 * is written: only this process can reach it, and nothing remains however the process ends.
 */
export async function spool(
  stream: AsyncIterable<string | Uint8Array>,
  hints: FileHints,
): Promise<FileBytes> {
  const path = "standard input";
  const file = openRemoved();
  let size = 0;
  try {
    for await (const piece of stream) {
      const bytes = asBytes(piece);
      size += bytes.byteLength;
      if (size > largestFile) throw tooLarge(path, hints);
      for (let at = 0; at < bytes.byteLength; ) at += writeSync(file, bytes, at);
    }
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return {
    path,
    size,
    async *pieces() {
      // The descriptor stays open until the process ends.
      const options = { fd: file, autoClose: false, start: 0, highWaterMark: pieceLength };
      for await (const piece of createReadStream("", options)) yield asBytes(piece);
    },
  };
}

function openRemoved(): number {
  const directory = temporaryDirectory("input");
  try {
    return openSync(join(directory, "table"), "wx+", 0o600);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function asBytes(piece: unknown): Uint8Array {
  return piece instanceof Uint8Array ? piece : Buffer.from(String(piece));
}
