/** Words as a line that a POSIX shell takes apart into the same words again. */
export function shellLine(words: string[]): string {
  return words.map(quoted).join(" ");
}

/** What no shell reads anything into stays as it is; zsh alone minds a leading `=`. */
function quoted(word: string): string {
  const isPlain = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word);
  return isPlain ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
