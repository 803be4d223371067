import { readStatus } from "../../../batches/status.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { limit, pagesOf } from "../../../cli/command/list.ts";
import { id, money, text, time } from "../../../cli/output/view.ts";
import { statusJson } from "./summary.ts";

export const batchList = defineCommand({
  description: "Lists the batches in the ledger of this machine, newest first.",
  examples: {
    "List batches with the status of their rows": "lenden payout batch list",
  },
  flags: { limit },
  list: true,
  async *run({ limit }, context) {
    const ledger = await context.ledger.records();
    async function* read(most: number) {
      for (const batch of await ledger.batches.list(most)) yield readStatus(batch, ledger);
    }
    const count = async (most: number) => (await ledger.batches.list(most)).length;
    yield* pagesOf({ read, count }, limit, context.ui);
  },
  json: (all) => all.map(statusJson),
  view: (all) => ({
    kind: "table",
    columns: [
      { key: "batch", label: "BATCH" },
      { key: "name", label: "NAME" },
      { key: "rows", label: "ROWS" },
      { key: "total", label: "TOTAL" },
      { key: "accepted", label: "ACCEPTED" },
      { key: "failed", label: "FAILED" },
      { key: "conflict", label: "CONFLICT" },
      { key: "uncertain", label: "UNKNOWN" },
      { key: "unsent", label: "NOT SENT" },
      { key: "createdAt", label: "CREATED" },
    ],
    rows: all.map(({ batch, total, sums }) => ({
      id: batch.id,
      cells: {
        batch: id(batch.id),
        name: text(batch.name),
        rows: text(total.count),
        total: money(total.sumPaisa),
        accepted: text(sums.completed.count + sums.processing.count),
        failed: text(sums.refused.count + sums.cancelled.count),
        conflict: text(sums.conflict.count),
        uncertain: text(sums.uncertain.count),
        unsent: text(sums.unsent.count),
        createdAt: time(batch.createdAt),
      },
    })),
    empty: "No batches yet. To create a sample file, run 'lenden payout batch template'.",
  }),
});
