import { Failure } from "../../domain/failure.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { recordRow } from "./chain.ts";

/** The settings that name the account of a run. */
export interface Claimant {
  environment: string;
  /** Tells API keys apart without holding them: the first 16 characters of a SHA-256. */
  keyHash: string;
  /** LENDEN_ACCOUNT. */
  named?: string | undefined;
  /** The account that the profile stored, if the key of this run is the profile's own. */
  joins?: string | undefined;
  /** The profile: a new account gets its name. */
  profile?: string | undefined;
}

/** The account of a run; it is stored with the first operation that is recorded for it. */
export interface RunAccount {
  name(): string;
  /** Both at once, for what reads them in one transaction. */
  read(): { name: string; number: bigint };
  /** True for a reader without a key whose settings name no account: then it reads all of them. */
  readonly isAll: boolean;
  /** Matches no account before anything was recorded. */
  number(): bigint;
  /** Inside the transaction that records something of the account. */
  store(at: string): { name: string; number: bigint };
}

const noAccount = 0n;

/**
 * Finds the account of a run: the one that is named, the one that the key belongs to, the profile's, or a
 * new one. An unknown key never joins another account by itself.
 *
 * @throws Failure `access` if the key belongs to another account than the one that is named
 */
export function createRunAccount(database: Database, claimant: Claimant): RunAccount {
  const { environment, keyHash, named, joins } = claimant;
  const isAll = keyHash === "" && named === undefined && joins === undefined;
  const ofKey = database.prepare(`
    SELECT a.number, a.name FROM account_keys k JOIN accounts a ON a.number = k.account
    WHERE k.environment = ? AND k.key_hash = ?`);
  const byName = database.prepare(
    "SELECT number FROM accounts WHERE (environment = ?1 OR ?1 = '') AND name = ?2",
  );

  const numberOf = (name: string): bigint | undefined => {
    const row = byName.get(environment, name);
    return row && BigInt(row.number ?? noAccount);
  };
  let known: { number: bigint; name: string; isStored: boolean } | undefined;
  let storedIn = -1;

  const find = (): { number: bigint; name: string; isStored: boolean } => {
    if (known) return known;
    const row = ofKey.get(environment, keyHash);
    const own = row && { number: BigInt(row.number ?? noAccount), name: String(row.name) };
    if (own && named !== undefined && own.name !== named) throw keyOfAnother(own.name, named);
    // A row that this transaction stored may still be rolled back.
    const isDurable = storedIn !== database.transactionCount();
    if (own && isDurable) known = { ...own, isStored: true };
    if (own) return { ...own, isStored: true };
    const joined = named ?? joins;
    const name = joined ?? newName(claimant, (taken) => numberOf(taken) !== undefined);
    const number = joined === undefined ? noAccount : (numberOf(joined) ?? noAccount);
    return { number, name, isStored: false };
  };

  return {
    isAll,
    read: find,
    name: () => find().name,
    number: () => find().number,
    store: (at) => {
      if (keyHash === "") throw new Error("a reader records nothing");
      const { number, name, isStored } = find();
      if (isStored) return { name, number };
      const stored =
        number === noAccount ? addAccount(database, { environment, name, at }) : number;
      const row = database
        .prepare(
          "INSERT INTO account_keys (environment, key_hash, account, first_used_at) VALUES (?, ?, ?, ?) RETURNING *",
        )
        .get(environment, keyHash, stored, at);
      recordRow(database, "key", row, at);
      storedIn = database.transactionCount();
      return { name, number: stored };
    },
  };
}

function addAccount(
  database: Database,
  { environment, name, at }: { environment: string; name: string; at: string },
): bigint {
  const row = database
    .prepare("INSERT INTO accounts (environment, name) VALUES (?, ?) RETURNING *")
    .get(environment, name);
  const number = BigInt(row?.number ?? noAccount);
  recordRow(database, "account", row, at);
  return number;
}

/** The profile's name, with a suffix if it is taken; without a profile, the key's hash. */
function newName(
  { profile, keyHash }: Pick<Claimant, "profile" | "keyHash">,
  isTaken: (name: string) => boolean,
): string {
  if (profile !== undefined && !isTaken(profile)) return profile;
  for (let length = 6; ; length += 1) {
    const name = `${profile ?? "key"}-${keyHash.slice(0, length)}`;
    if (!isTaken(name) || length >= keyHash.length) return name;
  }
}

function keyOfAnother(own: string, named: string): Failure {
  return new Failure(
    "account.other-name",
    `LENDEN_ACCOUNT is ${named}, but this API key belongs to account ${own}.`,
    { hint: `Set LENDEN_ACCOUNT=${own}, or use the API key of ${named}.` },
  );
}
