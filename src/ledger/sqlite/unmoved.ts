import { statSync } from "node:fs";
import { errorCode } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { testCommand } from "../../domain/state.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import { fileAcceptanceEvent } from "../chain.ts";
import { type Head, headOf } from "../head.ts";
import { createChain } from "./chain.ts";
import { type Move, moveOf } from "./moved.ts";

/** A ledger file of this machine whose operations a ledger on a server does not know. */
export interface UnmovedFile {
  path: string;
  /** `moving`: a move was started and did not end. `accepted`: by a person, and nothing was added since. */
  state: "not-moved" | "moving" | "accepted";
  /** Where a started move leads. */
  to: string | undefined;
  newest: Head | undefined;
}

/**
 * The ledger file of this machine, unless it was moved, or has nothing of the environment. Its operations protect
 * against no duplicate on a server.
 *
 * @param leftMs how long a lock may be waited for
 * @param environment default: any
 * @throws Failure `ledger.not-moved` if the file cannot be read
 */
export async function findUnmoved(
  path: string,
  leftMs: () => number,
  environment?: string,
): Promise<UnmovedFile | undefined> {
  try {
    if (!sizeOf(path)) return undefined;
    const database = await openDatabase(path, leftMs);
    try {
      const move = moveOf(database);
      if (move?.state === "moved" || !hasOperations(database, environment)) return undefined;
      return { path, to: move?.to, newest: headOf(database), state: stateOf(database, move) };
    } finally {
      database.close();
    }
  } catch (cause) {
    throw new Failure(
      "ledger.not-moved",
      `Cannot read ${path}, which may have operations that the ledger on the server does not know.`,
      {
        hint: "Check the permissions of the file. If it is damaged or is not your ledger, move it to another directory.",
        cause,
      },
    );
  }
}

/** Why nothing is sent with the ledger on a server beside such a file; undefined if a person accepted it. */
export function unmovedFailure(found: UnmovedFile, server: string): Failure | undefined {
  const { path, state, newest, to = server } = found;
  if (state === "accepted") return undefined;
  const accept = `To send without them, run 'lenden ledger check --accept-file' (non-interactively with '--accept-hash ${newest?.hash} --yes').`;
  return new Failure(
    "ledger.not-moved",
    state === "moving"
      ? `Cannot use the ledger ${server}: the move of ${path} to ${to} is not complete.`
      : `Cannot use the ledger ${server}: it does not know the operations of ${path}, so it cannot find their duplicates.`,
    { hint: `To copy the operations, run 'lenden ledger move ${to}'. ${accept}` },
  );
}

/**
 * Records in the file that a person accepted it. Every later event follows this one, so the file then needs a new
 * acceptance.
 */
export async function acceptFile(
  { path, newest }: UnmovedFile,
  by: { at: string; user: string; server: string },
  { changed, leftMs }: { changed: () => Failure; leftMs(): number },
): Promise<void> {
  const database = await openDatabase(path, leftMs);
  try {
    database.transaction(() => {
      if (headOf(database)?.hash !== newest?.hash) throw changed();
      createChain(database).append(fileAcceptanceEvent(by));
    });
  } finally {
    database.close();
  }
}

function stateOf(database: Database, move: Move | undefined): UnmovedFile["state"] {
  const last = database.prepare("SELECT event FROM events ORDER BY number DESC LIMIT 1").get();
  if (last?.event === "file-accepted") return "accepted";
  return move ? "moving" : "not-moved";
}

function hasOperations(database: Database, environment: string | undefined): boolean {
  const sql = `
    SELECT 1 FROM accounts a WHERE a.environment = coalesce(?1, a.environment) AND (
      EXISTS (SELECT 1 FROM operations o WHERE o.account = a.number AND o.command <> ?2)
      OR EXISTS (SELECT 1 FROM batches b
        WHERE b.account = a.number AND b.digest IS NOT NULL AND b.cancelled_at IS NULL)) LIMIT 1`;
  return database.prepare(sql).get(environment ?? null, testCommand) !== undefined;
}

/** Undefined only if there certainly is no file. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
