import { statusJson } from "../../../batches/plain.ts";
import { endingOf, readStatus } from "../../../batches/status.ts";
import { countsText } from "../../../batches/texts.ts";
import { type Context, defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import { field, text } from "../../../cli/output/view.ts";
import type { FailureKind } from "../../../domain/failure.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { waitFlags, waitOptionsOf } from "../../wait-options.ts";
import {
  batchArgument,
  batchFields,
  batchNamed,
  noteInProgress,
  statusCard,
  waitWithProgress,
  warnOfUnchecked,
} from "./batch.ts";

export const batchStatus = defineCommand({
  description: "Counts the rows by their last known status.",
  examples: { "Show a batch by its file": "lenden payout batch status payroll.csv" },
  arguments: { batch: batchArgument },
  flags: {
    refresh: flag.toggle("--refresh", "First update Processing and differing payouts from the API"),
    watch: flag.toggle("--watch", "Show the progress while another process sends the batch"),
    ...waitFlags,
  },
  sameFlagsAs: "payout batch send",
  patient: true,
  exitCodes: {
    conflict: "a reference belongs to a different payout, or the file was changed",
    pending: "still being sent, or still Processing after --wait",
    unreachable: "not all rows were sent, or the API did not respond",
    uncertain: "the outcome of some rows is unknown",
  },
  async run(input, context) {
    const { refresh, wait } = input;
    const { endingFailure, endingUnlessSeen } = await import("../../../batches/ending.ts");
    const { repairsOf } = await import("../../../batches/retries.ts");
    const ledger = await (refresh || wait ? context.ledger.own() : context.ledger.records());
    const batch = await batchNamed(input.batch, ledger);
    if (input.watch) await watch(batch, ledger, context);
    /** Why not every status could be requested: those shown may be old. */
    let unseen: FailureKind | undefined;
    if (wait) {
      const failure = await waitWithProgress(batch, waitOptionsOf(input), ledger, context);
      // A wait for an API that does not respond ends as pending.
      if (failure?.kind === "access") unseen = failure.kind;
    } else if (refresh) {
      const { refreshBatch } = await import("../../../batches/wait.ts");
      const failure = await refreshBatch(batch, ledger, await context.api.deps());
      warnOfUnchecked(failure, context);
      if (failure?.kind !== "not-found") unseen = failure?.kind;
    }
    const status = await readStatus(batch, ledger);
    const isInProgress = await noteInProgress(batch, ledger, context);
    const ended = endingOf(status.sums, { waited: wait, isCancelled: batch.cancelledAt !== null });
    const isOpen = ended === "uncertain" || ended === "unreachable";
    const kind = isInProgress && isOpen ? "pending" : endingUnlessSeen(ended, status, unseen);
    const failure = await endingFailure(kind, status, { notes: [] }, ledger);
    const repairedBy = await repairsOf(batch, ledger);
    return { ...status, repairedBy, failure };
  },
  output: (schema) =>
    schema.z.strictObject({
      ...batchFields(schema),
      repairedBy: schema.z.array(schema.text),
      warnings: schema.warnings,
    }),
  json: (seen) => ({ ...statusJson(seen), repairedBy: seen.repairedBy }),
  view: (seen) => {
    const card = statusCard(seen);
    const by = seen.repairedBy.join(", ");
    return by === ""
      ? card
      : { ...card, fields: [...card.fields, field("repairedBy", "Repaired by", text(by))] };
  },
  ending: ({ failure }) => failure,
});

const everyMs = 1_000;

/** Reads the ledger every second while a process sends the batch. */
async function watch(batch: Batch, ledger: Ledger, context: Context): Promise<void> {
  const deps = await context.api.deps();
  let line = "";
  const isInProgress = async (): Promise<boolean> => {
    line = countsText(await readStatus(batch, ledger));
    return (await ledger.batches.holderOf(batch)) !== undefined;
  };
  if (!(await isInProgress())) return;
  const progress = context.ui.progress(() => ({ parts: line.split("; ") }));
  try {
    while (!deps.isStopping() && (await isInProgress())) await deps.sleep(everyMs);
  } finally {
    progress.close();
  }
}
