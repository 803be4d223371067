import type { Database } from "../../platform/sqlite/database.ts";
import { rowEvent } from "../chain.ts";
import { type Connection, type Query, rowsJson } from "../postgres/connection.ts";
import { type TextRow, textRow } from "../values.ts";
import { conflict, insertRows, type Numbers } from "./rows.ts";

/** The accounts of the file that have a key on the server, and their keys there. */
export async function findAccounts(file: Database, query: Query) {
  const keys = file.prepare("SELECT * FROM account_keys").all();
  const found = await query(
    `SELECT k.environment, k.key_hash, k.account, a.account AS own FROM lenden.account_keys k
     JOIN json_to_recordset($1::json) AS a(environment text, key_hash text, account bigint)
       ON k.environment = a.environment AND k.key_hash = a.key_hash`,
    rowsJson(keys),
  );
  const accounts: Numbers = new Map();
  for (const { own, account } of found) {
    const other = accounts.get(own);
    if (other !== undefined && other !== account)
      throw conflict(`two keys of one account belong to different accounts there`);
    accounts.set(own, account ?? "");
  }
  return { accounts, keys: new Set(found.map(keyOf)) };
}

function keyOf({ environment, key_hash: hash }: TextRow): string {
  return `${environment} ${hash}`;
}

/** An account without a key there is a new one, whatever its name: names prove nothing between machines. */
export async function copyAccounts(
  file: Database,
  connection: Connection,
  at: string,
): Promise<Numbers> {
  const keysOf = file.prepare("SELECT * FROM account_keys WHERE account = ?");
  return connection.write(async (write) => {
    const { accounts, keys } = await findAccounts(file, write.query);
    const taken = await write.query("SELECT environment, name FROM lenden.accounts");
    for (const stored of file.prepare("SELECT * FROM accounts ORDER BY number").all()) {
      const { number: own, ...account } = textRow(stored);
      const ofAccount = keysOf.all(BigInt(own ?? 0)).map(textRow);
      let number = accounts.get(own);
      if (number === undefined) {
        const isTaken = (name: string) =>
          taken.some((one) => one.environment === account.environment && one.name === name);
        const names = ofAccount.map(({ key_hash: hash }) => `${account.name}-${hash?.slice(0, 6)}`);
        const free = [account.name ?? "", ...names].find((name) => !isTaken(name));
        const row = { ...account, name: free ?? `${account.name}-${at}` };
        [number = ""] = await insertRows(write.query, "accounts", [row]);
        write.pending.append(rowEvent("account", { number, ...row }, at));
        accounts.set(own, number);
      }
      for (const key of ofAccount) {
        if (keys.has(keyOf(key))) continue;
        const row = { ...key, account: number };
        await insertRows(write.query, "account_keys", [row], "key_hash");
        write.pending.append(rowEvent("key", row, at));
      }
    }
    return accounts;
  });
}
