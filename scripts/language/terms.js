/**
 * The words that this project does not use, each with the words to use instead. A search can find
 * these; the rest of the style is for the reader of the diff.
 *
 * The patterns are regular expression literals, so the check does not count them against this file.
 *
 * @type {{ pattern: RegExp, better: string }[]}
 */
const terms = [
  { pattern: /mend(?:s|ed|ing)?/, better: "fix, correct" },
  { pattern: /anew/, better: "again, new" },
  { pattern: /pay(?:s|ing)? back/, better: "refund" },
  { pattern: /paid back/, better: "refunded" },
  { pattern: /in doubt/, better: "outcome unknown" },
  { pattern: /(?:holds?|held) against/, better: "verify against, compare with" },
  { pattern: /dear/, better: "expensive" },
  { pattern: /begun/, better: "started" },
  { pattern: /left out/, better: "omitted, optional, (default: …)" },
  { pattern: /off a terminal/, better: "non-interactively" },
  { pattern: /(?:some|any|every|no)body/, better: "you, recipient, another process, anyone" },
  { pattern: /that there is not/, better: "unknown (or drop it)" },
  { pattern: /astray/, better: "modified, inconsistent" },
  { pattern: /for ever/, better: "permanently, with no limit" },
  { pattern: /(?:goes|went) out/, better: "is sent, was sent" },
  { pattern: /under way/, better: "in progress, in flight" },
  { pattern: /whitelist(?:ed)?/, better: "allowlist, allowed" },
];

const wholeWords = terms.map(({ pattern, better }) => ({
  pattern: new RegExp(`\\b(?:${pattern.source.replaceAll(" ", "\\s+")})\\b`, "gi"),
  better,
}));

/**
 * Every term in a text, in the order of the text.
 *
 * @param {string} text
 * @returns {{ at: number, word: string, better: string }[]}
 */
export function findTerms(text) {
  return wholeWords
    .flatMap(({ pattern, better }) =>
      [...text.matchAll(pattern)].map((match) => ({
        at: match.index,
        word: match[0].replace(/\s+/g, " "),
        better,
      })),
    )
    .sort((a, b) => a.at - b.at);
}
