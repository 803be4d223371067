import type { Batch, Context, Ledger } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import type { Failure } from "../../../domain/failure.ts";
import type { patienceOf } from "../../patience.ts";

/**
 * Waits until all that was sent is Completed or Cancelled, with its progress on stderr.
 *
 * @returns why the last look failed, if it did
 */
export async function waitWithProgress(
  batch: Batch,
  patience: ReturnType<typeof patienceOf>,
  ledger: Ledger,
  context: Context,
): Promise<Failure | undefined> {
  const { waitForBatch } = await import("../../../batches/wait.ts");
  const watched = { batch, ledger };
  let open: number | undefined;
  const line = () => {
    if (open === undefined) return "Waiting";
    return open === 0 ? "No row is left to wait for" : `${rowsText(open)} not ended yet`;
  };
  const progress = context.progress(() => [line()]);
  const world = await context.world();
  try {
    return await waitForBatch(watched, patience, world, (count) => {
      open = count;
    });
  } finally {
    progress.close();
  }
}
