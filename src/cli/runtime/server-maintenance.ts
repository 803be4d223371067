import type { LedgerSettings } from "../../config/settings.ts";
import { usage } from "../../domain/failure.ts";
import type { Connection } from "../../ledger/postgres/connection.ts";
import { serverHealth } from "../../ledger/postgres/health.ts";
import { connectTo } from "../../ledger/postgres/ledger.ts";
import { listProcesses } from "../../ledger/postgres/process-list.ts";
import type { LedgerMaintenance } from "./ledger-maintenance.ts";
import { serverHeadFile, serverLogin } from "./ledger-server.ts";
import type { RunParts } from "./parts.ts";

/** A ledger on PostgreSQL as a whole. */
export function createServerMaintenance(
  settings: LedgerSettings,
  parts: Pick<RunParts, "host" | "scrubber">,
): LedgerMaintenance {
  const { host } = parts;
  const headFile = serverHeadFile(host, settings);
  const connected = async <Result>(
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    const login = await serverLogin(settings, parts);
    const { connection } = connectTo(login, host.now, headFile);
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  const copiedByServer = async (): Promise<never> => {
    throw usage(
      [`The ledger is on PostgreSQL: ${settings.url.value.text}.`],
      "Use the tools of PostgreSQL, 'pg_dump --schema=lenden' and 'pg_restore'. After a restore, run 'lenden ledger check --accept'.",
    );
  };
  return {
    check: copiedByServer,
    unaccepted: copiedByServer,
    serverHealth: () => connected(serverHealth),
    processes: () => connected(({ read }) => listProcesses(read)),
    backup: copiedByServer,
    restore: copiedByServer,
  };
}
