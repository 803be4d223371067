import { existsSync } from "node:fs";
import { basename } from "node:path";
import { placeIn, readWord } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { argument } from "../../../cli/command/flag.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { Failure, inOneLine, usage } from "../../../domain/failure.ts";
import { workerText } from "../../../domain/person.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { waitOptionsOf } from "../../wait-options.ts";

export const batchArgument = argument.required(
  "batch",
  "File, ID or name of the batch, or @last",
  readWord,
  "batch",
);

/**
 * The batch with the rows of a file, with this ID or name, or among the newest.
 *
 * @param byLines whether the command line names rows by their lines in the file
 * @throws Failure `not-found` if there is none; `conflict` for a file with other rows than the batch of its
 * name; `usage` by lines for one that is not the planned file byte for byte
 */
export async function batchNamed(name: string, ledger: Ledger, byLines = false): Promise<Batch> {
  const place = placeIn(name);
  const found =
    place === undefined
      ? await batchOfName(name, ledger, byLines)
      : (await ledger.batches.list(place))[place - 1];
  if (found?.plan) return found;
  const message = `This account has no batch ${JSON.stringify(name)} in the ledger.`;
  const hint = "To list batches, run 'lenden payout batch list'.";
  throw new Failure("batch.not-found", message, { hint });
}

async function batchOfName(
  name: string,
  ledger: Ledger,
  byLines: boolean,
): Promise<Batch | undefined> {
  const { batches } = ledger;
  if (!existsSync(name)) return batches.find(name);
  const { readCsvFile } = await import("../../../batches/csv.ts");
  const csv = await readCsvFile(name);
  const own = await batches.newestOfFile(csv.hash);
  if (own) return own;
  const { batchOfRows } = await import("../../../batches/plan.ts");
  const choices = { ignored: [], mapped: [], isLenient: true };
  const same = await batchOfRows({ ...csv, choices }, ledger);
  if (same && byLines)
    throw usage(
      [`${name} has the rows of batch ${same.id}, but on other lines.`],
      `Use the batch ID, ${same.id}, and the lines of the file that was sent.`,
    );
  const other = await batches.find(basename(name));
  if (same || !other?.plan) return same;
  const message = `${name} has changed since batch ${other.id} was created.`;
  const hint = `To see that batch, use its ID: ${other.id}. To see what differs, run 'lenden payout batch check' with the file.`;
  throw new Failure("batch.other-rows", message, { hint, operation: other.id });
}

/** The process that sends a batch now; the batch may have been read a while ago. */
export async function holderNow({ id }: Batch, { batches }: Ledger) {
  const now = await batches.find(id);
  return now && (await batches.holderOf(now));
}

/** Says that a process sends the batch now. @returns true if one does */
export async function noteInProgress(
  batch: Batch,
  ledger: Ledger,
  { ui }: Context,
): Promise<boolean> {
  const by = await holderNow(batch, ledger);
  if (by)
    ui.notice(
      `This batch is being sent by ${workerText(by)}. Rows in flight count as unknown.`,
      "batch.in-progress",
    );
  return by !== undefined;
}

/**
 * Waits until every accepted row is Completed or Cancelled, with progress on stderr.
 *
 * @returns why the last status check failed, if it did
 */
export async function waitWithProgress(
  batch: Batch,
  waitOptions: ReturnType<typeof waitOptionsOf>,
  ledger: Ledger,
  context: Context,
): Promise<Failure | undefined> {
  const { waitForBatch } = await import("../../../batches/wait.ts");
  const deps = await context.api.deps();
  let line = "Waiting";
  const progress = context.ui.progress(() => ({ parts: [line] }));
  try {
    const unseen = await waitForBatch(batch, waitOptions, ledger, deps, (open) => {
      line = `Waiting for ${rowsText(open)}`;
    });
    warnOfUnchecked(unseen, context);
    return unseen;
  } finally {
    progress.close();
  }
}

export function warnOfUnchecked(unseen: Failure | undefined, { ui }: Context): void {
  if (unseen)
    ui.notice(`Not all statuses were retrieved. ${inOneLine(unseen)}`, "batch.not-all-checked");
}
