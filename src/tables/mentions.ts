/** A word of a text that may be an ID or a reference: `FLD-1` is none in `FLD-10`, and none in `FLD-1-2`. */
const words = /[A-Za-z0-9_]+(?:-+[A-Za-z0-9_]+)*/g;

/** The IDs and references that a text may name as whole words, also in capitals, as banks print them. */
export function mentionsIn(text: string): string[] {
  const found = (text.match(words) ?? []).filter((word) => /\d/.test(word) && word.length <= 256);
  return [...new Set(found.flatMap((word) => [word, word.toUpperCase(), word.toLowerCase()]))];
}

/** True for a text that is one word, as a reference is. */
export function isOneWord(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text);
}

/** True for `1.23457E+14`: a spreadsheet made a number of an ID, and rounded it. */
export function isRounded(text: string): boolean {
  return /^\d(?:[.,]\d+)?e\+?\d+$/i.test(text);
}
