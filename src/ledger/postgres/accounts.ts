import { accountOf, type NamedAccount, noAccount, readsAllAccounts } from "../account.ts";
import { rowEvent } from "../chain.ts";
import { isTrue, numberIn } from "../values.ts";
import type { Owner } from "../worker.ts";
import type { Query, Row, Write } from "./connection.ts";

/** The account of a run; it is stored with the first operation that is recorded for it. */
export class RunAccount {
  /** True for a reader without a key whose settings name no account: then it reads all of them. */
  readonly isAll: boolean;
  readonly #owner: Owner;
  #known: NamedAccount | undefined;
  #first: string | undefined;

  constructor(owner: Owner) {
    this.isAll = readsAllAccounts(owner);
    this.#owner = owner;
  }

  /** Its number matches no account before anything was recorded. */
  async read(query: Query): Promise<NamedAccount> {
    if (this.#known) return this.#known;
    const { sql, values } = this.inSql(1);
    const text = this.#first ?? (await query(`SELECT ${sql} AS accounts`, ...values))[0]?.accounts;
    this.#first = undefined;
    const accounts: Row[] = JSON.parse(text ?? "[]");
    const own = accounts.find(({ is_own }) => isTrue(is_own));
    return accountOf(
      this.#owner,
      own && { number: numberIn(own.number), name: own.name ?? "" },
      (wanted) => {
        const found = accounts.find(({ name }) => name === wanted);
        return found && numberIn(found.number);
      },
    );
  }

  /** The accounts that may be the one of this run, as one value. @param first the number of its first parameter */
  inSql(first: number) {
    const [environment, keyHash] = [`$${first}::text`, `$${first + 1}::text`];
    return {
      sql: `(SELECT json_agg(json_build_object('number', a.number::text, 'name', a.name, 'is_own',
          (EXISTS (SELECT FROM lenden.account_keys k WHERE k.environment = ${environment}
            AND k.key_hash = ${keyHash} AND k.account = a.number))::int::text))
        FROM lenden.accounts a WHERE a.environment = ${environment} OR ${environment} = '')`,
      values: [this.#owner.environment, this.#owner.keyId],
    };
  }

  /** Uses a value of `inSql` for the next read. */
  know(accounts: string | null): void {
    this.#first = accounts ?? undefined;
  }

  /** As `read`, and once the account is stored it is not read again. Not inside a transaction that may fail. */
  async readOnce(query: Query): Promise<NamedAccount> {
    const found = await this.read(query);
    if (found.isStored) this.#known = found;
    return found;
  }

  async store(write: Write, at: string): Promise<Pick<NamedAccount, "name" | "number">> {
    const { environment, keyId } = this.#owner;
    if (keyId === "") throw new Error("a reader records nothing");
    const { name, number, isStored } = await this.read(write.query);
    if (isStored) return { name, number };
    const account = number === noAccount ? await this.#add(write, name, at) : number;
    const [row = {}] = await write.query(
      `INSERT INTO lenden.account_keys (environment, key_hash, account, first_used_at)
       VALUES ($1, $2, $3, $4) RETURNING *`,
      ...[environment, keyId, account, at],
    );
    write.append(rowEvent("key", row, at));
    return { name, number: account };
  }

  async #add(write: Write, name: string, at: string): Promise<bigint> {
    const [row = {}] = await write.query(
      "INSERT INTO lenden.accounts (environment, name) VALUES ($1, $2) RETURNING *",
      ...[this.#owner.environment, name],
    );
    write.append(rowEvent("account", row, at));
    return numberIn(row.number);
  }
}
