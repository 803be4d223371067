import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { ulid } from "ulid";
import { errorCode, systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { isWritable, makeDirectory } from "../../platform/files.ts";
import type { Host } from "../../platform/host.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase, writeCopy } from "../../platform/sqlite/open.ts";
import { type Acceptance, acceptanceEvent } from "../chain.ts";
import { headPath, ledgerPath } from "../head.ts";
import { ledgerFileState, lossOf, rejectWithoutTables } from "../health.ts";
import { movedFailure, moveOf } from "../move/mark.ts";
import { migrate } from "./schema.ts";
import { appendEvent } from "./statements.ts";

/** The one file of all accounts, in a directory that only you can read. */
export function ledgerFile({ folders: { data } }: Host): string {
  try {
    makeDirectory(data, 0o700);
    fs.accessSync(data, fs.constants.X_OK);
    if ((fs.statSync(data).mode & 0o077) !== 0 && isWritable(data)) fs.chmodSync(data, 0o700);
  } catch (cause) {
    throw new Failure(
      "ledger.no-directory",
      `Cannot use the directory ${data}: ${systemReason(cause)}.`,
      {
        hint: "Check the permissions of this directory and its parents, or set LENDEN_DATA_DIR to another one.",
        cause,
      },
    );
  }
  return ledgerPath(data);
}

/**
 * Creates the ledger at its first use.
 *
 * @throws Failure `internal` if it is empty, or missing although it was used before
 */
export async function requireLedger(path: string, { folders }: Host): Promise<void> {
  const state = ledgerFileState(path, headPath(folders, path));
  const loss = lossOf(state, path);
  if (loss) throw loss;
  if (state.kind === "new") await createLedger(path);
  else rejectOtherLinks(path);
}

/** SQLite keeps a log for each name of a file, so two names would be two ledgers that overwrite each other. */
function rejectOtherLinks(path: string): void {
  const found = fs.lstatSync(path);
  const { nlink, ino } = found;
  if (!found.isFile() || nlink <= 1) return;
  // What `publish` leaves behind if it is killed.
  for (const name of fs.readdirSync(dirname(path))) {
    const other = join(dirname(path), name);
    const isDraft = name.startsWith(`${basename(path)}.`) && name.endsWith(".new");
    if (isDraft && fs.statSync(other, { throwIfNoEntry: false })?.ino === ino)
      fs.rmSync(other, { force: true });
  }
  if (fs.statSync(path).nlink <= 1) return;
  throw new Failure("ledger.linked", `Cannot use ${path}: the file has another hard link.`, {
    hint: "Delete the other link. To copy the ledger, run 'lenden ledger backup <file>'.",
  });
}

/** An open ledger with its tables, and with the acceptance of it, if one is given. */
export async function newLedger(
  path: string,
  leftMs: (() => number) | undefined,
  acceptance?: Acceptance,
): Promise<Database> {
  const database = await openDatabase(path, leftMs);
  try {
    database.transaction(() => {
      migrate(database);
      if (acceptance) appendEvent(database, acceptanceEvent(acceptance), acceptance.user);
    });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates the ledger under another name and renames it once it is complete: a kill leaves no ledger, or
 * a complete one, and never an empty file. Of several processes, one creates it.
 */
export async function createLedger(path: string, acceptance?: Acceptance): Promise<void> {
  const draft = `${path}.${ulid()}.new`;
  // No connection may be open to the draft: SQLite would share its log with that of the ledger.
  let database: Database | undefined;
  try {
    database = await newLedger(":memory:", undefined, acceptance);
    writeCopy(database, draft);
    publish(draft, path);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The user knows the ledger by its own name.
    const message = error.message.replaceAll(draft, path).replaceAll(":memory:", path);
    throw new Failure(error.reason, message, error.details);
  } finally {
    database?.close();
    fs.rmSync(draft, { force: true });
  }
}

/** Never replaces a ledger: another process may have created it and sent something since. */
export function publish(draft: string, path: string): void {
  sync(draft, "r+");
  try {
    fs.linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    // A file system without hard links.
    if (!fs.existsSync(path)) fs.renameSync(draft, path);
  }
  try {
    sync(dirname(path), "r");
  } catch {
    // Windows and some file systems cannot sync a directory.
  }
}

export function sync(path: string, flags: "r" | "r+"): void {
  const file = fs.openSync(path, flags);
  try {
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** SQLite would write what a lost ledger's log contains into the new one. */
export function setAside(path: string): void {
  const id = ulid();
  for (const end of ["-wal", "-shm", "-journal"])
    if (fs.existsSync(path + end)) fs.renameSync(path + end, `${path}.${id}.lost${end}`);
}

/**
 * Prepares a file that is open: its tables become those of this version.
 *
 * @throws Failure if it has no tables, was moved, or was written by a newer version
 */
export function prepareFile(database: Database, path: string): void {
  rejectWithoutTables(database, path);
  const move = moveOf(database);
  if (move) throw movedFailure(move);
  migrate(database);
}
