import type { Database } from "../../sqlite/database.ts";
import { openDraft } from "../drafts/draft.ts";
import type { Worker } from "../worker.ts";
import { openBatchClaims } from "./claiming.ts";
import { openBatchListing } from "./listing.ts";
import { openPlans } from "./plan.ts";
import { openBatchRows } from "./rows.ts";

export type Batches = ReturnType<typeof openBatches>;

/** The batches of one account: plans, and what came of their rows. */
export function openBatches(database: Database, worker: Worker) {
  const listing = openBatchListing(database, worker.owner);
  const { heldBatches, ...claims } = openBatchClaims(database, worker, listing);
  const { owner } = worker;
  return {
    ...listing,
    ...claims,
    ...openPlans(database, worker),
    ...openBatchRows(database, { owner, heldBatches }),

    /** Where a file is read and looked at before anything of it is kept. */
    draft: () => openDraft(database, { owner, heldBatches }),
  };
}
