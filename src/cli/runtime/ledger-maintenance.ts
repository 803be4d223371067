import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { resolve } from "node:path";
import { ulid } from "ulid";
import { errorCode, systemReason } from "../../domain/error-code.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { Acceptance } from "../../ledger/chain.ts";
import {
  type Head,
  headOf,
  headPath,
  restoredPath,
  type StoredHead,
  storedHead,
  writeHead,
} from "../../ledger/head.ts";
import { hasTables, ledgerFileState, rejectNetworkFileSystem } from "../../ledger/health.ts";
import {
  findingsDigest,
  type Integrity,
  isAccepted,
  isComplete,
  isIntact,
} from "../../ledger/integrity.ts";
import { noPosition } from "../../ledger/position.ts";
import type { ServerHealth } from "../../ledger/postgres/health.ts";
import type { ServerIntegrity } from "../../ledger/postgres/integrity.ts";
import type { WorkingProcess } from "../../ledger/process-list.ts";
import { recordAcceptance } from "../../ledger/sqlite/chain.ts";
import { integrityOf } from "../../ledger/sqlite/integrity.ts";
import { type Move, movedFailure, moveOf } from "../../ledger/sqlite/moved.ts";
import { listProcesses } from "../../ledger/sqlite/process-list.ts";
import { migrate } from "../../ledger/sqlite/schema.ts";
import type { UnmovedFile } from "../../ledger/sqlite/unmoved.ts";
import type { Host } from "../../platform/host.ts";
import { createProcessLock, isInUse } from "../../platform/process-locks.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import {
  openDatabase,
  openUnchanging,
  openUnshared,
  writeCopy,
} from "../../platform/sqlite/open.ts";
import {
  createLedger,
  ledgerFile,
  newLedger,
  prepareFile,
  publish,
  requireLedger,
  setAside,
  sync,
} from "./ledger-file.ts";
import type { RunParts } from "./parts.ts";

export interface LedgerCheck extends Integrity {
  holds: boolean;
  /** Shows whether the ledger contains its stored head, if that is known. */
  head: StoredHead["state"];
  /** True if newer changes in the log of a read-only ledger could not be read. */
  lacksLog: boolean;
  /** What weakens the protection of a ledger on a server. */
  server?: ServerIntegrity["server"];
  /** Why its position cannot be stored outside of it, if it cannot. */
  position: Failure | undefined;
  /** The file of this machine whose operations the ledger on a server does not know, if there is one. */
  file?: UnmovedFile | undefined;
}

/** A ledger that knows less than an earlier one did, or that was modified. */
export interface UnacceptedLedger {
  /** A file, or a URL without a password. */
  path: string;
  /** Truncated: also by a rollback to an older copy. */
  state: "empty" | "missing" | "truncated" | "replaced" | "modified";
  /** The hash of its newest event; null if it has none. */
  newest: string | null;
  /** Records that a user accepted it; starts a new ledger in place of an empty or missing one. */
  accept(): Promise<void>;
}

export interface LedgerMaintenance {
  /** Reads the whole ledger; it is created if there was none so far. */
  check(): Promise<LedgerCheck>;
  /** Writes a consistent copy while others write the ledger. */
  backup(file: string): Promise<LedgerContent>;
  /**
   * Checks a copy of a backup, and puts it in place of the ledger; a user has to accept it before anything is
   * sent.
   *
   * @returns `kept`: the new name of the earlier ledger, if there was one
   * @throws Failure `locked` if another process uses the ledger; nothing was changed
   */
  restore(file: string, confirm: ConfirmRestore): Promise<LedgerContent & { kept: string | null }>;
  /** The processes that work on it, and those that ended without completing their work. */
  processes(): Promise<WorkingProcess[]>;
  /** Only of a ledger on a server. */
  serverHealth?(): Promise<ServerHealth>;
  /** Only of a ledger on a server: the file of this machine beside it. */
  fileBeside?(): Promise<FileBeside | undefined>;
  /** Why a user has to accept the ledger before anything is sent; undefined if there is no reason. */
  unaccepted(): Promise<UnacceptedLedger | undefined>;
}

/** A file whose operations a ledger on a server does not know. */
export interface FileBeside extends UnmovedFile {
  /** Why nothing is sent beside it. */
  failure: Failure | undefined;
  /** Records in the file that a user accepted it. */
  accept(): Promise<void>;
}

