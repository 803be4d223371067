import type { Command } from "../../frame/command.ts";
import { type Page, text } from "./page.ts";
import { topics } from "./topics.ts";
import { indexOf, sayingOf } from "./tree.ts";

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
      "'lenden <command> --help' has examples, flags and exit codes; 'lenden help flags' has the flags that work everywhere.",
    ),
  ];
}
