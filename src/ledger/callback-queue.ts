import { accountInSql } from "./account.ts";
import type { Database, Row } from "./database.ts";
import type { Holder } from "./operation.ts";
import { holderIn } from "./rows.ts";
import type { Worker } from "./worker.ts";

/** At most so many wait for the service or for a handler: what was promised to a sender is not dropped. */
const mostWaiting = 5_000n;
const atOnce = 100n;

/** Which callbacks are to be looked at, when, and by which process. */
export function openCallbackQueue(database: Database, worker: Worker) {
  const owner = [worker.owner.baseUrl, worker.owner.keyId] as const;
  const own = `account = ${accountInSql}`;
  const byNumber = database.prepare(`SELECT * FROM callbacks WHERE ${own} AND number = ?`);
  const hold = database.prepare("UPDATE callbacks SET holder = ? WHERE number = ?");
  const next = database.prepare(
    "UPDATE callbacks SET holder = NULL, looks = looks + 1, due_at = ? WHERE number = ?",
  );
  const waiting = database.prepare(
    `SELECT count(*) AS count FROM callbacks WHERE ${own} AND due_at IS NOT NULL
       AND (verdict IS NULL OR verdict IN ('genuine', 'unanswered'))`,
  );
  // What waits only to be passed on is left to a run that passes callbacks on.
  const due = database.prepare(
    `SELECT * FROM callbacks WHERE ${own} AND due_at <= ?3
       AND (?4 IS NOT NULL OR forwarded_to IS NULL OR verdict = 'unanswered')
     ORDER BY looks, number LIMIT ?5`,
  );
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    isFull: (): boolean => BigInt(waiting.get(...owner)?.count ?? 0n) >= mostWaiting,

    due: (to: string | undefined): Row[] => due.all(...owner, at(worker.now()), to ?? null, atOnce),

    claim: (number: number): Row | undefined =>
      database.transaction(() => {
        const row = byNumber.get(...owner, BigInt(number));
        const holder = row && holderIn(row);
        if (!row || (holder && !isOwn(holder) && worker.isAlive(holder))) return undefined;
        const taken: Holder = { ...worker.holder, since: at(worker.now()) };
        hold.run(JSON.stringify(taken), BigInt(number));
        return row;
      }),

    /**
     * Nobody works on it any longer. `again`: it was looked at, and when that is to be done next;
     * left out, it stays due as it was.
     */
    letGo: (number: number, again?: { afterMs: number | null }): void =>
      database.transaction(() => {
        if (!again) return void hold.run(null, BigInt(number));
        const { afterMs } = again;
        next.run(afterMs === null ? null : at(worker.now() + afterMs), BigInt(number));
      }),

    isHeld: (row: Row): boolean => {
      const holder = holderIn(row);
      return holder !== null && worker.isAlive(holder);
    },
  };

  /** A run knows what it works on itself. */
  function isOwn({ pid, startedAt, machine }: Holder): boolean {
    const { holder } = worker;
    return pid === holder.pid && startedAt === holder.startedAt && machine === holder.machine;
  }
}