export interface LedgerContent {
  operations: number;
  events: number;
  /** When the newest event was; null without events. */
  newestAt: string | null;
}

/**
 * Throws unless the user replaces the current ledger, which is null if there is none that can be read.
 *
 * @param isOfLedger true if the backup was made of the current ledger
 */
type ConfirmRestore = (
  backup: LedgerContent,
  current: LedgerContent | null,
  isOfLedger: boolean,
) => Promise<void>;

/** The ledger as a file: of all accounts at once, and without a key. */
export function createLedgerMaintenance({
  host,
  leftMs,
}: Pick<RunParts, "host" | "leftMs">): LedgerMaintenance {
  const path = ledgerFile(host);
  const headFile = headPath(host.folders, path);
  const place = { path, headFile, leftMs };
  const kind = () => ledgerFileState(path, headFile).kind;
  const rejectNetwork = () => rejectNetworkFileSystem(path, host.mounts());
  /** Works in a ledger that was brought to the newest schema. */
  const inLedger = async <Result>(work: (database: Database) => Result | Promise<Result>) =>
    using(openDatabase(path, leftMs), async (database) => {
      prepareFile(database, path);
      return work(database);
    });
  return {
    check: async () => {
      rejectNetwork();
      await requireLedger(path, host);
      return inLedger(async (database) => {
        const stored = storedHead(database, headFile);
        const lacksLog = database.readOnly?.lacksLog === true;
        const position = noPosition(headFile, host.folders);
        return { ...checked(await integrityOf(database), stored, headFile), lacksLog, position };
      });
    },
    backup: async (file) => {
      if (kind() === "new")
        throw usage([`There is no ledger yet: ${path} is created when something is first sent.`]);
      await requireLedger(path, host);
      return backUp(place, file);
    },
    restore: async (file, confirm) => {
      rejectNetwork();
      return restore(place, file, { now: host.now, confirm });
    },
    processes: async () => {
      rejectNetwork();
      if (kind() === "new") return [];
      await requireLedger(path, host);
      return inLedger((database) => processesOf(database, path, host));
    },
    unaccepted: async () => {
      rejectNetwork();
      const state = kind();
      if (state === "new") return undefined;
      const by = { at: new Date(host.now()).toISOString(), user: host.user };
      if (state === "present" && (await using(openDatabase(path, leftMs), hasTables)))
        return inLedger((database) => unacceptedFile(database, place, by));
      return lostLedger(state === "missing" ? "missing" : "empty", place, by);
    },
  };
}

/** Only this user can read the file, so whoever works on it is the same person. */
function processesOf(database: Database, path: string, { now, user }: Host): WorkingProcess[] {
  const { isAlive } = createProcessLock(database, { ledger: path, now });
  return listProcesses(database, isAlive).map((one) => ({ ...one, user: one.user || user }));
}

interface LedgerPlace {
  path: string;
  /** The file with the head that is stored outside the ledger. */
  headFile: string;
  /** How long the ledger may still be waited for, in milliseconds. */
  leftMs(): number;
}

type By = Pick<Acceptance, "at" | "user">;

