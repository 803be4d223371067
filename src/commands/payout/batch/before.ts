import type { Batch, Ledger } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type Failure, inOneLine } from "../../../domain/failure.ts";
import { againOf } from "./checked.ts";
import { otherRows } from "./problems.ts";
import type { Examined } from "./source.ts";
import { adviceOn, readStanding, rowsAnd } from "./standing-card.ts";

/** What `send` would make of a file, in words. */
export interface Before {
  title: string;
  says: string;
  /** `send` rejects the file: its batch was cancelled, or an unfinished one with other rows has its name. */
  rejected?: Failure;
}

/** Of a file that is a batch already, or has the name of one; undefined if it is new or cannot be read. */
export async function batchBefore(
  { file, read }: Examined,
  ownName: string | undefined,
  ledger: Ledger,
): Promise<Before | undefined> {
  if (!file) return undefined;
  const { cancelledBatch, findBatch } = await import("../../../batches/plan.ts");
  const planned = await ledger.batches.ofFile(file.hash, ownName);
  const found = planned
    ? ({ kind: "same", batch: planned } as const)
    : await findBatch(file, read.rows, ledger);
  if (found.kind === "new") return undefined;
  if (found.kind === "other-rows") {
    const rejected = otherRows(file, found);
    return { title: "An unfinished batch has this name", says: inOneLine(rejected), rejected };
  }
  if (found.batch.cancelledAt === null) return knownBatch(found.batch, ledger);
  const rejected = cancelledBatch(found.batch);
  return { title: "The batch was cancelled", says: inOneLine(rejected), rejected };
}

async function knownBatch(batch: Batch, ledger: Ledger): Promise<Before> {
  const { checkOpenRows } = await import("../../../batches/plan.ts");
  const standing = await readStanding(batch, ledger);
  const { unsent, uncertain } = standing.sums;
  const count = unsent.count + uncertain.count;
  const { findings } = await checkOpenRows(batch, ledger);
  const { count: repeated } = await againOf(findings, ledger.batches.rows(batch, "open"));
  const otherwise =
    repeated === 0
      ? ""
      : ` Other payouts repeat ${rowsText(repeated)}: without --allow-duplicates the batch is not sent.`;
  const open = rowsAnd(count, unsent.sumPaisa + uncertain.sumPaisa);
  const says =
    count === 0
      ? `This file is batch ${batch.id}, and no row of it is left to be sent.`
      : `This file is batch ${batch.id}, of which ${open}, are still open.${otherwise}`;
  const advice = (await adviceOn(standing, ledger)) ?? "";
  const title = count === 0 ? "No row is left to be sent" : "The file is a batch already";
  return { title, says: `${says} ${advice}`.trim() };
}
