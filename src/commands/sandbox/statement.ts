import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { text } from "../../cli/output/view.ts";
import { paisaOf, readAmount } from "../../domain/amount.ts";
import { collect } from "../../domain/collect.ts";
import { usage } from "../../domain/failure.ts";
import { clockIn } from "../../domain/time-zone.ts";
import { localPages } from "../../operations/local-sandbox.ts";
import { signedText } from "../../reconcile/classify.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";

/** What the sandbox's provider charges, in hundredths of a percent. */
const feeRates = { payment: 150n, payout: 100n, refund: 0n };

const columns = ["date", "id", "reference", "type", "amount", "fee", "balance", "status"] as const;

export const sandboxStatement = defineCommand({
  description:
    "Lists the completed records of a local sandbox as a provider does, with fees and balances. For testing 'lenden reconcile'.",
  examples: {
    "Write a statement, and reconcile it":
      "lenden sandbox statement > statement.csv && lenden reconcile statement.csv --yes",
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
    const moved = (await completed(context)).filter(
      ({ updatedAt }) => updatedAt >= since && updatedAt <= until,
    );
    const dateOf = (iso: string) =>
      new Date(clockIn(zone, Date.parse(iso))).toISOString().slice(0, 19).replace("T", " ");
    let balance = opening;
    const lines = moved.map(({ kind, id, reference, status, amount, updatedAt }) => {
      const paisa = paisaOf(amount) ?? 0n;
      const fee = (paisa * feeRates[kind]) / 10_000n;
      const movement = kind === "payment" ? paisa : -paisa;
      balance += movement - fee;
      const sums = { amount: signedText(movement), fee: signedText(fee) };
      const what = { date: dateOf(updatedAt), id, reference: reference ?? "", type: kind, status };
      return { ...what, ...sums, balance: signedText(balance) };
    });
    const [first] = lines;
    const date = first?.date ?? dateOf(new Date(context.host.now()).toISOString());
    const empty = { id: "", reference: "", amount: "", fee: "", status: "" };
    return [{ date, type: "opening balance", balance: signedText(opening), ...empty }, ...lines];
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

/** Oldest first, by when each was completed. */
async function completed({ api }: Context) {
  const { listRecords } = await api.local("Only a local sandbox writes statements");
  return (await collect(localPages(listRecords)))
    .flat()
    .filter(({ status }) => status === "Completed")
    .sort((one, other) => Date.parse(one.updatedAt) - Date.parse(other.updatedAt));
}
