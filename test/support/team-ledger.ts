import { expect } from "vitest";
import { lenden } from "./lenden.ts";
import { type Merchant, otherMachine } from "./merchant.ts";
import type { Cluster } from "./postgres.ts";

export type Env = Record<string, string>;

/** A ledger in a new database, and logins that may use it. */
export async function teamLedger(cluster: Cluster, ...logins: string[]) {
  const database = await cluster.create();
  const { code, stderr } = await lenden(["ledger", "init", cluster.url(database)]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const login of logins) {
    const [known] = await cluster.run(`SELECT 1 FROM pg_roles WHERE rolname = '${login}'`);
    if (!known) await cluster.run(`CREATE ROLE ${login} LOGIN PASSWORD 'of ${login}'`);
    await cluster.run(`GRANT lenden_writer TO ${login}`);
  }
  return {
    database,
    url: (login: string) => cluster.url(database, login),
    /** The URL of a login that may only read. */
    reader: async (login: string) => {
      const [known] = await cluster.run(`SELECT 1 FROM pg_roles WHERE rolname = '${login}'`);
      if (!known) await cluster.run(`CREATE ROLE ${login} LOGIN IN ROLE lenden_reader`);
      return cluster.url(database, login);
    },
  };
}

/** A machine with a home of its own, and a login at the ledger. */
export function machine(merchant: Merchant, ledger: string): Env & { LENDEN_DATA_DIR: string } {
  return { ...otherMachine(merchant), LENDEN_LEDGER_URL: ledger };
}
