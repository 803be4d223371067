import { type BatchStatus, openOf, readStatus } from "../../../batches/status.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag, oneOf } from "../../../cli/command/flag.ts";
import { limit, pagesOf } from "../../../cli/command/list.ts";
import { id, money, text, time } from "../../../cli/output/view.ts";
import { usage } from "../../../domain/failure.ts";
import {
  type Columns,
  columnsFlag,
  type ListColumn,
  listTable,
  shownColumns,
} from "../../list-columns.ts";
import { spanOf, timeFilters, zoneOf } from "../../time-filters.ts";
import { statusJson } from "./summary.ts";

/** An open batch has rows that were not sent, or whose outcome is unknown. */
const statuses = ["open", "ended", "cancelled"] as const;

function statusOf({ batch, sums }: BatchStatus): (typeof statuses)[number] {
  if (batch.cancelledAt !== null) return "cancelled";
  return openOf(sums).count > 0 ? "open" : "ended";
}

const listColumns = {
  batch: ["BATCH", ({ batch }) => id(batch.id)],
  name: ["NAME", ({ batch }) => text(batch.name)],
  rows: ["ROWS", ({ total }) => text(total.count)],
  total: ["TOTAL", ({ total }) => money(total.sumPaisa)],
  accepted: ["ACCEPTED", ({ sums }) => text(sums.completed.count + sums.processing.count)],
  failed: ["FAILED", ({ sums }) => text(sums.refused.count + sums.cancelled.count)],
  conflict: ["CONFLICT", ({ sums }) => text(sums.conflict.count)],
  uncertain: ["UNKNOWN", ({ sums }) => text(sums.uncertain.count)],
  unsent: ["NOT SENT", ({ sums }) => text(sums.unsent.count)],
  createdAt: ["CREATED", ({ batch }) => time(batch.createdAt)],
  status: ["STATUS", (one) => text(statusOf(one))],
  cancelledAt: ["CANCELLED", ({ batch }) => time(batch.cancelledAt)],
  user: ["USER", ({ batch }) => text(batch.user)],
} satisfies Record<string, ListColumn<BatchStatus>>;

const usual: Columns<keyof typeof listColumns>["table"] = [
  "batch",
  "name",
  "rows",
  "total",
  "accepted",
  "failed",
  "conflict",
  "uncertain",
  "unsent",
  "createdAt",
];
const columns = {
  table: usual,
  all: [...usual, "status", "cancelledAt", "user"],
} satisfies Columns<keyof typeof listColumns>;

export const batchList = defineCommand({
  description: "Lists the batches of the ledger, newest first.",
  examples: {
    "List batches with the status of their rows": "lenden payout batch list",
  },
  flags: {
    status: flag.optional(
      "--status <status>",
      `Status: {${statuses.join(" | ")}}`,
      oneOf(statuses),
    ),
    ...timeFilters,
    columns: columnsFlag(columns),
    limit,
  },
  list: true,
  async *run({ limit, status, columns: chosen, ...times }, context) {
    const zone = await zoneOf(context);
    const shown = { ...shownColumns(columns, chosen, context), zone };
    const { since = "", until = "9", problems } = spanOf(times, zone, context);
    if (problems.length > 0) throw usage(problems);
    const ledger = await context.ledger.records();
    async function* read(most: number) {
      let left = most;
      for (const batch of await ledger.batches.list(Number.MAX_SAFE_INTEGER)) {
        if (batch.createdAt < since || batch.createdAt > until) continue;
        const one = await readStatus(batch, ledger);
        if (status !== undefined && statusOf(one) !== status) continue;
        yield one;
        left -= 1;
        if (left === 0) return;
      }
    }
    const count = async (most: number) => {
      let found = 0;
      for await (const _ of read(most)) found += 1;
      return found;
    };
    const isWhole = [status, times.since, times.until].every((one) => one === undefined);
    for await (const batches of pagesOf({ read, count }, limit, context.ui))
      yield { ...shown, isWhole, batches };
  },
  json: ({ batches }) => batches.map(statusJson),
  view: ({ batches, isWhole, ...shown }) =>
    listTable<BatchStatus, keyof typeof listColumns>(batches, listColumns, {
      ...shown,
      id: ({ batch }) => batch.id,
      empty: isWhole
        ? "No batches yet. To create a sample file, run 'lenden payout batch template'."
        : "No batch matches. To list all, run 'lenden payout batch list'.",
    }),
});
