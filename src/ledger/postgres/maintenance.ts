import { Failure, usage } from "../../domain/failure.ts";
import type { StoredHead } from "../head.ts";
import {
  acceptanceOf,
  changedMeanwhile,
  checked,
  type LedgerMaintenance,
  storeAccepted,
  unacceptedContent,
} from "../maintenance.ts";
import { acceptFile, findUnmoved, unmovedFailure } from "../move/unmoved.ts";
import { type Head, noPosition, readHead } from "../position.ts";
import {
  atServer,
  type Connection,
  headIn,
  newestEventSql,
  type Query,
  rowsJson,
  type ServerLogin,
} from "./connection.ts";
import { serverHealth } from "./health.ts";
import { serverIntegrityOf } from "./integrity.ts";
import { connectTo } from "./ledger.ts";
import type { ServerPlace } from "./place.ts";
import { listProcesses } from "./process-list.ts";
import { ownerRole } from "./schema.ts";

/** A ledger on PostgreSQL as a whole. */
export function createServerMaintenance(
  { url: server, headFile, login, host, leftMs }: ServerPlace,
  environment: string | undefined,
): LedgerMaintenance {
  const findFile = () => findUnmoved(host.folders, { server, environment }, leftMs);
  const positionPlace = { headFile, folders: host.folders };
  const connected = async <Result>(
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    const { connection } = connectTo(await login(), { now: host.now, leftMs }, headFile);
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
        return { ...checked(integrity, stored, positionPlace), lacksLog: false, file, position };
      }),
    fileBeside: async () => {
      const found = await findFile();
      if (!found) return undefined;
      const changed = () => changedMeanwhile(found.path);
      const accept = (environment: string) => {
        const by = { at: new Date(host.now()).toISOString(), user: host.user, server, environment };
        return acceptFile(found, by, { changed, leftMs });
      };
      return { ...found, server, failure: unmovedFailure(found, server), accept };
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
              write.pending.append(acceptanceOf(found, { at, user: host.user }));
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
              const { told: server } = await connection.facts();
              storeAccepted(await headOf(connection.read), positionPlace, {
                server,
                accepted: found.accepted,
              });
            }),
        };
      }),
    setLimits: async ({ environment, account }, set) => {
      const own = await login();
      const rows = set.map((one) => ({ environment, account, ...one }));
      const sql = `INSERT INTO lenden.limits (environment, account, name, value)
        SELECT environment, account, name, value FROM json_to_recordset($1::json)
          AS s(environment text, account text, name text, value text)`;
      try {
        await atServer(own, leftMs, (query) => query(sql, rowsJson(rows)));
      } catch (error) {
        const isDenied = error instanceof Failure && error.reason === "ledger.access-denied";
        throw isDenied ? notOwner(own, error) : error;
      }
    },
    serverHealth: () => connected(serverHealth),
    processes: () => connected(({ read }) => listProcesses(read)),
    backup: copiedByServer,
    restore: copiedByServer,
  };
}

function notOwner({ user }: ServerLogin, cause: unknown): Failure {
  return new Failure(
    "ledger.access-denied",
    `${user} may not set limits, because it is no member of ${ownerRole}.`,
    {
      hint: `Use a login that is, or ask the database's administrator for 'GRANT ${ownerRole} TO ${user}'.`,
      cause,
    },
  );
}

async function headOf(query: Query): Promise<Head | undefined> {
  const [row] = await query(newestEventSql);
  return row && headIn(row);
}

/** The stored head of this machine, compared with the ledger. */
async function storedHeadOf(connection: Connection, headFile: string): Promise<StoredHead> {
  const { told: server } = await connection.facts();
  const stored = readHead(headFile);
  if (typeof stored === "string")
    return { state: stored, isModified: false, server, isUsed: false };
  const { reason = "" } = connection.unaccepted() ?? {};
  return { ...stored, state: statesOf[reason] ?? "contained" };
}

const statesOf: Partial<Record<string, "not-contained" | "other-server">> = {
  "ledger.truncated": "not-contained",
  "ledger.other-server": "other-server",
};
