import { caseNames } from "../../callbacks/trial/names.ts";
import type { Tried } from "../../callbacks/trial/tried.ts";
import { readWord } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag, oneOf } from "../../cli/command/flag.ts";
import { readDuration } from "../../cli/output/time.ts";
import { accepted, type Reading, rejected } from "../../domain/reading.ts";
import { readUrl } from "../../domain/url.ts";

/** How long the local sandbox itself waits for an answer to a callback. */
const usualAnswerMs = 10_000;
const usualSettleMs = 1_000;

const howItWorks =
  "It makes payments of its own in the local sandbox, sends your handler true and false callbacks about them, and looks at what it answers and at what it asks the sandbox meanwhile. Your handler must use this sandbox as its service: run both inside 'lenden sandbox exec', or keep 'lenden sandbox start' running. Nothing leaves this machine, unless --own-host says so.";
const withBook =
  'What your shop believed, only its book shows. --orders is an address of your shop with {id} in it, made for this test. PUT there tells of an order and its payment: {"transactionId","order","amount"}. GET answers how much taka is booked as received for that payment: {"paid":500} or 500; 404 is nothing. More than was paid is a failed case; where the callback was true, so is less.';
const withoutBook =
  "Without --orders a case fails where your handler asked the sandbox about the genuine callback in time, says 2xx to a false one, and nobody asked about that: it believed the sender. It passes where 4xx refuses a false one, if the genuine one was taken. Bodies that are slow or huge are judged by the answers. Everything else is undecided, and that is no pass.";

export const callbackTest = defineCommand({
  name: "callback test",
  summary: "Find out which false callbacks your own handler believes",
  details: [howItWorks, withBook, withoutBook].join("\n\n"),
  examples: [
    {
      line: "lenden callback test http://127.0.0.1:3000/callback --orders http://127.0.0.1:3000/orders/{id}",
      says: "every case is decided, for the shop's book is seen",
    },
    {
      line: "lenden callback test 'http://127.0.0.1:3000/callback?order={order}' --orders http://127.0.0.1:3000/orders/{id} --only replay --junit report.xml",
      says: "two cases alone, with a report for CI; {order} stands for the order's name",
    },
  ],
  arguments: {
    url: argument.required(
      "url",
      "Where your handler takes callbacks, on this machine; may hold {order}",
      readUrl,
    ),
  },
  flags: {
    orders: flag.optional(
      "--orders <url>",
      "Your shop's book, with {id} for the transaction id",
      readTemplate,
    ),
    only: flag.many(
      "--only <case>",
      `Only this one beside genuine: ${caseNames.slice(1).join(", ")}`,
      oneOf(caseNames),
    ),
    answerWithin: flag.optional(
      "--answer-within <duration>",
      "How long an answer may take (default 10s, as the local sandbox waits)",
      readDuration,
    ),
    settle: flag.optional(
      "--settle <duration>",
      "How long your handler may go on after its answers (default 1s)",
      readDuration,
    ),
    ownHost: flag.optional(
      "--own-host <host>",
      "Send to this host although it is another machine: the one that <url> names",
      readWord,
    ),
    junit: flag.optional("--junit <file>", "Write a JUnit report too", accepted<string>, "file"),
  },
  list: true,
  sandboxOnly: true,
  patient: true,
  finishes: true,
  exits: ["internal", "refused", "access", "unverified", "unreachable"],
  async *run(given, context): AsyncIterable<Tried> {
    const { runTrial } = await import("./trial-run.ts");
    const { answerWithin: answerMs = usualAnswerMs, settle: settleMs = usualSettleMs } = given;
    const all = await runTrial({ ...given, answerMs, settleMs }, context);
    yield* all;
    if (given.junit === undefined) return;
    const { writeReport } = await import("./trial-report.ts");
    writeReport(given.junit, all);
  },
  view: (tried) => ({
    kind: "step",
    id: tried.case,
    check: tried.case,
    state: tried.verdict,
    says: sentencesOf(tried),
    todo: tried.todo,
  }),
  ending: ({ verdict }) => (verdict === "passed" ? undefined : "unverified"),
});

function sentencesOf({ sent, answers, asked, because }: Tried): string {
  const answered = answers.map(({ status, fault }) => fault ?? status).join(", ");
  const times = ["never asked the service", "asked the service once"];
  return `Sent ${sent} Answered ${answered}; ${times[asked] ?? `asked the service ${asked} times`}. ${because}`;
}

function readTemplate(text: string): Reading<string> {
  const read = readUrl(text);
  if (!read.ok || text.includes("{id}")) return read;
  return rejected("There is no {id} in it, which stands for a payment's transaction id.");
}
