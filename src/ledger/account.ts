import type { Database } from "../sqlite/database.ts";
import type { Owner } from "./operation.ts";

/** An account by its base URL and the id of its key, in SQL; null before anything of it was written. */
export const accountInSql = "(SELECT number FROM accounts WHERE base_url = ? AND key_id = ?)";

/** Inside the transaction that writes something of the account. */
export function makeAccount(database: Database, { baseUrl, keyId }: Owner): void {
  database
    .prepare("INSERT INTO accounts (base_url, key_id) VALUES (?, ?) ON CONFLICT DO NOTHING")
    .run(baseUrl, keyId);
}
