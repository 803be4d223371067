import { accountOf, type NamedAccount, noAccount, readsAllAccounts } from "../account.ts";
import { rowEvent } from "../chain.ts";
import { isTrue, numberIn, type Row } from "../values.ts";
import type { Owner } from "../worker.ts";
import type { Write } from "./transaction.ts";
import { query, type Work } from "./work.ts";

/** The account of a run; it is stored with the first operation that is recorded for it. */
export class RunAccount {
  /** True for a reader without a key whose settings name no account: then it reads all of them. */
  readonly isAll: boolean;
  readonly #owner: Owner;
  #known: NamedAccount | undefined;
  #first: Row[] | undefined;

  constructor(owner: Owner) {
    this.isAll = readsAllAccounts(owner);
    this.#owner = owner;
  }

  /** Its number matches no account before anything was recorded. */
  *read(): Work<NamedAccount> {
    if (this.#known) return this.#known;
    this.#first = undefined;
    const { environment, keyId } = this.#owner;
    return this.#of(yield* query(candidatesSql, environment, keyId));
  }

  /** The rows of `candidatesSql`, which were read with something else: a `readOnce` uses them that comes first. */
  know(accounts: Row[]): void {
    this.#first = accounts;
  }

  /** True once it is stored, so that nothing has to be read. */
  get isKnown(): boolean {
    return this.#known !== undefined;
  }

  /** As `read`, and once the account is stored it is not read again. Not inside a transaction that may fail. */
  *readOnce(): Work<NamedAccount> {
    const first = this.#first;
    this.#first = undefined;
    const found = first ? this.#of(first) : yield* this.read();
    if (found.isStored) this.#known = found;
    return found;
  }

  #of(accounts: Row[]): NamedAccount {
    const own = accounts.find(({ is_own }) => isTrue(is_own));
    return accountOf(
      this.#owner,
      own && { number: numberIn(own.number), name: String(own.name) },
      (wanted) => {
        const found = accounts.find(({ name }) => name === wanted);
        return found && numberIn(found.number);
      },
    );
  }

  *store(write: Write, at: string): Work<Pick<NamedAccount, "name" | "number">> {
    const { environment, keyId } = this.#owner;
    if (keyId === "") throw new Error("a reader records nothing");
    const { name, number, isStored } = yield* this.read();
    if (isStored) return { name, number };
    const account = number === noAccount ? yield* this.#add(write, name, at) : number;
    const [row = {}] = yield* query(insertKey, environment, keyId, account, at);
    write.append(rowEvent("key", row, at));
    return { name, number: account };
  }

  *#add(write: Write, name: string, at: string): Work<bigint> {
    const [row = {}] = yield* query(insertAccount, this.#owner.environment, name);
    write.append(rowEvent("account", row, at));
    return numberIn(row.number);
  }
}

/** The accounts that may be the one of a run. $1 environment, or an empty text for all; $2 hash of the key. */
export const candidatesSql = `
  SELECT a.number, a.name, EXISTS (SELECT 1 FROM lenden.account_keys k
      WHERE k.environment = $1 AND k.key_hash = $2 AND k.account = a.number) AS is_own
  FROM lenden.accounts a WHERE a.environment = $1 OR CAST($1 AS text) = ''`;

const insertAccount = "INSERT INTO lenden.accounts (environment, name) VALUES ($1, $2) RETURNING *";
const insertKey = `
  INSERT INTO lenden.account_keys (environment, key_hash, account, first_used_at)
  VALUES ($1, $2, $3, $4) RETURNING *`;
