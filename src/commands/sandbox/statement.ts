import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { text } from "../../cli/output/view.ts";
import { readAmount } from "../../domain/amount.ts";
import { collect } from "../../domain/collect.ts";
import { usage } from "../../domain/failure.ts";
import { localPages } from "../../operations/local-sandbox.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";

const columns = ["date", "id", "reference", "type", "amount", "fee", "balance", "status"] as const;

export const sandboxStatement = defineCommand({
  description:
    "Lists the completed records of a local sandbox as a provider does, with fees and balances. For testing 'lenden reconcile'.",
  examples: {
    "Write a statement, and reconcile it":
      "lenden sandbox statement > statement.csv && lenden reconcile statement.csv --record-fees --yes",
  },
  flags: {
    ...timeFilters,
    opening: flag.optional("--opening <bdt>", "Opening balance (default: 100000)", readAmount),
  },
  sameFlagsAs: "payout list",
  format: "csv",
  sandboxOnly: true,

  async run({ opening = 10_000_000n, ...times }, context) {
    const zone = await zoneOf(context);
    const { since = "", until = "9999", problems } = spanOf(times, zone, context);
    if (problems.length > 0) throw usage(problems);
    const { listRecords } = await context.api.local("Only a local sandbox writes statements");
    const records = (await collect(localPages(listRecords))).flat();
    const { statementOf } = await import("../../sandbox/statement.ts");
    return statementOf(records, { since, until, zone, opening, nowMs: context.host.now() });
  },
  output: ({ z, text, each }) =>
    z.array(z.strictObject(each(text, "date id reference type amount fee balance status"))),
  view: (lines) => ({
    kind: "table",
    columns: columns.map((key) => ({ key, label: key.toUpperCase() })),
    rows: lines.map((line) => ({
      id: line.id,
      cells: Object.fromEntries(columns.map((key) => [key, text(line[key])])),
    })),
    empty: "",
    // A guarded cell would be no number.
    csv: "exact",
  }),
});
