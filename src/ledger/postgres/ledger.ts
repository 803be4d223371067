import { toleratedClockMs } from "../../domain/timestamp.ts";
import { storedEveryMs } from "../head.ts";
import type { Ledger } from "../ledger.ts";
import { type Head, type Position, readHead, writeHead } from "../position.ts";
import {
  completed,
  differencesOf,
  identityParts,
  type ServerIdentity,
  unknownServer,
} from "../server-identity.ts";
import { candidatesSql, RunAccount } from "../sql/accounts.ts";
import { createLedger } from "../sql/ledger.ts";
import type { Owner } from "../worker.ts";
import { Connection, type ConnectionClock, type ServerLogin, type Value } from "./connection.ts";
import { createDriver } from "./driver.ts";
import { createLists } from "./lists.ts";
import { ServerProcess, type ServerWorker } from "./processes.ts";

/** A ledger that this machine has never written to. */
export interface UnseenLedger {
  server: ServerIdentity;
  /** The number of its events. */
  events: number;
  /** When the newest one was; null without events. */
  newestAt: string | null;
}

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
 * @param confirmUnseen called before the first write to a ledger that is new to this machine. What it throws ends
 *   the write.
 * @throws Failure `ledger.unreachable`, `ledger.access-denied`, `ledger.tls`, `ledger.not-initialized`
 */
export async function openServerLedger(
  login: ServerLogin,
  worker: ServerWorker,
  headFile: string,
  confirmUnseen?: (found: UnseenLedger) => Promise<void>,
): Promise<ServerLedger> {
  const account = new RunAccount(worker.owner);
  const beforeFirstUse =
    confirmUnseen && (async () => confirmUnseen(await unseenLedger(connection)));
  const { connection, storeHead } = connectTo(login, worker, headFile, {
    also: accountsIn(worker.owner),
    beforeFirstUse,
  });
  const { login: ledgerLogin, also } = await connection.facts();
  account.know(JSON.parse(also ?? "[]"));
  const acceptedRows = positionIn(headFile).accepted?.rows;
  const recorder = { ...worker, origin: { ...worker.origin, ledgerLogin }, acceptedRows };
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

async function unseenLedger(connection: Connection): Promise<UnseenLedger> {
  const { told: server } = await connection.facts();
  const [row] = await connection.read(
    "SELECT number, at FROM lenden.events ORDER BY number DESC LIMIT 1",
  );
  return { server, events: Number(row?.number ?? 0), newestAt: row?.at ?? null };
}

interface ConnectOptions {
  /** One more value of the first statement of each connection. */
  also?: { sql: string; values: Value[] };
  /** Called before the first write of this machine to the ledger. */
  beforeFirstUse?: (() => Promise<void>) | undefined;
}

/** A connection that stores the newest event that it saw in a file of this machine, at most once a second and when asked. */
export function connectTo(
  login: ServerLogin,
  { now, leftMs }: ConnectionClock,
  headFile: string,
  { also, beforeFirstUse }: ConnectOptions = {},
) {
  const known = positionIn(headFile);
  let newest: { head: Head; server: ServerIdentity } | undefined;
  let isUsed = known.isUsed;
  let storedAtMs = now();
  const storeHead = (): void => {
    storedAtMs = now();
    const stored = positionIn(headFile);
    if (!newest || connection.unaccepted()) return;
    // Another process of this machine accepted another server meanwhile.
    if (differencesOf(stored.server, newest.server).length > 0) return;
    const isNewer = newest.head.number > (stored.head?.number ?? 0n);
    const head = isNewer ? newest.head : stored.head;
    const server = completed(newest.server, stored.server);
    const isCompleted = identityParts.some((part) => server[part] !== stored.server[part]);
    if (!head || !(isNewer || isCompleted || (isUsed && !stored.isUsed))) return;
    try {
      writeHead(headFile, head, { ...stored, server, isUsed: isUsed || stored.isUsed });
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
    server: known.server,
    beforeWriting:
      isUsed || !beforeFirstUse
        ? undefined
        : async () => {
            if (!positionIn(headFile).isUsed) await beforeFirstUse();
          },
    saw: ({ head, server, isWritten }) => {
      newest = { head, server };
      isUsed ||= isWritten;
      if (Math.abs(now() - storedAtMs) >= storedEveryMs) storeHead();
    },
  });
  return { connection, storeHead };
}

function positionIn(file: string): Omit<Position, "head"> & { head?: Head } {
  const stored = readHead(file);
  if (typeof stored !== "string") return stored;
  return { isModified: false, accepted: undefined, server: unknownServer, isUsed: false };
}
