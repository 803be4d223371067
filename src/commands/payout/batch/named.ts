import { existsSync } from "node:fs";
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

/** The batch that a file was planned as, that has this id or name, or that is among the newest. */
export async function batchNamed(name: string, ledger: Ledger): Promise<Batch> {
  const batches = ledger.batches();
  const place = placeIn(name);
  const found =
    place === undefined
      ? ((await ofFile(name, ledger)) ?? batches.find(name))
      : batches.list(place)[place - 1];
  if (found?.plan) return found;
  throw usage(
    [`The ledger has no batch ${JSON.stringify(name)} of this account.`],
    "'lenden payout batch list' shows those that there are; 'lenden payout batch send <file>' makes one.",
  );
}

async function ofFile(path: string, ledger: Ledger): Promise<Batch | undefined> {
  if (!existsSync(path)) return undefined;
  const { hashOf } = await import("../../../batch/file.ts");
  return ledger.batches().ofFile(await hashOf(path));
}
