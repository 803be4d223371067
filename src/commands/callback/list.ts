import { verdicts } from "../../callbacks/verify.ts";
import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag, oneOf } from "../../cli/command/flag.ts";
import { type Row, text, time } from "../../cli/output/view.ts";
import { claimText, type ListedCallback, listed, nameOf, verifiedText } from "./output.ts";

export const callbackList = defineCommand({
  name: "callback list",
  summary: "List received callbacks, newest first",
  examples: [
    { line: "lenden callback list --limit 10", says: "the newest ten" },
    {
      line: "lenden callback list --verdict forged --json",
      says: "those that claim a status that the API denies",
    },
  ],
  flags: {
    verdict: flag.optional(
      `--verdict <${verdicts.join("|")}>`,
      "Only those with this verdict",
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
      { key: "claimed", label: "CLAIMED" },
      { key: "verified", label: "ACTUAL" },
      { key: "forwarded", label: "FORWARDED" },
    ],
    rows: callbacks.map(rowOf),
    empty: "No callbacks yet. To receive them, run 'lenden callback listen'.",
  }),
});

function rowOf(callback: ListedCallback): Row {
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
