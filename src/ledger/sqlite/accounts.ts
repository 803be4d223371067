import { Failure } from "../../domain/failure.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import type { Owner } from "../worker.ts";
import { recordRow } from "./chain.ts";
import { numberIn } from "./operation-rows.ts";

interface NamedAccount {
  number: bigint;
  name: string;
  /** True if the key of this run belongs to it. */
  isStored: boolean;
}

/** The account of a run; it is stored with the first operation that is recorded for it. */
export interface RunAccount {
  read(): NamedAccount;
  /** Matches no account before anything was recorded. */
  number(): bigint;
  /** True for a reader without a key whose settings name no account: then it reads all of them. */
  readonly isAll: boolean;
  /** Inside the transaction that records something of the account. */
  store(at: string): Pick<NamedAccount, "name" | "number">;
}

const noAccount = 0n;

/**
 * Finds the account of a run: the one that is named, the one that the key belongs to, the profile's, or a
 * new one. An unknown key never joins another account by itself.
 *
 * @throws Failure `access` if the key belongs to another account than the one that is named
 */
export function createRunAccount(database: Database, owner: Owner): RunAccount {
  const { environment, keyId: keyHash, account: { named, joins } = {} } = owner;
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
    if (row) {
      const own = { number: numberIn(row.number), name: String(row.name), isStored: true };
      if (named !== undefined && own.name !== named) throw keyOfAnother(own.name, named);
      // A row that this transaction stored may still be rolled back.
      if (storedIn !== database.transactionCount()) known = own;
      return own;
    }
    const joined = named ?? joins;
    const isTaken = (name: string) => byName.get(environment, name) !== undefined;
    const name = joined ?? newName(owner, isTaken);
    const number =
      joined === undefined ? noAccount : numberIn(byName.get(environment, joined)?.number);
    return { number, name, isStored: false };
  };

  return {
    read,
    number: () => read().number,
    isAll: keyHash === "" && named === undefined && joins === undefined,
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

/** The profile's name, with a suffix if it is taken; without a profile, the key's hash. */
function newName({ account, keyId }: Owner, isTaken: (name: string) => boolean): string {
  const profile = account?.proposed;
  if (profile !== undefined && !isTaken(profile)) return profile;
  for (let length = 6; ; length += 1) {
    const name = `${profile ?? "key"}-${keyId.slice(0, length)}`;
    if (!isTaken(name) || length >= keyId.length) return name;
  }
}

function keyOfAnother(own: string, named: string): Failure {
  return new Failure(
    "account.other-name",
    `LENDEN_ACCOUNT is ${named}, but this API key belongs to account ${own}.`,
    { hint: `Set LENDEN_ACCOUNT=${own}, or use the API key of ${named}.` },
  );
}
