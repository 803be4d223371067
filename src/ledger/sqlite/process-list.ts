import type { Database } from "../../platform/sqlite/database.ts";
import { processesIn, type WorkingProcess } from "../process-list.ts";
import { holderIn } from "../rows.ts";

/**
 * The processes that work with a ledger file, as far as its rows name them.
 *
 * @param isAlive whether the process with a lock may still run
 */
export function listProcesses(
  database: Database,
  isAlive: (lock: string) => boolean,
): WorkingProcess[] {
  const rows = database
    .prepare(select)
    .all()
    .flatMap((row) => {
      const holder = holderIn(row);
      if (!holder) return [];
      const { lock: id, pid, machine, since } = holder;
      const state = isAlive(id) ? "running" : "ended";
      // A listener leaves nothing that others have to continue.
      if (state === "ended" && row.kind === "callbacks") return [];
      return [{ ...row, id, pid: String(pid), machine, since, held_since: since, state }];
    });
  return processesIn(rows.sort((one, other) => (one.since < other.since ? -1 : 1)));
}

const select = `
  SELECT holder, user AS user_name, command, kind, coalesce(reference, id) AS name
  FROM operations WHERE state <> 'CONFIRMED' AND holder IS NOT NULL
  UNION ALL
  SELECT holder, user, 'payout batch send', 'batch', id FROM batches WHERE holder IS NOT NULL
  UNION ALL
  SELECT l.holder, '', 'callback listen', 'callbacks', a.name
  FROM listeners l JOIN accounts a ON a.number = l.account`;
