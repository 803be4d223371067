import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { errorCode } from "../error-code.ts";
import { Failure, usage } from "../failure.ts";
import { lineBreaksIn, Unreadable } from "./unreadable.ts";

/**
 * The SHA-256 of a file's bytes, in hexadecimal.
 *
 * @throws Failure `usage` when there is no such file, or it is none that can be read twice
 */
export async function hashOf(path: string): Promise<string> {
  checkRegular(path);
  const hash = createHash("sha256");
  for await (const chunk of bytesOf(path)) hash.update(chunk);
  return hash.digest("hex");
}

/**
 * The text of a file, piece by piece. It must be UTF-8: a wrong character in a name is a wrong
 * name, and another encoding may hide a digit.
 *
 * @param expectedHash what `hashOf` gave; a file that somebody changed since is no longer that file
 * @throws Unreadable with the line; Failure `usage` when the file changed
 */
export async function* textOf(path: string, expectedHash: string): AsyncIterable<string> {
  const hash = createHash("sha256");
  const decoder = new TextDecoder("utf-8");
  let line = 1;
  let before = "";
  let isFirst = true;
  for await (const chunk of bytesOf(path)) {
    if (isFirst) refuseOtherFormats(chunk);
    isFirst = false;
    hash.update(chunk);
    const text = decoder.decode(chunk, { stream: true });
    if (before.endsWith("\r") && text.startsWith("\n")) line -= 1; // a CRLF that was cut in two
    const sound = soundPart(text);
    yield sound;
    line += lineBreaksIn(sound);
    if (sound !== text) throw notUtf8(line);
    before = text;
  }
  if (decoder.decode() !== "") throw notUtf8(line);
  if (hash.digest("hex") === expectedHash) return;
  throw usage([`${path} was changed while it was read.`], "Nothing was sent. Run it again.");
}

function checkRegular(path: string): void {
  const found = lookAt(path);
  const noPipe = "A batch is read twice, so it cannot come from a pipe: give it a file.";
  if (!found) throw usage([`There is no file ${path}.`], path === "-" ? noPipe : undefined);
  if (found.isDirectory()) throw usage([`${path} is a folder.`], "Give the CSV file in it.");
  if (!found.isFile()) throw usage([`${path} is no file.`], noPipe);
}

function lookAt(path: string) {
  try {
    return statSync(path); // with throwIfNoEntry: false, Node 22 and later hide ENOTDIR as well
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw unreadablePath(path, error);
  }
}

async function* bytesOf(path: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 32 * 1024 });
  } catch (error) {
    throw unreadablePath(path, error);
  }
}

function unreadablePath(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === undefined) return error;
  return new Failure("usage", `${path} cannot be read (${code}).`, { cause: error });
}

/** What a spreadsheet keeps as its own: an archive (.xlsx, .ods), or the older compound file (.xls). */
const workbooks = ["504b0304", "d0cf11e0"];

function refuseOtherFormats(start: Uint8Array): void {
  if (workbooks.includes(Buffer.from(start.subarray(0, 4)).toString("hex"))) {
    throw new Unreadable(
      1,
      "This is a workbook, not a CSV file. In Excel save it as 'CSV UTF-8 (Comma delimited)'.",
    );
  }
  refuseUtf16(start);
}

/** By its mark, or by the zero bytes that every second character of a table in it has. */
function refuseUtf16(start: Uint8Array): void {
  const [first = 0, second = 0] = start;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const beginning = start.subarray(0, 64);
  const hasZeros = beginning.filter((byte) => byte === 0).length > beginning.length / 3;
  if (isMarked || hasZeros) {
    throw new Unreadable(
      1,
      "The file is UTF-16, not UTF-8. In Excel save it as 'CSV UTF-8 (Comma delimited)'.",
    );
  }
}

/** A character that is not UTF-8, or that an earlier program could not read, comes out as U+FFFD. */
function soundPart(text: string): string {
  const fault = text.indexOf("\ufffd");
  return fault < 0 ? text : text.slice(0, fault);
}

function notUtf8(line: number): Unreadable {
  return new Unreadable(
    line,
    "There is a character here that is not UTF-8. In Excel save the file as 'CSV UTF-8 (Comma delimited)'.",
  );
}
