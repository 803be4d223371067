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
import type { Host } from "../../platform/host.ts";
import { createProcessLock, isInUse } from "../../platform/process-locks.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import {
  openDatabase,
  openUnchanging,
  openUnshared,
  writeCopy,
} from "../../platform/sqlite/open.ts";
import type { Acceptance } from "../chain.ts";
import { headOf, headPath, restoredPath, storedHead } from "../head.ts";
import { hasTables, ledgerFileState, rejectNetworkFileSystem } from "../health.ts";
import { type Integrity, isAccepted } from "../integrity.ts";
import {
  acceptanceOf,
  type ConfirmRestore,
  changedMeanwhile,
  checked,
  type LedgerContent,
  type LedgerMaintenance,
  storeAccepted,
  unacceptedContent,
} from "../maintenance.ts";
import { type Move, movedFailure, moveOf } from "../move/mark.ts";
import { type Head, noPosition, type PositionPlace } from "../position.ts";
import type { WorkingProcess } from "../process-list.ts";
import {
  createLedger,
  ledgerFile,
  newLedger,
  prepareFile,
  publish,
  requireLedger,
  setAside,
  sync,
} from "./file.ts";
import { integrityOf } from "./integrity.ts";
import { listProcesses } from "./process-list.ts";
import { migrate } from "./schema.ts";
import { appendEvent } from "./statements.ts";

/** The ledger as a file: of all accounts at once, and without a key. */
export function createLedgerMaintenance({
  host,
  leftMs,
}: {
  host: Host;
  /** How long the ledger may still be waited for, in milliseconds. */
  leftMs(): number;
}): LedgerMaintenance {
  const path = ledgerFile(host);
  const headFile = headPath(host.folders, path);
  const place = { path, headFile, folders: host.folders, leftMs };
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
        return { ...checked(await integrityOf(database), stored, place), lacksLog, position };
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
    setLimits: async ({ environment, account }, set) => {
      rejectNetwork();
      await requireLedger(path, host);
      await inLedger((database) => {
        const insert = database.prepare(
          "INSERT INTO limits (environment, account, name, value, set_at, login) VALUES (?, ?, ?, ?, ?, ?)",
        );
        const at = new Date(host.now()).toISOString();
        database.transaction(() => {
          for (const { name, value } of set)
            insert.run(environment, account, name, value, at, host.user);
        });
      });
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

interface LedgerPlace extends PositionPlace {
  path: string;
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
function lostLedger(state: "empty" | "missing", place: LedgerPlace, by: By) {
  const { path, leftMs } = place;
  return {
    path,
    state,
    newest: null,
    accept: async () => {
      setAside(path);
      if (state === "empty") (await newLedger(path, leftMs, { ...by, state })).close();
      else await createLedger(path, { ...by, state });
      await using(openDatabase(path, leftMs), (database) => storeAccepted(headOf(database), place));
      rmSync(restoredPath(path), { force: true });
    },
  };
}

async function unacceptedFile(database: Database, place: LedgerPlace, by: By) {
  const { path, headFile, leftMs } = place;
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
          appendEvent(opened, acceptanceOf(found, by), by.user);
        });
        storeAccepted(headOf(opened), place, { accepted: found.accepted });
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
      // After it a person accepts the ledger here, whatever the events of the backup say.
      if (!isAccepted(integrity, integrity.accepted)) throw modifiedBackup(file, integrity);
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
