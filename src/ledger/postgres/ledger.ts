import { toleratedClockMs } from "../../domain/timestamp.ts";
import { createSingleChanges } from "../change.ts";
import { storedEveryMs } from "../head.ts";
import type { Ledger } from "../ledger.ts";
import { readHead, writeHead } from "../position.ts";
import { RunAccount } from "./accounts.ts";
import { createBatches } from "./batches.ts";
import { createCallbacks } from "./callbacks.ts";
import { Connection, type ConnectionClock, type ServerLogin, type Value } from "./connection.ts";
import { createOverlaps } from "./duplicates.ts";
import { Operations } from "./operations.ts";
import { ServerProcess, type ServerWorker } from "./processes.ts";
import { createReads } from "./reads.ts";

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
  const { connection, storeHead } = connectTo(login, worker, headFile, account.inSql(2));
  const { login: ledgerLogin, also } = await connection.facts();
  account.know(also);
  const recorder = { ...worker, actor: { ...worker.actor, ledgerLogin } };
  const own = new ServerProcess(connection, recorder);
  const { read } = connection;
  const operations = new Operations(connection, { worker: recorder, own, account });
  const change: Ledger["change"] = (requests) => operations.change(requests);
  const reads = createReads(read, worker.owner, account);
  const ledger: Ledger = {
    change,
    ...createSingleChanges(change),
    preview: (request) => operations.preview({ kind: "claim", ...request }),
    assertStillOurs: () => own.assertStillOurs(),
    ...reads,
    lastSentAt: async (operation) => byOwnClock(await reads.lastSentAt(operation), worker.now()),
    ...createOverlaps(read, worker.owner, account),
    account: async () => (await account.readOnce(read)).name,
    isAccountStored: async () => (await account.readOnce(read)).number !== 0n,
    hasAllAccounts: account.isAll,
    isOfThisKey: (operation) => operation.keyHash === worker.owner.keyId,
    batches: createBatches(connection, recorder, account, own),
    callbacks: createCallbacks(connection, recorder, account, own),
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
