import type { Database } from "../../platform/sqlite/database.ts";
import type { Ledger } from "../ledger.ts";
import { RunAccount } from "../sql/accounts.ts";
import { createLedger } from "../sql/ledger.ts";
import type { Worker } from "../worker.ts";
import { createDriver } from "./driver.ts";
import { createLists } from "./lists.ts";
import { migrate } from "./schema.ts";

/** Opens the ledger of an account over a database, and migrates it to the newest schema first. */
export function openLedger(database: Database, worker: Worker): Ledger {
  migrate(database);
  const account = new RunAccount(worker.owner);
  return {
    ...createLedger(createDriver(database, worker), account, worker),
    ...createLists(database, account),
    assertStillOurs: () => worker.assertSeen(),
  };
}
