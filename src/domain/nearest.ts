import { distance } from "fastest-levenshtein";

/** The word that was probably meant, whatever its case; undefined if none is near enough. */
export function nearest<Word extends string>(
  typed: string,
  words: readonly Word[],
): Word | undefined {
  const folded = typed.toLowerCase();
  const [best] = words
    .map((word) => ({ word, far: distance(folded, word.toLowerCase()) }))
    .sort((one, other) => one.far - other.far);
  const limit = Math.max(2, Math.floor(typed.length / 3));
  return best && best.far <= limit && best.far < typed.length ? best.word : undefined;
}

/** ` Did you mean shop?`, to stand behind a sentence; nothing where nothing is near. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const meant = nearest(typed, words);
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}
