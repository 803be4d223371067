import type { Database } from "../sqlite/database.ts";
import { type Batches, openBatches } from "./batches/batches.ts";
import { type Callbacks, openCallbacks } from "./callbacks/callbacks.ts";
import { openChanges } from "./changes.ts";
import { openHistory } from "./history.ts";
import { openListing } from "./listing.ts";
import { openLookups } from "./lookups.ts";
import { openOverlaps } from "./overlaps.ts";
import { migrate } from "./schema.ts";
import { openSimilar } from "./similar.ts";
import type { Worker } from "./worker.ts";

/** The durable record of everything this machine sent; the only list there is. */
export type Ledger = ReturnType<typeof openLedger>;

/** Opens the ledger of an account over a database, and brings it to the newest schema first. */
export function openLedger(database: Database, worker: Worker) {
  migrate(database);
  const { owner } = worker;
  const history = openHistory(database);
  const similar = openSimilar(database, owner);
  let batches: Batches | undefined;
  let callbacks: Callbacks | undefined;
  return {
    ...openChanges(database, worker, { history, similar }),
    ...openLookups(database, owner),
    ...openListing(database, owner),
    ...openOverlaps(database, owner),
    ...similar,
    historyOf: history.of,

    /** The batches of the account; opened when they are first asked for. */
    batches: (): Batches => {
      batches ??= openBatches(database, worker);
      return batches;
    },

    /** The callbacks of the account; opened when they are first asked for. */
    callbacks: (): Callbacks => {
      callbacks ??= openCallbacks(database, worker);
      return callbacks;
    },
  };
}
