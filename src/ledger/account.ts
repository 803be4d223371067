import type { Database } from "./database.ts";
import type { Owner } from "./operation.ts";

/** The number of an account in SQL, from its base URL and its key's id; none before its first write. */
export const accountNumber = "(SELECT number FROM accounts WHERE base_url = ? AND key_id = ?)";

/** Inside the transaction that writes something of the account. */
export function makeAccount(database: Database, { baseUrl, keyId }: Owner): void {
  database
    .prepare("INSERT INTO accounts (base_url, key_id) VALUES (?, ?) ON CONFLICT DO NOTHING")
    .run(baseUrl, keyId);
}
