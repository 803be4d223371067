import { exits } from "../../../domain/failure.ts";
import type { Row, Section } from "../page.ts";

export const sections = (): Section[] => [
  {
    title: "Examples",
    examples: [
      {
        comment: "Print the exit code if it is not 0",
        command: 'lenden pay get TX8F3K2Q -q || echo "ended with $?"',
      },
    ],
  },
  { title: "Codes", rows: [["0", "Done"], ...codes()] },
  {
    text: "Only 75 means that money may have moved without a valid response: run 'lenden ledger resolve'. 'lenden sandbox exec' exits with the code of the program that it runs.",
  },
  {
    text: "With --json, an error is one line on stderr: kind is the word in brackets, reason a stable identifier, effect what happened to money. Message and hint may change.",
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
