import { Failure, usage } from "../../domain/failure.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import { headOf, headPath, storedHead } from "../head.ts";
import { ledgerFileState, lossOf } from "../health.ts";
import { isAccepted } from "../integrity.ts";
import { removePosition, writeHead } from "../position.ts";
import { connectTo } from "../postgres/ledger.ts";
import type { ServerPlace } from "../postgres/place.ts";
import { ledgerFile, prepareFile } from "../sqlite/file.ts";
import { integrityOf } from "../sqlite/integrity.ts";
import { requireUnused } from "../sqlite/maintenance.ts";
import { compareLedger, hasLedger, type Moved, moveLedger } from "./copy.ts";
import { isMovedTo, type Move, movedFailure, moveOf, recordMove } from "./mark.ts";
import { requireJudged } from "./plans.ts";

/** A ledger file that can be moved to a server. */
export interface MovableLedger {
  path: string;
  url: string;
  operations: number;
  /** True if an earlier run completed the move: there is nothing to confirm. */
  isMoved: boolean;
  /** True if limits were set in the file, which are not moved; false if an earlier run began to move it. */
  hasLimits: boolean;
  /**
   * From the first copied row on, nothing is sent with the file. After a complete move, checks that the server has
   * the ledger.
   *
   * @throws Failure
   */
  move(): Promise<Moved>;
}

/**
 * Checks the ledger of this machine, which no process may use meanwhile, and calls `work` with it.
 *
 * @throws Failure if there is no such ledger, or if it is not intact
 */
export async function withMovableLedger<Result>(
  { url, headFile: serverHeadFile, login, host, leftMs }: ServerPlace,
  work: (ledger: MovableLedger) => Promise<Result>,
): Promise<Result> {
  const path = ledgerFile(host);
  const headFile = headPath(host.folders, path);
  const state = ledgerFileState(path, headFile);
  if (state.kind === "new") throw usage([`There is no ledger to move: ${path} does not exist.`]);
  const loss = lossOf(state, path);
  if (loss) throw loss;
  const file = await openDatabase(path, leftMs);
  try {
    requireUnused(path, file);
    const earlier = moveOf(file);
    const isMoved = earlier?.state === "moved";
    if (earlier && !isMoved && earlier.to !== url) throw movedFailure(earlier);
    if (!earlier) {
      prepareFile(file, path);
      await requireIntact(file, headFile);
    }
    const count = file.prepare("SELECT count(*) AS count FROM operations").get()?.count;
    const operations = Number(count ?? 0n);
    // An older file that was moved before has no such table.
    const hasLimits =
      !earlier && file.prepare("SELECT 1 AS one FROM limits LIMIT 1").get() !== undefined;
    const by = { at: new Date(host.now()).toISOString(), user: host.user };
    return await work({
      path,
      url,
      operations,
      isMoved,
      hasLimits,
      move: async () => {
        const clock = { now: host.now, leftMs };
        const { connection, storeHead } = connectTo(await login(), clock, serverHeadFile);
        try {
          if (earlier && isMoved) {
            if (!(await hasLedger(file, connection))) throw lostMove(earlier, url);
            if (isMovedTo(file, url))
              return {
                operations: 0,
                existing: operations,
                batches: 0,
                cancelled: 0,
                callbacks: 0,
              };
            // The same ledger by another URL, or a copy of it, which may lack something.
          }
          // A server that cannot be used, or has other payouts, is found before the file is marked.
          await connection.write(async () => {});
          await compareLedger(file, connection);
          if (!earlier) await requireJudged(file, connection.read);
          // The user took a while to confirm. Whoever opens the file from here on sees the mark.
          requireUnused(path, file);
          if (!earlier) recordMove(file, { state: "moving", to: url }, by);
          requireUnused(path, file);
          const moved = await moveLedger(file, connection, { ...by, machine: host.machine, path });
          recordMove(file, { state: "moved", to: url }, by);
          return moved;
        } finally {
          const head = headOf(file);
          // A file that was moved is not missed.
          if (moveOf(file)?.state === "moved") removePosition({ headFile, folders: host.folders });
          else if (head) writeHead(headFile, head, storedHead(file, headFile));
          await connection.close();
          storeHead();
        }
      },
    });
  } finally {
    file.close();
  }
}

/** The file was moved to another server, or to an older copy of this one. */
function lostMove(move: Move, url: string): Failure {
  if (move.to !== url) return movedFailure(move);
  return new Failure(
    "ledger.moved",
    `The ledger ${url} has no record of the move of this machine's file.`,
    {
      hint: "Check that the server was not restored from a backup that is older than the move.",
    },
  );
}

async function requireIntact(file: Database, headFile: string): Promise<void> {
  const { state, isModified, accepted } = storedHead(file, headFile);
  const isUsable = state !== "not-contained" && !isModified;
  if (isUsable && isAccepted(await integrityOf(file), accepted)) return;
  throw new Failure("ledger.modified", "Cannot move the ledger: it was modified, or is damaged.", {
    hint: "Review it with 'lenden ledger check', and accept or restore it first.",
  });
}
