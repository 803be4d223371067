import { closeSync, existsSync, lstatSync, openSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { ulid } from "ulid";
import { errorCode } from "../../domain/error-code.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { containsHead, headOf, headPath, readHead, writeHead } from "../../ledger/head.ts";
import { hasTables } from "../../ledger/health.ts";
import { type Integrity, integrityOf, isAccepted } from "../../ledger/sqlite/integrity.ts";
import { migrate } from "../../ledger/sqlite/schema.ts";
import type { Host } from "../../platform/host.ts";
import { isInUse } from "../../platform/process-locks.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase, openUnchanging, openUnshared } from "../../platform/sqlite/open.ts";
import { makePrivateFile } from "../../platform/sqlite/private-file.ts";
import type { LedgerContent, LedgerRestore } from "../command/context.ts";
import { publish, setAside, sync } from "./ledger-file.ts";

/**
 * Copies a ledger while other processes write it. Only SQLite opens the ledger's files: a plain copy
 * would miss its log, and drop the locks of this process.
 *
 * @throws Failure `usage` where the file cannot be created
 */
export async function backUp(ledger: string, file: string): Promise<LedgerContent> {
  const path = resolve(file);
  createNew(path, file);
  try {
    const database = await openDatabase(ledger);
    try {
      // The copy is counted, because others may write meanwhile.
      database.prepare("VACUUM INTO ?").run(path);
    } finally {
      database.close();
    }
    sync(path, "r+");
    return await withReadOnly(path, contentOf);
  } catch (cause) {
    rmSync(path, { force: true });
    if (cause instanceof Failure) throw cause;
    throw new Failure("internal", `Cannot write the backup ${file}. Nothing was changed.`, {
      hint: "Is there room on the disk? Choose another file, then run the command again.",
      cause,
    });
  }
}

/** An existing file is never replaced, and no link is followed. */
function createNew(path: string, file: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    const code = errorCode(cause) ?? "";
    const causes: Record<string, string> = {
      EEXIST: "it exists already",
      ENOENT: "its directory does not exist",
      ENOTDIR: "its directory is a file",
      EACCES: "permission denied",
      EROFS: "the file system is read-only",
      ENOSPC: "the disk is full",
    };
    throw new Failure("usage", `Cannot create ${file}: ${causes[code] ?? code}.`, {
      hint: "Choose another file name. Nothing was changed.",
      cause,
    });
  }
}

/**
 * Checks a backup, and prepares that it takes the place of the ledger.
 *
 * @throws Failure `usage` where it is no ledger, `internal` where it was modified
 */
export async function prepareRestore(
  { folders, now }: Pick<Host, "folders" | "now">,
  ledger: string,
  file: string,
): Promise<LedgerRestore> {
  const draft = `${ledger}.${ulid(now())}.new`;
  await copyTo(draft, file);
  try {
    const backup = await checkedContent(draft, file);
    const earlier = await openEarlier(ledger);
    return {
      backup,
      current: earlier?.content ?? null,
      discard: () => {
        earlier?.close();
        rmSync(draft, { force: true });
      },
      restore: async () => {
        earlier?.requireUnused();
        earlier?.close();
        setAside(ledger);
        const aside = `${ledger}.${ulid(now())}.before-restore`;
        const isReplaced = existsSync(ledger);
        if (isReplaced) renameSync(ledger, aside);
        publish(draft, ledger);
        rmSync(draft, { force: true });
        await requireAcceptance(ledger, headPath(folders.config, ledger));
        return isReplaced ? aside : null;
      },
    };
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Brings the copy of a backup to the newest schema, and checks it. */
async function checkedContent(draft: string, file: string): Promise<LedgerContent> {
  try {
    return await closing(openUnshared(draft), async (database) => {
      migrate(database);
      const integrity = await integrityOf(database);
      if (!isAccepted(integrity)) throw modified(file, integrity);
      return contentOf(database);
    });
  } catch (cause) {
    throw cause instanceof Failure ? cause : notReadable(file, cause);
  }
}

/** The backup itself is only read: it may be on a medium that cannot be written. */
async function copyTo(draft: string, file: string): Promise<void> {
  const path = resolve(file);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile())
    throw usage(
      [`Cannot restore ${file}: ${found ? "it is not a regular file" : "there is no such file"}.`],
      "Use a file that 'lenden ledger backup' wrote. Nothing was changed.",
    );
  try {
    makePrivateFile(draft);
    await withReadOnly(path, (database) => {
      if (!hasTables(database)) throw new Error("there are no tables");
      database.prepare("VACUUM INTO ?").run(draft);
    });
    sync(draft, "r+");
  } catch (cause) {
    rmSync(draft, { force: true });
    throw notReadable(file, cause);
  }
}

function notReadable(file: string, cause: unknown): Failure {
  return new Failure("usage", `Cannot restore ${file}: it cannot be read as a ledger.`, {
    hint: "Use a file that 'lenden ledger backup' wrote. Nothing was changed.",
    cause,
  });
}

function modified(file: string, { brokenAt, modified: found, damage }: Integrity): Failure {
  const causes = [
    ...(brokenAt === null ? [] : [`event ${brokenAt} does not follow from the one before it`]),
    ...found.map(({ kind, name, problem }) => `${kind} ${name} was ${problem}`),
    ...damage,
  ];
  return new Failure(
    "internal",
    `Cannot restore ${file}: ${causes.slice(0, 3).join("; ")}. Nothing was changed.`,
    { hint: "Use another backup." },
  );
}

interface EarlierLedger {
  content: LedgerContent | null;
  /** @throws Failure `locked` if another process works on it, or only has it open */
  requireUnused(): void;
  close(): void;
}

/** One connection for all: libsql closes it late, and SQLite would take it for another process. */
async function openEarlier(ledger: string): Promise<EarlierLedger | undefined> {
  if (!lstatSync(ledger, { throwIfNoEntry: false })?.size) return undefined;
  const database = await openDatabase(ledger).catch(() => undefined);
  if (!database) return undefined; // Not a database: no process works on it.
  return {
    content: contentIfReadable(database),
    requireUnused: () => {
      if (isInUse(ledger, database)) throw inUse(ledger);
      try {
        // SQLite gives up the log only if no other process has the file open.
        database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
      } catch (error) {
        if (/locked/.test(String(error))) throw inUse(ledger);
        // A damaged ledger is the reason for a restore.
      }
    },
    close: database.close,
  };
}

function contentIfReadable(database: Database): LedgerContent | null {
  try {
    return contentOf(database);
  } catch {
    return null;
  }
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

function inUse(ledger: string): Failure {
  return new Failure("locked", `Another lenden process uses ${ledger}. Nothing was changed.`, {
    hint: "Wait until it ends, or stop it, then run the command again.",
  });
}

/** What was sent since the backup is unknown: even where nothing shows that, a user has to say so. */
async function requireAcceptance(ledger: string, headFile: string): Promise<void> {
  await withReadOnly(ledger, (database) => {
    const stored = readHead(headFile);
    const newest = headOf(database);
    if (stored.kind === "head" && !containsHead(database, stored.head)) return;
    writeHead(headFile, { number: (newest?.number ?? 0n) + 1n, hash: "restored" });
  });
}

/** For a file that no process writes. */
function withReadOnly<Result>(
  path: string,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  return closing(openUnchanging(path), work);
}

async function closing<Result>(
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
