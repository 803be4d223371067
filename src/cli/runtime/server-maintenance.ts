import type { LedgerSettings } from "../../config/settings.ts";
import { usage } from "../../domain/failure.ts";
import { acceptanceEvent } from "../../ledger/chain.ts";
import { type Head, ledgerPath, readHead, type StoredHead } from "../../ledger/head.ts";
import { noPosition } from "../../ledger/position.ts";
import type { Connection, Query } from "../../ledger/postgres/connection.ts";
import { serverHealth } from "../../ledger/postgres/health.ts";
import { serverIntegrityOf } from "../../ledger/postgres/integrity.ts";
import { connectTo } from "../../ledger/postgres/ledger.ts";
import { listProcesses } from "../../ledger/postgres/process-list.ts";
import { acceptFile, findUnmoved, unmovedFailure } from "../../ledger/sqlite/unmoved.ts";
import {
  changedMeanwhile,
  checked,
  type LedgerMaintenance,
  storeAccepted,
  unacceptedContent,
} from "./ledger-maintenance.ts";
import { serverHeadFile, serverLogin } from "./ledger-server.ts";
import type { RunParts } from "./parts.ts";

/** A ledger on PostgreSQL as a whole. */
export function createServerMaintenance(
  settings: LedgerSettings,
  parts: Pick<RunParts, "host" | "scrubber" | "leftMs">,
  environment: string | undefined,
): LedgerMaintenance {
  const { host } = parts;
  const server = settings.url.value.text;
  const findFile = () => findUnmoved(ledgerPath(host.folders.data), parts.leftMs, environment);
  const headFile = serverHeadFile(host, settings);
  const connected = async <Result>(
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    const login = await serverLogin(settings, parts);
    const { connection } = connectTo(login, { now: host.now, leftMs: parts.leftMs }, headFile);
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  const copiedByServer = async (): Promise<never> => {
    throw usage(
      [
        `Only a ledger file can be backed up or restored here. This ledger is on PostgreSQL: ${server}.`,
      ],
      "Use the tools of PostgreSQL, 'pg_dump --schema=lenden' and 'pg_restore'. After a restore, run 'lenden ledger check --accept'.",
    );
  };
  return {
    check: () =>
      connected(async (connection) => {
        const stored = await storedHeadOf(connection, headFile);
        const integrity = await serverIntegrityOf(connection);
        const file = await findFile();
        const position = noPosition(headFile, host.folders);
        return { ...checked(integrity, stored, headFile), lacksLog: false, file, position };
      }),
    fileBeside: async () => {
      const found = await findFile();
      if (!found) return undefined;
      const by = { at: new Date(host.now()).toISOString(), user: host.user, server };
      const changed = () => changedMeanwhile(found.path);
      const accept = () => acceptFile(found, by, { changed, leftMs: parts.leftMs });
      return { ...found, failure: unmovedFailure(found, server), accept };
    },
    unaccepted: () =>
      connected(async (connection) => {
        const newest = await headOf(connection.read);
        const stored = await storedHeadOf(connection, headFile);
        const read = () => serverIntegrityOf(connection);
        const found = await unacceptedContent(stored, newest, read);
        if (!found) return undefined;
        const path = server;
        const accept = (connection: Connection) =>
          connection.write(
            async (write) => {
              if ((await headOf(write.query))?.hash !== newest?.hash) throw changedMeanwhile(path);
              const at = new Date(host.now()).toISOString();
              write.append(acceptanceEvent({ at, user: host.user, ...found }));
            },
            { isAcceptance: true },
          );
        return {
          path,
          state: found.state,
          newest: newest?.hash ?? null,
          accept: () =>
            connected(async (connection) => {
              await accept(connection);
              storeAccepted(await headOf(connection.read), headFile);
            }),
        };
      }),
    serverHealth: () => connected(serverHealth),
    processes: () => connected(({ read }) => listProcesses(read)),
    backup: copiedByServer,
    restore: copiedByServer,
  };
}

async function headOf(query: Query): Promise<Head | undefined> {
  const [row] = await query("SELECT number, hash FROM lenden.head");
  const number = BigInt(row?.number ?? 0);
  return number === 0n ? undefined : { number, hash: row?.hash ?? "" };
}

/** The stored head of this machine, compared with the ledger. */
async function storedHeadOf(connection: Connection, headFile: string): Promise<StoredHead> {
  await connection.facts();
  const stored = readHead(headFile);
  if (typeof stored === "string") return { state: stored, isModified: false };
  const isContained = connection.unaccepted()?.reason !== "ledger.truncated";
  return { ...stored, state: isContained ? "contained" : "not-contained" };
}
