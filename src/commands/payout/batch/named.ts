import { existsSync } from "node:fs";
import { basename } from "node:path";
import { placeIn, readWord } from "../../../cli/command/common-flags.ts";
import type { Batch, Ledger } from "../../../cli/command/context.ts";
import { argument } from "../../../cli/command/flag.ts";
import { Failure, usage } from "../../../domain/failure.ts";

export const batchArgument = argument.required(
  "batch",
  "The file, the batch's id or name, or @last",
  readWord,
  "batch",
);

/**
 * The batch with the rows of a file, with this ID or name, or among the newest.
 *
 * @param byLines whether the command line names rows by their lines in the file
 * @throws Failure `not-found` if there is none; `usage` for a file with other rows than the batch of its name, and by lines for one that is
 * not the planned file byte for byte
 */
export async function batchNamed(name: string, ledger: Ledger, byLines = false): Promise<Batch> {
  const batches = ledger.batches;
  const place = placeIn(name);
  const found =
    place === undefined
      ? await named(name, ledger, byLines)
      : (await batches.list(place))[place - 1];
  if (found?.plan) return found;
  throw new Failure(
    "batch.not-found",
    `The ledger has no batch ${JSON.stringify(name)} of this account.`,
    {
      hint: "To list them, run 'lenden payout batch list'; 'lenden payout batch send <file>' creates one.",
    },
  );
}

async function named(name: string, ledger: Ledger, byLines: boolean): Promise<Batch | undefined> {
  const batches = ledger.batches;
  if (!existsSync(name)) return batches.find(name);
  const { hashOf } = await import("../../../batches/csv.ts");
  const hash = await hashOf(name);
  const own = await batches.newestOfFile(hash);
  if (own) return own;
  const { batchOfRows } = await import("../../../batches/plan.ts");
  const same = await batchOfRows({ path: name, hash, delimiter: "," }, ledger);
  if (same && byLines)
    throw usage(
      [`${name} has the rows of batch ${same.id}, but its lines may be different.`],
      `Name the batch by its ID, ${same.id}, and its rows by their lines in the file that was sent first.`,
    );
  const other = await batches.find(basename(name));
  if (same || !other?.plan) return same;
  throw usage(
    [`The rows of ${name} are not those of batch ${other.id}, which has its name.`],
    `'lenden payout batch check' shows what differs. To see that batch, name it by its ID, ${other.id}.`,
  );
}
