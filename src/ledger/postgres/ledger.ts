import { toleratedClockMs } from "../../domain/timestamp.ts";
import { storedEveryMs } from "../head.ts";
import type { Ledger } from "../ledger.ts";
import { readHead, writeHead } from "../position.ts";
import { candidatesSql, RunAccount } from "../sql/accounts.ts";
import { createLedger } from "../sql/ledger.ts";
import type { Owner } from "../worker.ts";
import { Connection, type ConnectionClock, type ServerLogin, type Value } from "./connection.ts";
import { createDriver } from "./driver.ts";
import { createLists } from "./lists.ts";
import { ServerProcess, type ServerWorker } from "./processes.ts";

/** A ledger on a server. */
export interface ServerLedger {
  ledger: Ledger;
  connection: Connection;
  /** Ends the process's lease and the connection, and stores the head. */
  close(): Promise<void>;
}

/**
 * Opens the ledger of an account on a server.
 *
 * @param headFile where this machine stores the newest event that it has seen
 * @throws Failure `ledger.unreachable`, `ledger.access-denied`, `ledger.tls`, `ledger.not-initialized`
 */
export async function openServerLedger(
  login: ServerLogin,
  worker: ServerWorker,
  headFile: string,
): Promise<ServerLedger> {
  const account = new RunAccount(worker.owner);
  const { connection, storeHead } = connectTo(login, worker, headFile, accountsIn(worker.owner));
  const { login: ledgerLogin, also } = await connection.facts();
  account.know(JSON.parse(also ?? "[]"));
  const recorder = { ...worker, actor: { ...worker.actor, ledgerLogin } };
  const own = new ServerProcess(connection, recorder);
  const driver = createDriver(connection, own);
  const written = createLedger(driver, account, recorder);
  const ledger: Ledger = {
    ...written,
    ...createLists(connection, driver, account),
    lastSentAt: async (operation) => byOwnClock(await written.lastSentAt(operation), worker.now()),
    assertStillOurs: () => own.assertStillOurs(),
  };
  return {
    ledger,
    connection,
    close: async () => {
      await own.end();
      await connection.close();
      storeHead();
    },
  };
}

/** The accounts that may be the one of the run, as one value, which the first statement of a connection reads. */
function accountsIn({ environment, keyId }: Owner) {
  const candidates = candidatesSql.replaceAll("$2", "$3").replaceAll("$1", "$2::text");
  return {
    sql: `(SELECT json_agg(json_build_object('number', c.number::text, 'name', c.name,
      'is_own', c.is_own::int::text)) FROM (${candidates}) c)`,
    values: [environment, keyId],
  };
}

/** The latest that a time of another machine's clock can be: both clocks may be off by what payouts tolerate. */
function byOwnClock(at: string, nowMs: number): string {
  return new Date(Math.min(nowMs, Date.parse(at) + 2 * toleratedClockMs)).toISOString();
}

/** A connection that stores the newest event that it saw in a file of this machine, at most once a second and when asked. */
export function connectTo(
  login: ServerLogin,
  { now, leftMs }: ConnectionClock,
  headFile: string,
  also?: { sql: string; values: Value[] },
) {
  const stored = readHead(headFile);
  const known = typeof stored === "string" ? { head: undefined, isModified: false } : stored;
  let newest = known.head;
  let storedAtMs = now();
  const storeHead = (): void => {
    storedAtMs = now();
    const stored = readHead(headFile);
    const { head, isModified = false } = typeof stored === "string" ? {} : stored;
    if (!newest || connection.unaccepted() || (head?.number ?? 0n) >= newest.number) return;
    try {
      writeHead(headFile, newest, isModified);
    } catch {
      // The next run stores it: the ledger may be ahead of its head.
    }
  };
  const connection: Connection = new Connection(login, {
    now,
    leftMs,
    also,
    seen: known.head,
    isModified: known.isModified,
    saw: (head) => {
      newest = head;
      if (Math.abs(now() - storedAtMs) >= storedEveryMs) storeHead();
    },
  });
  return { connection, storeHead };
}
