/**
 * Control, escape and format characters (bidirectional marks among them), unpaired surrogates, and
 * the line and paragraph separators. The two joiners stay: Bangla is written with them.
 */
export const unsafeCharacters = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
