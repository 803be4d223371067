import { Failure, inOneLine } from "../../../failure.ts";
import type { BatchFile, Draft, Ledger } from "../../../frame/context.ts";
import { rowsText } from "../../../ui/rows.ts";
import { adviceOn, readStanding, rowsAnd } from "./standing-card.ts";

/** What `send` would make of a file, in words. */
export interface Before {
  title: string;
  says: string;
  /** It is no batch, but has the name of one: so `send` refuses it. */
  conflict?: Failure;
}

/** Of a file that was read, and is a batch already or has the name of one; undefined where it is new. */
export async function batchBefore(
  { draft, ...file }: BatchFile & { draft: Draft },
  ledger: Ledger,
): Promise<Before | undefined> {
  const { plannedBefore } = await import("../../../batch/claim.ts");
  const { paidElsewhere } = await import("../../../batch/elsewhere.ts");
  if (draft.problemCount(["cell"]) > 0) return undefined;
  try {
    const batch = ledger.batches().ofFile(file.hash) ?? plannedBefore(file, draft, ledger);
    if (!batch?.plan) return undefined;
    const standing = readStanding(batch, ledger);
    const { unsent, uncertain } = standing.sums;
    const count = unsent.count + uncertain.count;
    const { count: paid } = paidElsewhere(batch, ledger);
    const otherwise =
      paid === 0
        ? ""
        : ` The same is paid otherwise too for ${rowsText(paid)}: without --allow-duplicates it is not sent.`;
    const says =
      count === 0
        ? `This file is batch ${batch.id}, and no row of it is left to be sent.`
        : `This file is batch ${batch.id}, of which ${rowsAnd(count, unsent.sumPaisa + uncertain.sumPaisa)}, are still open.${otherwise}`;
    const advice = adviceOn(standing, ledger) ?? "";
    const title = count === 0 ? "No row is left to be sent" : "The file is a batch already";
    return { title, says: `${says} ${advice}`.trim() };
  } catch (error) {
    if (error instanceof Failure && error.kind === "conflict")
      return { title: "Another file has this name", says: inOneLine(error), conflict: error };
    throw error;
  }
}
