/** `1 row`, `3 rows`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function rowsText(count: number): string {
  return counted(count, "row");
}

const mostListed = 20;

/** The beginning of a long list, for an error. */
export function firstOf(all: string[]): string[] {
  const left = all.length - mostListed;
  return left > 0 ? [...all.slice(0, mostListed), `and ${left} more`] : all;
}

/** `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (minutes === 0) return `${seconds} s`;
  return hours === 0 ? `${minutes} min ${seconds % 60} s` : `${hours} h ${minutes % 60} min`;
}

/** The text of bytes in UTF-8; undefined of any others. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The bytes of a stream; undefined if there are more, and then the rest is not read. */
export async function bytesOf(
  stream: AsyncIterable<string | Uint8Array>,
  most: number,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > most) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/**
 * Control, escape and format characters (bidirectional marks among them), unpaired surrogates, and
 * the line and paragraph separators. The two joiners stay: Bangla is written with them.
 */
export const unsafeCharacters = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** Words as a command line that a POSIX shell splits into the same words. */
export function shellLine(words: string[]): string {
  return words.map(quotedWord).join(" ");
}

/**
 * A name as a word of a command in a sentence: `'lenden ledger show INV\ 9'`. Someone else may have chosen it. Backslashes
 * mean the same with the quotes around the command and without them, and plain names stay as they are.
 */
export function inCommand(name: string): string {
  const line = name.replaceAll(unsafeCharacters, " ");
  return line === "" ? "''" : line.replaceAll(/[^\p{L}\p{M}\p{N}_@%+=:,./-]|^[=%]/gu, "\\$&");
}

/** Quotes a word unless no shell gives it a meaning; zsh expands a leading `=`. */
function quotedWord(word: string): string {
  const isPlain = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word);
  return isPlain ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
