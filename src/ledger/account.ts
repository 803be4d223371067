import type { Database } from "../sqlite/database.ts";
import type { Owner } from "./operation.ts";
import { recordAccount } from "./recorded.ts";

/** An account by its base URL and the id of its key, in SQL; null before anything of it was written. */
export const accountInSql = "(SELECT number FROM accounts WHERE base_url = ? AND key_id = ?)";

/** Inside the transaction that writes something of the account. `at`: ISO 8601. */
export function makeAccount(database: Database, { baseUrl, keyId }: Owner, at: string): void {
  const created = database
    .prepare(
      "INSERT INTO accounts (base_url, key_id) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING number",
    )
    .all(baseUrl, keyId);
  for (const { number } of created) recordAccount(database, BigInt(number ?? 0n), at);
}
