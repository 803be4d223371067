import { existsSync } from "node:fs";
import { basename } from "node:path";
import { usage } from "../../../failure.ts";
import { readWord } from "../../../frame/common-flags.ts";
import type { Batch, Ledger } from "../../../frame/context.ts";
import { argument } from "../../../frame/flag.ts";
import { placeIn } from "../../../frame/place.ts";

export const batchArgument = argument.required(
  "batch",
  "The file, the batch's id or name, or @last",
  readWord,
  "batch",
);

/**
 * The batch that a file was planned as, that has this id or name, or that is among the newest.
 *
 * @throws Failure `usage` for a file that was changed since, or is another one of the same name: what
 * came of the old rows may say nothing of these
 */
export async function batchNamed(name: string, ledger: Ledger): Promise<Batch> {
  const batches = ledger.batches();
  const place = placeIn(name);
  const found = place === undefined ? await named(name, ledger) : batches.list(place)[place - 1];
  if (found?.plan) return found;
  throw usage(
    [`The ledger has no batch ${JSON.stringify(name)} of this account.`],
    "'lenden payout batch list' shows those that there are; 'lenden payout batch send <file>' makes one.",
  );
}

async function named(name: string, ledger: Ledger): Promise<Batch | undefined> {
  const batches = ledger.batches();
  if (!existsSync(name)) return batches.find(name);
  const { hashOf } = await import("../../../batches/csv.ts");
  const own = batches.newestOfFile(await hashOf(name));
  const other = batches.find(basename(name));
  if (own || !other?.plan) return own;
  throw usage(
    [
      `${name} is not, byte for byte, the file of its name that batch ${other.id} was planned from.`,
    ],
    `'lenden payout batch check' says whether its rows are still the same. To see that batch, name it by its id, ${other.id}.`,
  );
}
