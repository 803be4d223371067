import type { Database } from "../../sqlite/database.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import type { Worker } from "../worker.ts";
import type { CallbackVerdict, Forwarded } from "./callback.ts";
import { updateRowDigest } from "./row-digest.ts";

/** How many of each verdict are kept: anybody can send callbacks, and they must not fill the disk. */
const keptOf = (verdict: string): bigint => (verdict === "unknown" ? 1_000n : 5_000n);

/** Writes down what came of callbacks: what they were judged to be, and whether a handler got them. */
export function openCallbackOutcomes(database: Database, worker: Worker, account: RunAccount) {
  const judge = database.prepare(setVerdict);
  const prune = database.prepare(deleteOldest);
  const pass = database.prepare(setForwarded);
  return {
    /** `to`: the handler that has to get it; it has not, until `passedOn` says so. */
    judge: (number: number, judged: CallbackVerdict, { to }: { to: string | undefined }): void =>
      database.transaction(() => {
        const { verdict, because, records, finding } = judged;
        const said = because === null ? null : worker.scrub(because);
        const where = to === undefined ? null : worker.scrub(to);
        const all = worker.scrub(JSON.stringify(records));
        judge.run(verdict, said, all, finding, where, BigInt(number));
        updateRowDigest(database, BigInt(number));
        prune.run(account.number(), verdict, keptOf(verdict));
      }),

    passedOn: (number: number, { to, status, finding }: Forwarded): void =>
      database.transaction(() => {
        const answer = status === null ? null : BigInt(status);
        pass.run(worker.scrub(to), answer, finding, BigInt(number));
        updateRowDigest(database, BigInt(number));
      }),
  };
}

const setVerdict = `
  UPDATE callbacks SET verdict = ?1, because = ?2, records = ?3, finding = ?4, looks = 0,
    forwarded_to = coalesce(?5, forwarded_to),
    forwarded_status = CASE WHEN ?5 IS NULL THEN forwarded_status END,
    forwarded_finding = CASE WHEN ?5 IS NULL THEN forwarded_finding END
  WHERE number = ?6`;

const deleteOldest = `
  DELETE FROM callbacks WHERE number IN (SELECT number FROM callbacks
    WHERE account = ?1 AND verdict = ?2
      AND (due_at IS NULL OR ?2 NOT IN ('verified', 'unchecked'))
    ORDER BY number DESC LIMIT -1 OFFSET ?3)`;

const setForwarded = `
  UPDATE callbacks SET forwarded_to = ?, forwarded_status = ?, forwarded_finding = ?
  WHERE number = ?`;
