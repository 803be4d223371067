import type { Command } from "../../frame/command.ts";
import { indexOf, sayingOf } from "../line/command-tree.ts";
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
    text(
      "lenden takes payments, sends payouts to mobile wallets, and pays back, in taka, without paying anybody twice.",
    ),
    { kind: "usage", line: "lenden <command> [flags]" },
    {
      kind: "index",
      rows: [...lines, { purpose: "Read on", name: "help <topic>", says: topicNames }],
    },
    { kind: "examples", examples: [start] },
    text(
      "'lenden <command> --help' has the examples, flags and exit codes of a command, 'lenden help flags' the flags that work everywhere, 'lenden help topics' all topics.",
    ),
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
