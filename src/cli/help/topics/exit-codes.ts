import { exits } from "../../../domain/failure.ts";
import type { Row, Section } from "../page.ts";

export const sections = (): Section[] => [
  {
    title: "Examples",
    examples: [
      {
        comment: "Print the exit code if it is not 0",
        command: 'lenden pay get TX8F3K2Q -q || echo "exit code: $?"',
      },
    ],
  },
  { title: "Codes", rows: [["0", "Done"], ...codes()] },
  {
    text: "After 75, money may have moved: read the message, or run 'lenden ledger resolve'.",
  },
  {
    text: "With --json, an error is one line of JSON on stderr; its kind is the word in brackets.",
  },
];

function codes(): Row[] {
  return Object.entries(exits)
    .sort(([, one], [, other]) => one.code - other.code)
    .map(([kind, { code, means, retry }]) => {
      const meaning = means.charAt(0).toUpperCase() + means.slice(1);
      return [String(code), `${meaning} (${kind}). Retry: ${retry}.`];
    });
}
