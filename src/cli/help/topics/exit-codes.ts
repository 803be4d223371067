import { exits, type FailureKind } from "../../../domain/failure.ts";
import { type Page, type Row, rows, text } from "../page.ts";

/** Whether a script may run the same line again as it is. */
const again: Record<FailureKind, string> = {
  internal: "Report it",
  usage: "Again after mending",
  refused: "Again after mending",
  access: "Again after mending",
  conflict: "Not again",
  mixed: "Again sends nothing; 'payout batch export --only failed' has the failed rows",
  locked: "Again later",
  pending: "Again: it waits on",
  "not-found": "Not again",
  cancelled: "Not again",
  unverified: "Not again",
  unreachable: "Again",
  uncertain:
    "Again for a payout with the same --ref and for a batch; look first for a payment or a refund",
  interrupted: "Again",
};

export const page: Page = [
  text("How a run ended is its exit code. Scripts can rely on these numbers."),
  {
    kind: "examples",
    examples: [
      {
        line: 'lenden pay get TX8F3K2Q -q || echo "ended with $?"',
        says: "a script looks at the code",
      },
    ],
  },
  rows("Codes", codes()),
  text(
    "Only 75 means that money may have moved without a trustworthy answer. 'lenden ledger resolve' settles it. 'lenden sandbox exec' ends with the code of the command that it ran.",
  ),
  text(
    "With --json, an error is one line on stderr. Its field kind is the word in brackets; its message and hint are sentences for people, and may change.",
  ),
];

function codes(): Row[] {
  const kinds = Object.entries(exits).map(([kind, { code, means }]): [number, Row] => {
    const advice = Object.entries(again).find(([name]) => name === kind)?.[1] ?? "";
    return [code, [String(code), `${capital(means)} (${kind}). ${advice}.`]];
  });
  const all: [number, Row][] = [...kinds, [0, ["0", "Done."]]];
  return all.sort(([one], [other]) => one - other).map(([, row]) => row);
}

function capital(sentence: string): string {
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}
