import { distance } from "fastest-levenshtein";

/**
 * The word that was probably meant, whatever its case. Short words are near to too many others, so they
 * match only if two neighboring letters changed places; others need the same first letter.
 */
export function nearest<Word extends string>(
  typed: string,
  words: readonly Word[],
): Word | undefined {
  const folded = typed.toLowerCase();
  const mostEdits = folded.length < 4 ? 0 : folded.length < 6 ? 1 : 2;
  const [best] = words
    .map((word) => ({ word, edits: editsBetween(folded, word.toLowerCase()) }))
    .filter(({ word, edits }) => edits === 0 || isNear(folded, word.toLowerCase(), edits))
    .sort((one, other) => one.edits - other.edits);
  return best?.word;

  function isNear(one: string, other: string, edits: number): boolean {
    return isSwapped(one, other) || (edits <= mostEdits && one[0] === other[0]);
  }
}

/** ` Did you mean shop?`, to follow a sentence; empty if nothing is near. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const meant = nearest(typed, words);
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

function editsBetween(one: string, other: string): number {
  return isSwapped(one, other) ? 1 : distance(one, other);
}

/** True if the texts differ in two neighboring letters that changed places. */
function isSwapped(one: string, other: string): boolean {
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  const swapped = `${one.slice(0, at)}${one[at + 1]}${one[at]}${one.slice(at + 2)}`;
  return at >= 0 && at + 1 < one.length && swapped === other;
}
