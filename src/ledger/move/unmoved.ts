import { renameSync, statSync } from "node:fs";
import { ulid } from "ulid";
import { errorCode } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { isSameLedger } from "../../domain/ledger-url.ts";
import { testCommand } from "../../domain/state.ts";
import type { Folders } from "../../platform/host.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import { type FileAcceptance, fileAcceptanceEvent } from "../chain.ts";
import { headOf, headPath, ledgerPath, storedHead } from "../head.ts";
import {
  type Head,
  type PositionPlace,
  readHead,
  removePosition,
  replacePosition,
} from "../position.ts";
import { appendEvent } from "../sqlite/statements.ts";
import { isMovedTo, moveOf } from "./mark.ts";

/** A ledger file of this machine whose operations a ledger on a server does not know. */
export interface UnmovedFile {
  path: string;
  /**
   * `moving`: a move was started and did not end. `moved-elsewhere`: to another server. `accepted`: by a person, for
   * this server and environment, and nothing was added since. `lost`: the file is missing, empty or older than the
   * stored head, so what it had is unknown.
   */
  state: "not-moved" | "moving" | "moved-elsewhere" | "accepted" | "lost";
  /** Where the file's newest event is stored outside of it. */
  position: PositionPlace;
  /** Where a move leads. */
  to: string | undefined;
  /** Of a lost file: what was stored outside of it. */
  newest: Head | undefined;
}

/** The ledger on a server that a file is beside. */
export interface ServerBeside {
  /** The URL without a password. */
  server: string;
  /** Undefined: any. */
  environment: string | undefined;
}

/**
 * The ledger file of this machine, unless it was moved to the server, or has nothing of the environment. Its
 * operations protect against no duplicate on the server.
 *
 * @param leftMs how long a lock may be waited for
 * @throws Failure `ledger.not-moved` if the file cannot be read
 */
export async function findUnmoved(
  folders: Folders,
  { server, environment }: ServerBeside,
  leftMs: () => number,
): Promise<UnmovedFile | undefined> {
  const path = ledgerPath(folders.data);
  const position = { headFile: headPath(folders, path), folders };
  try {
    const size = sizeOf(path);
    if (!size) {
      const stored = readHead(position.headFile);
      // A torn position proves nothing.
      if (size === undefined && typeof stored === "string") return undefined;
      const newest = typeof stored === "string" ? undefined : stored.head;
      return { path, position, state: "lost", to: undefined, newest };
    }
    const database = await openDatabase(path, leftMs);
    try {
      if (isMovedTo(database, server)) return undefined;
      const stored = storedHead(database, position.headFile);
      if (stored.state === "not-contained")
        return { path, position, state: "lost", to: undefined, newest: stored.head };
      const environments = environmentsIn(database, environment);
      if (environments.length === 0) return undefined;
      const move = moveOf(database);
      const accepted = acceptedEnvironments(database, server);
      const isAccepted = environments.every((one) => accepted.has(one));
      const state = isAccepted ? "accepted" : (move && moveStates[move.state]) || "not-moved";
      return { path, position, to: move?.to, newest: headOf(database), state };
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
  const why = {
    moving: `the move of ${path} to ${to} is not complete.`,
    "moved-elsewhere": `${path} was moved to another one, ${to}.`,
    lost: `the ledger file ${path} is missing, empty or older than it was, so duplicates of what it had are not found.`,
    "not-moved": `it does not know the operations of ${path}, so it cannot find their duplicates.`,
  }[state];
  const use =
    state === "lost"
      ? "Put the file back from a backup."
      : state === "moved-elsewhere"
        ? `To use that ledger, run 'lenden profile set ledger ${to}', or set LENDEN_LEDGER_URL. If both URLs lead to the same ledger, run 'lenden ledger move ${server}'.`
        : `To copy the operations, run 'lenden ledger move ${to}'.`;
  const hash = newest ? ` (non-interactively with '--accept-hash ${newest.hash} --yes')` : "";
  const accept = `To send without them, run 'lenden ledger check --accept-file'${hash}.`;
  return new Failure("ledger.not-moved", `Cannot use the ledger ${server}: ${why}`, {
    hint: `${use} ${accept}`,
  });
}

/**
 * Records in the file that a person accepted it. Every later event but another acceptance ends this one, so the file
 * then needs a new acceptance.
 */
export async function acceptFile(
  { path, position, newest, state }: UnmovedFile,
  by: FileAcceptance,
  { changed, leftMs }: { changed: () => Failure; leftMs(): number },
): Promise<void> {
  const isLost = state === "lost";
  if (isLost && !sizeOf(path)) {
    // Without both, this machine has no ledger file.
    if (sizeOf(path) === 0) renameSync(path, `${path}.${ulid()}.lost`);
    removePosition(position);
    return;
  }
  const database = await openDatabase(path, leftMs);
  try {
    database.transaction(() => {
      if (!isLost && headOf(database)?.hash !== newest?.hash) throw changed();
      appendEvent(database, fileAcceptanceEvent(by), by.user);
    });
    const head = headOf(database);
    if (isLost && head) replacePosition(position, head);
  } finally {
    database.close();
  }
}

const moveStates = { moving: "moving", moved: "moved-elsewhere" } as const;

/** The environments for which a person accepted the file beside this server, since anything else was added. */
function acceptedEnvironments(database: Database, server: string): Set<string> {
  const sql = `
    SELECT data FROM events WHERE event = 'file-accepted' AND number > coalesce(
      (SELECT number FROM events WHERE event <> 'file-accepted' ORDER BY number DESC LIMIT 1), 0)`;
  const accepted = database
    .prepare(sql)
    .all()
    .map(({ data }): Partial<Record<string, unknown>> => JSON.parse(String(data)))
    .filter((one) => isSameLedger(String(one.server), server));
  return new Set(accepted.map((one) => String(one.environment)));
}

/** The environments with operations, or only the given one. */
function environmentsIn(database: Database, environment: string | undefined): string[] {
  const sql = `
    SELECT DISTINCT a.environment FROM accounts a WHERE a.environment = coalesce(?1, a.environment) AND (
      EXISTS (SELECT 1 FROM operations o WHERE o.account = a.number AND o.command <> ?2)
      OR EXISTS (SELECT 1 FROM batches b
        WHERE b.account = a.number AND b.row_count IS NOT NULL AND b.cancelled_at IS NULL))`;
  const rows = database.prepare(sql).all(environment ?? null, testCommand);
  return rows.map((row) => String(row.environment));
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
