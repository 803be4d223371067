import { processesIn, type WorkingProcess, workInSql } from "../process-list.ts";
import type { Query } from "./connection.ts";
import { isAliveInSql } from "./processes.ts";

/** The processes of all machines that work with a ledger, and those that ended without completing their work. */
export async function listProcesses(query: Query): Promise<WorkingProcess[]> {
  return processesIn(await query(select));
}

function isoInSql(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

const select = `
  WITH work AS (${workInSql})
  SELECT p.id, p.user_name, p.login, p.machine, p.pid, p.command, w.kind, w.name, w.held_since,
    ${isoInSql("p.started_at")} AS since, ${isoInSql("p.lease_until")} AS lease_until,
    CASE WHEN NOT ${isAliveInSql} THEN 'ended'
      WHEN p.lease_until < clock_timestamp() THEN 'silent' ELSE 'running' END AS state
  FROM lenden.processes p LEFT JOIN work w ON w.process = p.id
  WHERE ${isAliveInSql} OR w.kind <> 'callbacks'
  ORDER BY p.started_at, p.id, w.held_since, w.name`;
