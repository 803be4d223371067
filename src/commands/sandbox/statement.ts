import type { Data } from "../../api/contract/endpoint.ts";
import type { localContract } from "../../api/contract/local.ts";
import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { table, text } from "../../cli/output/view.ts";
import { amountText, type Paisa, paisaOf, readAmount } from "../../domain/amount.ts";
import { usage } from "../../domain/failure.ts";
import { clockIn } from "../../domain/time-zone.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";

type Listed = Data<typeof localContract.listRecords>[number];

/** What the sandbox's provider charges, in hundredths of a percent. */
const feeRates = { payment: 150n, payout: 100n, refund: 0n };

export const sandboxStatement = defineCommand({
  description: "Has the completed records of a local sandbox, with fees and balances.",
  examples: {
    "Write a statement, and reconcile it":
      "lenden sandbox statement > statement.csv && lenden reconcile statement.csv --yes",
  },
  flags: {
    ...timeFilters,
    opening: flag.optional("--opening <bdt>", "Opening balance (default: 100000)", readAmount),
  },
  format: "csv",
  sandboxOnly: true,

  async run({ opening = 10_000_000n, ...times }, context) {
    const zone = await zoneOf(context);
    const { since = "", until = "9999", problems } = spanOf(times, zone, context);
    if (problems.length > 0) throw usage(problems);
    const moved = (await completed(context)).filter(
      ({ updatedAt }) => updatedAt >= since && updatedAt <= until,
    );
    const shown = (iso: string) =>
      new Date(clockIn(zone, Date.parse(iso))).toISOString().slice(0, 19).replace("T", " ");
    let balance = opening;
    const lines = moved.map(({ kind, id, reference, status, amount, updatedAt }) => {
      const paisa = paisaOf(amount) ?? 0n;
      const fee = (paisa * feeRates[kind]) / 10_000n;
      const movement = kind === "payment" ? paisa : -paisa;
      balance += movement - fee;
      const line = { date: shown(updatedAt), id, reference: reference ?? "", type: kind };
      return {
        ...line,
        amount: signed(movement),
        fee: signed(fee),
        balance: signed(balance),
        status,
      };
    });
    const first = {
      ...{ date: shown(moved[0]?.updatedAt ?? new Date(context.host.now()).toISOString()), id: "" },
      ...{ reference: "", type: "opening balance", amount: "", fee: "", status: "" },
      balance: signed(opening),
    };
    return [first, ...lines];
  },
  view: (lines) => ({
    ...table(lines, {
      id: ({ id }) => id,
      empty: "",
      columns: {
        date: ["DATE", ({ date }) => text(date)],
        id: ["ID", ({ id }) => text(id)],
        reference: ["REFERENCE", ({ reference }) => text(reference)],
        type: ["TYPE", ({ type }) => text(type)],
        amount: ["AMOUNT", ({ amount }) => text(amount)],
        fee: ["FEE", ({ fee }) => text(fee)],
        balance: ["BALANCE", ({ balance }) => text(balance)],
        status: ["STATUS", ({ status }) => text(status)],
      },
    }),
    // A guarded cell would be no number.
    csv: "exact" as const,
  }),
});

/** Oldest first, by when each was completed. */
async function completed({ api }: Context): Promise<Listed[]> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const local = await api.local("Only a local sandbox writes statements");
  const found: Listed[] = [];
  for (let after = 0; ; ) {
    const page = dataOf(await local.listRecords({ after: String(after) }));
    if (page.length === 0) break;
    found.push(...page.filter(({ status }) => status === "Completed"));
    after = page.at(-1)?.number ?? after;
  }
  return found.sort((one, other) => Date.parse(one.updatedAt) - Date.parse(other.updatedAt));
}

function signed(paisa: Paisa): string {
  return paisa < 0n ? `-${amountText(-paisa)}` : amountText(paisa);
}
