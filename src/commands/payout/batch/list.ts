import { countBatches, listStatuses, listStatusOf, newestBatches } from "../../../batches/list.ts";
import { statusJson } from "../../../batches/plain.ts";
import type { BatchStatus } from "../../../batches/status.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag, oneOf } from "../../../cli/command/flag.ts";
import { id, money, text, time } from "../../../cli/output/view.ts";
import { keysOf } from "../../../domain/collect.ts";
import { usage } from "../../../domain/failure.ts";
import { columnsFlag, type ListColumn, limit, pagesOf, pageTable } from "../../lists.ts";
import { spanOf, timeFilters, zoneOf } from "../../time-filters.ts";
import { batchFields } from "./batch.ts";

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
  status: ["STATUS", (one) => text(listStatusOf(one))],
  cancelledAt: ["CANCELLED", ({ batch }) => time(batch.cancelledAt)],
  user: ["USER", ({ batch }) => text(batch.user)],
  login: ["LOGIN", ({ batch }) => text(batch.login)],
} satisfies Record<string, ListColumn<BatchStatus>>;

const names = keysOf(listColumns);
const list = {
  columns: listColumns,
  table: names.slice(0, 10),
  all: names,
  id: ({ batch }: BatchStatus) => batch.id,
};

export const batchList = defineCommand({
  description: "An open batch has rows that were not sent, or whose outcome is unknown.",
  examples: { "List batches with the status of their rows": "lenden payout batch list" },
  flags: {
    status: flag.optional(
      "--status <status>",
      `Status: {${listStatuses.join(" | ")}}`,
      oneOf(listStatuses),
    ),
    ...timeFilters,
    columns: columnsFlag(list),
    limit,
  },
  sameFlagsAs: "payout list",
  list: true,
  async *run({ status, ...given }, context) {
    const { since = "", until = "9", problems } = spanOf(given, await zoneOf(context), context);
    if (problems.length > 0) throw usage(problems);
    const ledger = await context.ledger.records();
    const read = (most: number) => newestBatches({ since, until, status }, most, ledger);
    const count = (most: number) => countBatches({ since, until, status }, most, ledger);
    yield* pagesOf(list, { read, count }, { ...given, status }, context);
  },
  output: (schema) => schema.z.strictObject({ ...batchFields(schema), warnings: schema.warnings }),
  json: ({ items }) => items.map(statusJson),
  view: (page) =>
    pageTable(
      page,
      list,
      page.isWhole
        ? "No batches yet. To create a sample file, run 'lenden payout batch template'."
        : "No batch matches. To list all, run 'lenden payout batch list'.",
    ),
});
