import type { Database } from "../../sqlite/database.ts";
import type { Worker } from "../worker.ts";
import { openBatchClaims } from "./claiming.ts";
import { openBatchListing } from "./listing.ts";
import { openPlans } from "./plan.ts";
import { openBatchRows } from "./rows.ts";

export type Batches = ReturnType<typeof openBatches>;

/** The batches of one account: plans, and the results of their rows. */
export function openBatches(database: Database, worker: Worker) {
  const listing = openBatchListing(database, worker.owner);
  return {
    ...listing,
    ...openBatchClaims(database, worker, listing),
    ...openPlans(database, worker),
    ...openBatchRows(database, worker.owner),
  };
}
