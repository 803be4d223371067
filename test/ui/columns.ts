/**
 * How many columns a line takes, counted in another way than lenden does it, for the characters
 * that tests use: what `wcwidth` of glibc says of each, and two for a whole emoji.
 */
export function columnsOf(line: string): number {
  const emoji =
    /\p{RI}\p{RI}|\p{Extended_Pictographic}(?:\ufe0f|\p{EMod})?(?:\u200d\p{Extended_Pictographic}\ufe0f?)*/gu;
  const plain = line.replace(emoji, "漢").replace(/[\p{Mn}\u200c\u200d]/gu, "");
  return [...plain].reduce(
    (sum, one) => sum + (/[\p{scx=Han}\p{scx=Hang}！-～]/u.test(one) ? 2 : 1),
    0,
  );
}
