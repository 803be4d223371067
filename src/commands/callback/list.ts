import { verdicts } from "../../callbacks/verdicts.ts";
import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag, oneOf } from "../../cli/command/flag.ts";
import { type Row, text, time } from "../../cli/output/view.ts";
import { type KeptCallback, listed } from "./kept.ts";
import { claimText, nameOf, verifiedText } from "./verdict.ts";

export const callbackList = defineCommand({
  name: "callback list",
  summary: "List the callbacks that came to this machine, newest first",
  examples: [
    { line: "lenden callback list --limit 10", says: "the newest ten" },
    { line: "lenden callback list --verdict forged --json", says: "the attempts to cheat" },
  ],
  flags: {
    verdict: flag.optional(
      `--verdict <${verdicts.join("|")}>`,
      "Only those that came out like this",
      oneOf(verdicts),
    ),
    limit: flag.optional("--limit <n>", "At most this many (default 50)", readCount(9_999_999)),
  },
  exits: ["access"],
  async run({ verdict, limit = 50 }, context) {
    const ledger = await context.records();
    return (await ledger.callbacks.list({ verdict, limit })).map(listed);
  },
  view: (callbacks) => ({
    kind: "table",
    columns: [
      { key: "number", label: "#" },
      { key: "receivedAt", label: "RECEIVED" },
      { key: "count", label: "TIMES" },
      { key: "verdict", label: "VERDICT" },
      { key: "about", label: "ABOUT" },
      { key: "claimed", label: "IT CLAIMS" },
      { key: "verified", label: "THE SERVICE SAYS" },
      { key: "forwarded", label: "PASSED ON" },
    ],
    rows: callbacks.map(rowOf),
    empty: "No callback came here yet. 'lenden callback listen --help' shows how they can.",
  }),
});

function rowOf(callback: KeptCallback): Row {
  const { number, receivedAt, count, verdict, records, forwarded } = callback;
  const id = String(number);
  const [first] = records;
  return {
    id,
    cells: {
      number: text(id),
      receivedAt: time(receivedAt),
      count: text(count),
      verdict: text(verdict),
      about: text(first && nameOf(first)),
      claimed: text(first && claimText(first)),
      verified: text(first && verifiedText(first)),
      forwarded: text(forwarded?.answer),
    },
  };
}
