import type { Database } from "../../sqlite/database.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import type { Worker } from "../worker.ts";
import { openBatchClaims } from "./claiming.ts";
import { openBatchListing } from "./listing.ts";
import { openPlans } from "./plan.ts";
import { openBatchRows } from "./rows.ts";

export type Batches = ReturnType<typeof openBatches>;

/** The batches of one account: plans, and the results of their rows. */
export function openBatches(database: Database, worker: Worker, account: RunAccount) {
  const listing = openBatchListing(database, account);
  return {
    ...listing,
    ...openBatchClaims(database, worker, { account, listing }),
    ...openPlans(database, worker),
    ...openBatchRows(database),
  };
}
