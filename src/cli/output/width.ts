import baseWidth from "string-width";

/**
 * The columns of a text in a terminal. A mark above or below a letter has none, a Bangla vowel sign
 * beside its letter has one, wide characters and emoji have two. string-width is the version that
 * cli-table3 uses.
 */
export function widthOf(text: string): number {
  return isAscii(text) ? text.length : sum(charactersOf(text).map(characterWidth));
}

/** Cuts a long text between characters, and ends it with …. */
export function cut(text: string, columns: number): string {
  return widthOf(text) <= columns ? text : `${pieces(text, columns - 1)[0]?.trimEnd()}…`;
}

/**
 * Wraps a text at spaces. A longer word is broken at the end of the line, but not a URL: it could not be
 * clicked or copied.
 */
export function wrapped(text: string, columns: number): string[] {
  return widthOf(text) <= columns ? [text] : wrappedWords(text.split(" "), columns);
}

/**
 * Wraps a sentence. A command in quotes is never broken: half a command that is copied and pasted is
 * another command.
 */
export function wrappedSentence(text: string, columns: number): string[] {
  if (columns === Number.POSITIVE_INFINITY) return [text];
  const words = `${text} `.matchAll(/((?:'lenden\b[^']*'|[^ ']+|')*) /g);
  return wrappedWords(
    Array.from(words, ([, word = ""]) => word),
    columns,
  );
}

function wrappedWords(words: string[], columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words.flatMap((one) => broken(one, columns))) {
    const joined = line === "" ? word : `${line} ${word}`;
    const fits = line === "" || widthOf(joined) <= columns;
    if (!fits) lines.push(line.trimEnd());
    line = fits ? joined : word;
  }
  return [...lines, line];
}

function broken(word: string, columns: number): string[] {
  return /^https?:\/\/| /.test(word) ? [word] : pieces(word, columns);
}

/** Cuts a text into pieces that fit, each of at least one character. */
function pieces(text: string, columns: number): string[] {
  const found: string[] = [];
  let piece = "";
  let width = 0;
  for (const character of charactersOf(text)) {
    const more = characterWidth(character);
    if (piece !== "" && width + more > columns) {
      found.push(piece);
      [piece, width] = ["", 0];
    }
    piece += character;
    width += more;
  }
  return [...found, piece];
}

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into what a reader sees as characters: a letter with its marks, an emoji of several parts. */
function charactersOf(text: string): string[] {
  if (isAscii(text)) return [...text];
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function characterWidth(character: string): number {
  if (/\p{Emoji_Presentation}|\p{RI}|\ufe0f/u.test(character)) return 2;
  return baseWidth(character.replace(/[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/gu, ""));
}

export function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

export function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
