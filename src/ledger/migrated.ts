import type { Database } from "../sqlite/database.ts";
import { type Acceptance, recordAcceptance } from "./acceptance.ts";
import { batchOf } from "./batches/from-row.ts";
import { digestOf } from "./batches/plan.ts";
import { setRowDigest } from "./callbacks/row-digest.ts";
import { recordAccount, recordKey, recordPlan } from "./recorded.ts";

/**
 * Records what was in the ledger before accounts and plans were part of the chain. A plan that was
 * modified before stays without an event, so that `ledger check` reports it.
 */
export function recordExisting(database: Database): void {
  const at = new Date().toISOString();
  for (const { number } of database.prepare("SELECT number FROM accounts").all())
    recordAccount(database, BigInt(number ?? 0n), at);
  for (const row of database.prepare("SELECT environment, key_hash FROM account_keys").all())
    recordKey(database, {
      ...{ environment: String(row.environment), keyHash: String(row.key_hash), at },
    });
  const planned = database.prepare("SELECT * FROM batches WHERE digest IS NOT NULL").all();
  for (const { number, plan } of planned.map(batchOf))
    if (plan?.digest === digestOf(database, number)) recordPlan(database, number, at);
  for (const row of acceptancesIn(database)) recordAcceptance(database, row);
  database.exec("DROP TABLE IF EXISTS accepted_new_ledger");
  for (const row of database.prepare("SELECT * FROM callbacks").all()) setRowDigest(database, row);
}

/** They were in a table of their own, which only some ledgers had. */
function acceptancesIn(database: Database): Acceptance[] {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'accepted_new_ledger'";
  if (!database.prepare(table).get()) return [];
  return database
    .prepare("SELECT at, user, state FROM accepted_new_ledger ORDER BY rowid")
    .all()
    .map(({ at, user, state }) => ({ at: String(at), user: String(user), state: String(state) }));
}
