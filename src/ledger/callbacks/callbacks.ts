import type { Database } from "../../sqlite/database.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import type { Worker } from "../worker.ts";
import { openCallbackKeeping } from "./keeping.ts";
import { openCallbackListing } from "./listing.ts";
import { openCallbackOutcomes } from "./outcome.ts";
import { openCallbackQueue } from "./queue.ts";

export type Callbacks = ReturnType<typeof openCallbacks>;

/** What came from outside, of one account. Every change is one transaction, durable when it returns. */
export function openCallbacks(database: Database, worker: Worker, account: RunAccount) {
  const { isFull, ...queue } = openCallbackQueue(database, worker, account);
  return {
    ...openCallbackKeeping(database, worker, { account, isFull }),
    ...queue,
    ...openCallbackOutcomes(database, worker, account),
    ...openCallbackListing(database, worker, account),
  };
}
