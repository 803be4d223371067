import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { openDatabase } from "../../platform/sqlite/open.ts";
import type { Batch } from "../batch.ts";
import { ledgerPath } from "../head.ts";
import type { Kind, Operation } from "../operation.ts";
import { RunAccount } from "../sql/accounts.ts";
import type { Owner } from "../worker.ts";
import { readsOn } from "./driver.ts";
import { createLists } from "./lists.ts";

/** The lists of a ledger. */
export interface Listing {
  list(kind: Kind | undefined, filter: { limit: number }): AsyncIterable<Operation>;
  batches: { list(limit: number): Promise<Batch[]> };
}

/**
 * Opens a ledger file to list what is in it. Creates, migrates and locks nothing, and loads no more than a list
 * needs, because Tab waits for it.
 *
 * @throws Error if there is no ledger
 */
export async function openListing(
  directory: string,
  owner: Owner,
  waitMs: number,
): Promise<Listing> {
  const path = ledgerPath(directory);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (!isAbsolute(path) || size === 0) throw new Error("no ledger");
  const database = await openDatabase(path, () => waitMs);
  const account = new RunAccount(owner);
  return {
    ...createLists(database, account),
    batches: {
      list: async (limit) => {
        const { listBatches } = await import("../sql/batches.ts");
        return listBatches(readsOn(database), account, limit);
      },
    },
  };
}
