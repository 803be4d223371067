import { indexOf, sayingOf } from "../args/command-tree.ts";
import type { Command } from "../command/define-command.ts";
import { type Page, rows, text } from "./page.ts";
import { topics } from "./topics.ts";

/** What the examples of help begin with. */
const start = {
  line: "lenden demo",
  says: "the whole story on this machine: nothing to set up, no real money",
};

/** The first page: on one screen, what there is and where to read on. */
export function rootPage(commands: Command[]): Page {
  const lines = indexOf(commands).flatMap(({ title, names }) =>
    names.map((name) => ({ purpose: title, name, says: sayingOf(name, commands) })),
  );
  const topicNames = topics.map(({ name }) => name).join(", ");
  return [
    text("Collect payments, send payouts and issue refunds in BDT, with safe retries."),
    text(
      "Running the same command twice does not pay twice: the same --ref shows the existing payout. All conditions: 'lenden help money-safety'.",
    ),
    { kind: "usage", line: "lenden <command> [flags]" },
    {
      kind: "index",
      rows: [...lines, { purpose: "Topics", name: "help <topic>", says: topicNames }],
    },
    { kind: "examples", examples: [start] },
    text("Learn more: 'lenden <command> --help', 'lenden help topics'."),
  ];
}

/** What there is to read beside the commands. */
export function topicsPage(): Page {
  return [
    text("What there is to read beside the help of the commands."),
    {
      kind: "examples",
      examples: [{ line: "lenden help exit-codes", says: "one of the topics" }],
    },
    rows(
      "Topics",
      topics.map(({ name, summary }) => [name, summary]),
    ),
  ];
}