async function using<Result>(
  opening: Promise<Database>,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  const database = await opening;
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

/** A user has to accept a new ledger in place of a lost one. */
function lostLedger(state: "empty" | "missing", { path, headFile, leftMs }: LedgerPlace, by: By) {
  return {
    path,
    state,
    newest: null,
    accept: async () => {
      setAside(path);
      if (state === "empty") (await newLedger(path, { ...by, state })).close();
      else await createLedger(path, { ...by, state });
      await using(openDatabase(path, leftMs), (database) =>
        storeAccepted(headOf(database), headFile),
      );
      rmSync(restoredPath(path), { force: true });
    },
  };
}

async function unacceptedFile(database: Database, { path, headFile, leftMs }: LedgerPlace, by: By) {
  const newest = headOf(database);
  const stored = storedHead(database, headFile);
  const found = await unacceptedContent(stored, newest, () => integrityOf(database));
  if (!found) return undefined;
  return {
    path,
    state: found.state,
    newest: newest?.hash ?? null,
    accept: () =>
      using(openDatabase(path, leftMs), (opened) => {
        opened.transaction(() => {
          if (headOf(opened)?.hash !== newest?.hash) throw changedMeanwhile(path);
          recordAcceptance(opened, { ...by, ...found });
        });
        storeAccepted(headOf(opened), headFile);
        rmSync(restoredPath(path), { force: true });
      }),
  };
}

/**
 * Copies a ledger while other processes write it. Only SQLite opens the ledger's files: a plain copy
 * would miss its log, and drop the locks of this process.
 */
async function backUp(ledger: LedgerPlace, file: string): Promise<LedgerContent> {
  const path = resolve(file);
  try {
    // An existing file is never replaced, and no link is followed.
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    const why = createErrors[errorCode(cause) ?? ""] ?? systemReason(cause);
    throw usage(
      [`Cannot create ${file}: ${why}.`],
      "Use a new file in an existing directory that you can write to.",
    );
  }
  try {
    await using(openDatabase(ledger.path, ledger.leftMs), (database) =>
      database.prepare("VACUUM INTO ?").run(path),
    );
    sync(path, "r+");
    // The copy is counted, because other processes may write the ledger meanwhile.
    return await using(openUnchanging(path), contentOf);
  } catch (cause) {
    rmSync(path, { force: true });
    if (cause instanceof Failure) throw cause;
    throw new Failure("ledger.backup-not-written", `Cannot write the backup ${file}.`, {
      hint: "Check that there is room on the disk, or choose another file.",
      cause,
    });
  }
}

const createErrors: Record<string, string> = {
  EEXIST: "the file already exists",
  ENOENT: "its directory does not exist",
  ENOTDIR: "its directory is a file",
  EACCES: "permission denied",
};

async function restore(
  { path, leftMs }: LedgerPlace,
  file: string,
  { now, confirm }: { now(): number; confirm: ConfirmRestore },
): Promise<LedgerContent & { kept: string | null }> {
  const draft = `${path}.${ulid(now())}.new`;
  try {
    const { newest, ...backup } = await copyChecked(file, draft);
    const earlier = await openEarlier(path, leftMs);
    try {
      if (earlier) requireNotMoved(earlier);
      const current = earlier && contentIfReadable(earlier);
      await confirm(backup, current, current !== null && hasEvent(earlier, newest));
      if (earlier) requireUnused(path, earlier);
    } finally {
      earlier?.close();
    }
    requireAcceptance(path);
    setAside(path);
    const kept = existsSync(path) ? `${path}.${ulid(now())}.before-restore` : null;
    if (kept !== null) renameSync(path, kept);
    publish(draft, path);
    return { ...backup, kept };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Copies a backup, which may be on a medium that cannot be written, updates the copy, and checks it. */
async function copyChecked(file: string, draft: string) {
  const path = resolve(file);
  const found = lstatSync(path, { throwIfNoEntry: false });
  const hint = "Use a file that 'lenden ledger backup' wrote.";
  if (!found?.isFile()) {
    const why = found ? "it is not a regular file" : "the file does not exist";
    throw usage([`Cannot restore ${file}: ${why}.`], hint);
  }
  try {
    await using(openUnchanging(path), (database) => {
      if (!hasTables(database)) throw new Error("there are no tables");
      writeCopy(database, draft);
    });
    return await using(openUnshared(draft), async (database) => {
      migrate(database);
      const integrity = await integrityOf(database);
      if (!isAccepted(integrity)) throw modifiedBackup(file, integrity);
      return { ...contentOf(database), newest: headOf(database) };
    });
  } catch (cause) {
    const isOfLedger = cause instanceof Failure && cause.reason.startsWith("ledger.");
    if (isOfLedger && cause.reason !== "ledger.unreadable") throw cause;
    throw usage([`Cannot restore ${file}: the file is not a ledger, or is damaged.`], hint);
  }
}

function modifiedBackup(file: string, { brokenAt, modified, damage }: Integrity): Failure {
  const causes = [
    ...(brokenAt === null ? [] : [`event ${brokenAt} does not follow from the one before it`]),
    ...modified.map(({ kind, name, problem }) => `${kind} ${name} was ${problem}`),
    ...damage,
  ];
  const message = `Cannot restore ${file}: the backup was modified (${causes.slice(0, 3).join("; ")}).`;
  return new Failure("ledger.modified", message, {
    hint: "Use another file that 'lenden ledger backup' wrote. The current ledger was not changed.",
  });
}

/** Uses one connection: libsql closes it late, and SQLite would treat a second one as another process. */
async function openEarlier(path: string, leftMs: LedgerPlace["leftMs"]): Promise<Database | null> {
  if (!lstatSync(path, { throwIfNoEntry: false })?.size) return null;
  return openDatabase(path, leftMs).catch((error: unknown) => {
    if (error instanceof Failure && error.reason === "ledger.locked") throw error;
    // A file that is no database is used by no process.
    return null;
  });
}

/** @throws Failure `locked` if another process works on the ledger, or only has it open */
export function requireUnused(path: string, database: Database): void {
  const inUse = new Failure("ledger.in-use", `Another lenden process uses ${path}.`, {
    hint: "Wait until it ends, or stop it, then run the command again.",
  });
  if (isInUse(path, database)) throw inUse;
  try {
    // SQLite gives up the log only if no other process has the file open.
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
  } catch (error) {
    // A damaged ledger is a reason for a restore.
    if (/locked/.test(String(error))) throw inUse;
  }
}

/** A backup in place of a moved file would send again what the server's ledger has. */
function requireNotMoved(database: Database): void {
  let move: Move | undefined;
  try {
    move = moveOf(database);
  } catch {
    // A damaged ledger is a reason for a restore.
  }
  if (move) throw movedFailure(move);
}

function contentIfReadable(database: Database): LedgerContent | null {
  try {
    return contentOf(database);
  } catch {
    return null;
  }
}

/** True if the ledger has the event, or there is none. */
function hasEvent(database: Database | null, event: Head | undefined): boolean {
  if (!event) return true;
  const found = database?.prepare("SELECT hash FROM events WHERE number = ?").all(event.number);
  return found?.[0]?.hash === event.hash;
}

function contentOf(database: Database): LedgerContent {
  // Read to the end: an open statement would keep the file in use.
  const [row] = database
    .prepare(
      `SELECT (SELECT count(*) FROM operations) AS operations, count(*) AS events, max(at) AS at
       FROM events`,
    )
    .all();
  return {
    operations: Number(row?.operations ?? 0n),
    events: Number(row?.events ?? 0n),
    newestAt: typeof row?.at === "string" ? row.at : null,
  };
}

/** Operations since the backup are unknown, so a user has to accept it, even if nothing else shows that. */
function requireAcceptance(path: string): void {
  const mark = restoredPath(path);
  writeFileSync(mark, "", { mode: 0o600 });
  sync(mark, "r+");
}

/** The result of a check. Only a check of the whole ledger finds modified rows, so it is stored beside the head. */
export function checked<Checked extends Integrity>(
  integrity: Checked,
  stored: StoredHead,
  headFile: string,
) {
  const isModified = !isAccepted(integrity);
  const { head = integrity.newest } = stored;
  try {
    if (head && stored.isModified !== isModified) writeHead(headFile, head, isModified);
  } catch {
    // The check itself reports what it found.
  }
  const isVerified = !isModified && (isIntact(integrity) || isComplete(integrity));
  const holds = stored.state !== "not-contained" && isVerified;
  return { holds, ...integrity, head: stored.state };
}

/** Why a user has to accept a ledger: it does not contain its stored head, or its rows are not as its events tell. */
export async function unacceptedContent(
  stored: StoredHead,
  newest: Head | undefined,
  readIntegrity: () => Promise<Integrity>,
): Promise<
  (Pick<Acceptance, "findings" | "stored"> & Pick<UnacceptedLedger, "state">) | undefined
> {
  if (stored.state === "not-contained") {
    const isShorter = (newest?.number ?? 0n) < stored.head.number;
    return { state: isShorter ? "truncated" : "replaced", stored: stored.head };
  }
  const integrity = await readIntegrity();
  if (isAccepted(integrity)) return undefined;
  return { state: "modified", findings: findingsDigest(integrity) };
}

/** From here on, the ledger has to contain the event of the acceptance. */
export function storeAccepted(head: Head | undefined, headFile: string): void {
  try {
    if (head) writeHead(headFile, head);
  } catch (cause) {
    throw new Failure("ledger.not-written", `Cannot write ${headFile}.`, {
      hint: "Check the permissions of its directory, then accept the ledger again.",
      cause,
    });
  }
}

export function changedMeanwhile(path: string): Failure {
  const message = `Cannot accept ${path}: another process changed it.`;
  const hint = "Review it with 'lenden ledger check', then accept it again.";
  return new Failure("ledger.in-use", message, { hint });
}
