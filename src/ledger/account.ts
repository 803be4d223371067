import { Failure } from "../domain/failure.ts";
import type { Owner } from "./worker.ts";

/** The account of a run. */
export interface NamedAccount {
  number: bigint;
  name: string;
  /** True if the key of this run belongs to it. */
  isStored: boolean;
}

/** The number of an account that is not stored yet: no account has it. */
export const noAccount = 0n;

/** True for a reader without a key whose settings name no account: then it reads all of them. */
export function readsAllAccounts({ keyId, account: { named, joins } = {} }: Owner): boolean {
  return keyId === "" && named === undefined && joins === undefined;
}

/**
 * Decides the account of a run: the one that the key belongs to, the one that is named, the profile's, or a
 * new one. An unknown key never joins another account by itself.
 *
 * @param ofKey the account that the key belongs to
 * @param numberOf the account with a name in the environment
 * @throws Failure `account.other-name` if the key belongs to another account than the one that is named
 */
export function accountOf(
  owner: Owner,
  ofKey: Pick<NamedAccount, "number" | "name"> | undefined,
  numberOf: (name: string) => bigint | undefined,
): NamedAccount {
  const { named, joins } = owner.account ?? {};
  if (ofKey) {
    if (named !== undefined && ofKey.name !== named) throw keyOfAnother(ofKey.name, named);
    return { ...ofKey, isStored: true };
  }
  const joined = named ?? joins;
  if (joined !== undefined)
    return { number: numberOf(joined) ?? noAccount, name: joined, isStored: false };
  const names = newNames(owner);
  const free = names.find((name) => numberOf(name) === undefined);
  return { number: noAccount, name: free ?? names.at(-1) ?? "", isStored: false };
}

/** The names that a new account may get: the first one that is not taken, or the last one. */
function newNames({ account, keyId }: Owner): string[] {
  const profile = account?.proposed;
  const names = profile === undefined ? [] : [profile];
  for (let length = 6; ; length += 1) {
    names.push(`${profile ?? "key"}-${keyId.slice(0, length)}`);
    if (length >= keyId.length) return names;
  }
}

function keyOfAnother(own: string, named: string): Failure {
  return new Failure(
    "account.other-name",
    `LENDEN_ACCOUNT is ${named}, but this API key belongs to account ${own}.`,
    { hint: `Set LENDEN_ACCOUNT=${own}, or use the API key of ${named}.` },
  );
}

/**
 * The operations that a guard sees together have one value of this expression, so that an index finds them in either
 * scope: no account has the number 0. Without CAST, SQLite would not use the index.
 */
export const guardColumn = (table = "") =>
  `CAST(CASE WHEN ${table}environment = 'production' THEN 0 ELSE ${table}account END AS bigint)`;

/** The operations that a guard sees. */
export type GuardScope = ReturnType<typeof guardScope>;

/**
 * In production a guard sees the whole environment, whichever account, key and base URL was used. In a sandbox it sees
 * the account alone, because every local sandbox is separate.
 */
export function guardScope({ environment }: Pick<Owner, "environment">) {
  const isProduction = environment === "production";
  return {
    isProduction,
    /** The condition on a table, with a parameter for the value. */
    inSql: (table: string, parameter: string) =>
      `${table}.${isProduction ? "environment" : "account"} = ${parameter}`,
    value: (account: bigint) => (isProduction ? environment : account),
    /** The same condition on operations, by what their indexes have, and its value. */
    ofOperations: (table: string, parameter: string) =>
      `${guardColumn(`${table}.`)} = CAST(${parameter} AS bigint)`,
    number: (account: bigint) => (isProduction ? 0n : account === noAccount ? -1n : account),
  };
}
