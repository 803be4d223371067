import type { Failure } from "../../domain/failure.ts";
import type { Connection, ServerFacts } from "./connection.ts";

/** The health of a ledger on a server, without reading all of it. */
export interface ServerHealth extends ServerFacts {
  /** True if the login may change or delete events: the ledger is not append-only for it. */
  mayChangeEvents: boolean;
  /** The number of operations whose outcome is unknown. */
  uncertainCount: number;
  /** Why a user has to accept the ledger before anything is sent; undefined if there is no reason. */
  unaccepted: Failure | undefined;
}

export async function serverHealth(connection: Connection): Promise<ServerHealth> {
  const facts = await connection.facts();
  const [row = {}] = await connection.read(`
    SELECT has_table_privilege('lenden.events', 'DELETE, TRUNCATE')
        OR has_any_column_privilege('lenden.events', 'UPDATE') AS may_change,
      (SELECT count(*) FROM lenden.operations WHERE state IN ('INTENT', 'UNCERTAIN')) AS uncertain`);
  return {
    ...facts,
    mayChangeEvents: row.may_change === "t",
    uncertainCount: Number(row.uncertain ?? 0),
    unaccepted: connection.unaccepted(),
  };
}
