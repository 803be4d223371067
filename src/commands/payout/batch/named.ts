import { existsSync } from "node:fs";
import { usage } from "../../../failure.ts";
import { readWord } from "../../../frame/common-flags.ts";
import type { Batch, Ledger } from "../../../frame/context.ts";
import { argument } from "../../../frame/flag.ts";

export const batchArgument = argument.required(
  "batch",
  "The file, or the batch's id or name",
  readWord,
  "batch",
);

/** The batch that a file was planned as, or that has this id or name. */
export async function batchNamed(name: string, ledger: Ledger): Promise<Batch> {
  const batches = ledger.batches();
  const found = (await ofFile(name, ledger)) ?? batches.find(name);
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
