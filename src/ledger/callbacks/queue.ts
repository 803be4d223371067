import type { Database, Row } from "../../sqlite/database.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import { holderIn } from "../sqlite/operation-rows.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { StoredCallback } from "./callback.ts";
import { callbackOf } from "./from-row.ts";

/** At most so many wait for the service or for a handler: what was promised to a sender is not dropped. */
const mostWaiting = 5_000n;
const atOnce = 100n;

/** Which callbacks are to be looked at, when, and by which process. */
export function openCallbackQueue(database: Database, worker: Worker, account: RunAccount) {
  const waiting = database.prepare(countWaiting);
  const due = database.prepare(selectDue);
  const byNumber = database.prepare(selectOne);
  const hold = database.prepare(setHolder);
  const next = database.prepare(setNextLook);
  return {
    isFull: (): boolean => BigInt(waiting.get(account.number())?.count ?? 0n) >= mostWaiting,

    /** Those that are to be looked at by now, the never verified first, then the least tried. */
    due: (to: string | undefined): StoredCallback[] =>
      due
        .all(account.number(), nowIn(worker), to ?? null, atOnce)
        .map((row) => callbackOf(row, worker)),

    /** Takes it for this process; undefined where another one works on it. */
    claim: (number: number): StoredCallback | undefined => {
      const row = database.transaction(() => take(BigInt(number)));
      return row && callbackOf(row, worker);
    },

    /**
     * Nobody works on it any longer. `again`: it was looked at, and when that is to be done next;
     * left out, it stays due as it was.
     */
    letGo: (number: number, again?: { afterMs: number | null }): void =>
      database.transaction(() => {
        if (!again) return void hold.run(null, BigInt(number));
        const { afterMs } = again;
        const dueAt = afterMs === null ? null : new Date(worker.now() + afterMs).toISOString();
        next.run(dueAt, BigInt(number));
      }),
  };

  /** Gives it as it was before. A run knows by itself what it works on. */
  function take(number: bigint): Row | undefined {
    const row = byNumber.get(account.number(), number);
    const holder = row && holderIn(row);
    const isOwn = holder?.lock === worker.holder.lock;
    if (!row || (holder && !isOwn && worker.isAlive(holder))) return undefined;
    hold.run(JSON.stringify(holderNow(worker)), number);
    return row;
  }
}

const countWaiting = `
  SELECT count(*) AS count FROM callbacks WHERE account = ?
    AND due_at IS NOT NULL AND (verdict IS NULL OR verdict IN ('verified', 'unchecked'))`;

// What waits only to be passed on is left to a run that passes callbacks on.
const selectDue = `
  SELECT * FROM callbacks WHERE account = ?1 AND due_at <= ?2
    AND (?3 IS NOT NULL OR forwarded_to IS NULL OR verdict = 'unchecked')
  ORDER BY looks, number LIMIT ?4`;

const selectOne = `SELECT * FROM callbacks WHERE account = ? AND number = ?`;

const setHolder = "UPDATE callbacks SET holder = ? WHERE number = ?";

const setNextLook =
  "UPDATE callbacks SET holder = NULL, looks = looks + 1, due_at = ? WHERE number = ?";
