import {
  claimText,
  type ListedCallback,
  listed,
  nameOf,
  verifiedText,
} from "../../callbacks/plain.ts";
import { newestCallbacks } from "../../callbacks/stored.ts";
import { verdicts } from "../../callbacks/verify.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag, oneOf } from "../../cli/command/flag.ts";
import { text, time } from "../../cli/output/view.ts";
import { keysOf } from "../../domain/collect.ts";
import { usage } from "../../domain/failure.ts";
import { columnsFlag, type ListColumn, limit, pagesOf, pageTable } from "../lists.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";
import { callbackFields } from "./callbacks.ts";

const listColumns = {
  number: ["#", ({ number }) => text(number)],
  receivedAt: ["RECEIVED", ({ receivedAt }) => time(receivedAt)],
  count: ["COUNT", ({ count }) => text(count)],
  verdict: ["VERDICT", ({ verdict }) => text(verdict)],
  about: ["RECORD", ({ records: [first] }) => text(first && nameOf(first))],
  claimed: ["CLAIMED", ({ records: [first] }) => text(first && claimText(first))],
  verified: ["ACTUAL", ({ records: [first] }) => text(first && verifiedText(first))],
  forwarded: ["FORWARDED", ({ forwarded }) => text(forwarded?.response)],
  source: ["SOURCE", ({ source }) => text(source)],
  explanation: ["REASON", ({ explanation }) => text(explanation)],
  handler: ["HANDLER", ({ forwarded }) => text(forwarded?.to)],
} satisfies Record<string, ListColumn<ListedCallback>>;

const names = keysOf(listColumns);
const list = {
  columns: listColumns,
  table: names.slice(0, 8),
  all: names,
  id: ({ number }: ListedCallback) => String(number),
};

export const callbackList = defineCommand({
  description:
    "'lenden callback verify --help' explains the verdicts. 'unchecked': the API did not respond.",
  examples: {
    "List callbacks that falsely claim Completed": "lenden callback list --verdict forged --json",
  },
  flags: {
    verdict: flag.optional(
      "--verdict <verdict>",
      `Verdict: {${verdicts.join(" | ")}}`,
      oneOf(verdicts),
    ),
    ...timeFilters,
    columns: columnsFlag(list),
    limit,
  },
  sameFlagsAs: "payout list",
  list: true,

  async *run({ verdict, since, until, ...given }, context) {
    const { problems, ...span } = spanOf({ since, until }, await zoneOf(context), context);
    if (problems.length > 0) throw usage(problems);
    const { callbacks } = await context.ledger.records();
    const filter = { verdict, ...span };
    const stored = {
      read: async function* (most: number) {
        for await (const one of newestCallbacks(callbacks, filter, most)) yield listed(one);
      },
      count: (most: number) => callbacks.count(filter, most),
    };
    yield* pagesOf(list, stored, { ...given, ...filter }, context);
  },
  output: (schema) => schema.z.strictObject(callbackFields(schema)),
  json: ({ items }) => items,
  view: (page) =>
    pageTable(
      page,
      list,
      page.isWhole
        ? "No callbacks yet. To receive them, run 'lenden callback listen'."
        : "No callback matches. To list all, run 'lenden callback list'.",
    ),
});
