/** Words as a command line that a POSIX shell splits into the same words. */
export function shellLine(words: string[]): string {
  return words.map(quoted).join(" ");
}

/** Quotes a word unless no shell gives it a meaning; zsh expands a leading `=`. */
function quoted(word: string): string {
  const isPlain = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word);
  return isPlain ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
