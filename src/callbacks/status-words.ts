import type { Status } from "../domain/statuses.ts";

const meanings: [RegExp, Status][] = [
  [/^(?:completed?|success(?:ful)?|succeeded|paid)$/, "Completed"],
  [/^(?:cancell?ed|fail(?:ed|ure)|declined|expired)$/, "Cancelled"],
  [/^(?:processing|pending|initiated)$/, "Processing"],
];

/** The documented status that a word stands for, also in words of other services. */
export function meaningOf(word: string): Status | undefined {
  const plain = word.toLowerCase();
  return meanings.find(([words]) => words.test(plain))?.[1];
}
