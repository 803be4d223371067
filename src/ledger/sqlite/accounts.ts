import type { Database } from "../../platform/sqlite/database.ts";
import { accountOf, type NamedAccount, noAccount, readsAllAccounts } from "../account.ts";
import { numberIn } from "../values.ts";
import type { Owner } from "../worker.ts";
import { recordRow } from "./chain.ts";

/** The account of a run; it is stored with the first operation that is recorded for it. */
export interface RunAccount {
  read(): NamedAccount;
  /** Matches no account before anything was recorded. */
  number(): bigint;
  /** By `readsAllAccounts`. */
  readonly isAll: boolean;
  /** Inside the transaction that records something of the account. */
  store(at: string): Pick<NamedAccount, "name" | "number">;
}

export function createRunAccount(database: Database, owner: Owner): RunAccount {
  const { environment, keyId: keyHash } = owner;
  const ofKey = database.prepare(`
    SELECT a.number, a.name FROM account_keys k JOIN accounts a ON a.number = k.account
    WHERE k.environment = ? AND k.key_hash = ?`);
  const byName = database.prepare(
    "SELECT number FROM accounts WHERE (environment = ?1 OR ?1 = '') AND name = ?2",
  );
  const addAccount = database.prepare(
    "INSERT INTO accounts (environment, name) VALUES (?, ?) RETURNING *",
  );
  const addKey = database.prepare(
    "INSERT INTO account_keys (environment, key_hash, account, first_used_at) VALUES (?, ?, ?, ?) RETURNING *",
  );
  let known: NamedAccount | undefined;
  let storedIn = -1;

  const read = (): NamedAccount => {
    if (known) return known;
    const row = ofKey.get(environment, keyHash);
    const stored = row && { number: numberIn(row.number), name: String(row.name) };
    const own = accountOf(owner, stored, (name) => {
      const found = byName.get(environment, name);
      return found && numberIn(found.number);
    });
    // A row that this transaction stored may still be rolled back.
    if (own.isStored && storedIn !== database.transactionCount()) known = own;
    return own;
  };

  return {
    read,
    number: () => read().number,
    isAll: readsAllAccounts(owner),
    store: (at) => {
      if (keyHash === "") throw new Error("a reader records nothing");
      const { name, isStored, ...found } = read();
      let { number } = found;
      if (isStored) return { name, number };
      if (number === noAccount) {
        const row = addAccount.get(environment, name);
        recordRow(database, "account", row, at);
        number = numberIn(row?.number);
      }
      recordRow(database, "key", addKey.get(environment, keyHash, number, at), at);
      storedIn = database.transactionCount();
      return { name, number };
    },
  };
}
