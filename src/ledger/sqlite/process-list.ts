import type { Database } from "../../platform/sqlite/database.ts";
import { processesIn, type WorkingProcess, workInSql } from "../process-list.ts";
import { numberIn } from "../values.ts";
import { statementsOn } from "./statements.ts";

/**
 * The processes that work with a ledger file, as far as its rows name them.
 *
 * @param isAlive whether the process with a lock may still run
 */
export function listProcesses(
  database: Database,
  isAlive: (lock: string) => boolean,
): WorkingProcess[] {
  const [found = []] = statementsOn(database)([{ sql: select, values: [] }]);
  const rows = found.flatMap((row) => {
    const state = isAlive(String(row.id)) ? "running" : "ended";
    // A listener leaves nothing that others have to continue.
    if (state === "ended" && row.kind === "callbacks") return [];
    return [{ ...row, pid: numberIn(row.pid), state }];
  });
  return processesIn(rows);
}

const select = `
  SELECT p.id, p.user_name, p.machine, p.pid, p.command, w.kind, w.name, w.held_since,
    w.held_since AS since
  FROM (${workInSql}) w CROSS JOIN lenden.processes p WHERE p.id = w.process
  ORDER BY w.held_since`;
