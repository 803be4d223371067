import { type Page, text } from "../page.ts";

export const page: Page = [
  text("lenden in scripts and in CI."),
  {
    kind: "examples",
    examples: [
      {
        line: 'id=$(lenden pay create --amount 500 --description "Order 43" --method nagad -q)',
        says: "-q prints the id alone",
      },
      {
        line: "lenden sandbox exec --auto-complete 1s -- npm test",
        says: "your own tests, against a service of their own",
      },
      {
        line: "lenden sandbox exec --fault createPayout:lost-reply:0.3 -- ./payroll.sh",
        says: "a script of yours, while three answers in ten get lost; see 'lenden help faults'",
      },
      {
        line: "lenden callback test http://127.0.0.1:3000/callback --orders http://127.0.0.1:3000/orders/{id} --junit report.xml",
        says: "your own handler of callbacks, on the sandbox that both use",
      },
    ],
  },
  text(
    "LENDEN_API_KEY, LENDEN_PAYOUT_SECRET and LENDEN_BASE_URL are all that a script needs; no profile. Keep the first two in the secrets of your CI.",
    "The account",
  ),
  text(
    "stdout is the answer, stderr is everything else. What is printed never depends on whether there is a terminal. With --json it is one JSON document, and an error is one line of JSON on stderr.",
    "Output",
  ),
  text(
    "Off a terminal, and wherever CI is set, nothing is ever asked: what is missing is an error (exit 2). On a production account whatever changes something needs --yes, or it ends with exit 4; a batch needs --expect-total and --expect-count as well.",
    "Nobody to ask",
  ),
  text(
    "Give every payout a --ref of your own, made of what it is for. Then a script that was stopped anywhere can simply run again. 'lenden help exit-codes' says of each ending whether the same line may run again.",
    "Running again",
  ),
  text(
    "LENDEN_DATA_DIR holds the ledger, which is what makes running again safe: keep it between runs, and do not share it between machines. Containers of one machine may share it: what a run holds is free once its process is gone.",
    "The ledger",
  ),
];
