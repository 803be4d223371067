import { Failure, usage } from "../../domain/failure.ts";
import {
  containsHead,
  type Head,
  headOf,
  headPath,
  readHead,
  type StoredHead,
  writeHead,
} from "../../ledger/head.ts";
import { hasTables, ledgerFileState, rejectWithoutTables } from "../../ledger/health.ts";
import { type Acceptance, recordAcceptance } from "../../ledger/sqlite/chain.ts";
import {
  findingsDigest,
  integrityOf,
  isAccepted,
  isComplete,
  isIntact,
} from "../../ledger/sqlite/integrity.ts";
import { migrate } from "../../ledger/sqlite/schema.ts";
import type { Host } from "../../platform/host.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import type { LedgerCheck, LedgerMaintenance, UnacceptedLedger } from "../command/context.ts";
import { backUp, prepareRestore } from "./ledger-copies.ts";
import { createLedger, ledgerFile, newLedger, requireLedger, setAside } from "./ledger-file.ts";

/** The ledger as a file: of all accounts at once, and without a key. */
export function createLedgerMaintenance(host: Host): LedgerMaintenance {
  return {
    check: async () => {
      const path = ledgerFile(host);
      await requireLedger(path, host);
      return inLedger(path, (database) => checkLedger(database, headOfHost(host, path)));
    },
    backup: async (file) => {
      const path = ledgerFile(host);
      const state = ledgerFileState(path, headOfHost(host, path));
      if (state.kind === "new") throw noLedger(path);
      await requireLedger(path, host);
      return backUp(path, file);
    },
    prepareRestore: async (file) => prepareRestore(host, ledgerFile(host), file),
    unaccepted: async () => unacceptedLedger(host, ledgerFile(host)),
  };
}

function noLedger(path: string): Failure {
  return usage([`There is no ledger yet: ${path} is created when something is first sent.`]);
}

function headOfHost({ folders }: Host, ledger: string): string {
  return headPath(folders.config, ledger);
}

async function checkLedger(database: Database, headFile: string): Promise<LedgerCheck> {
  const stored = readHead(headFile);
  const integrity = await integrityOf(database);
  const isContained = stored.kind !== "head" || containsHead(database, stored.head);
  const head = stored.kind !== "head" ? stored.kind : isContained ? "contained" : "not-contained";
  const lacksLog = database.readOnly?.lacksLog === true;
  const isModified = !isAccepted(integrity);
  storeFinding(database, headFile, isModified);
  const holds = isContained && !isModified && (isIntact(integrity) || isComplete(integrity));
  return { holds, ...integrity, head, lacksLog };
}

/** Only a check of the whole ledger finds modified rows; a command that sends reads it beside the head. */
function storeFinding(database: Database, headFile: string, isModified: boolean): void {
  const stored = readHead(headFile);
  const wasModified = stored.kind === "head" && stored.isModified;
  const head = stored.kind === "head" ? stored.head : headOf(database);
  if (!head || wasModified === isModified) return;
  try {
    writeHead(headFile, head, isModified);
  } catch {
    // The check itself reports what it found.
  }
}

/** What is wrong with the ledger as a file; undefined if nothing is, or if it is yet to be created. */
async function unacceptedLedger(host: Host, path: string): Promise<UnacceptedLedger | undefined> {
  const headFile = headOfHost(host, path);
  const { kind } = ledgerFileState(path, headFile);
  if (kind === "new") return undefined;
  const by = { at: new Date(host.now()).toISOString(), user: host.user };
  if (kind === "present" && (await withDatabase(path, hasTables)))
    return inLedger(path, (database) => unacceptedContent(database, { path, headFile, by }));
  const state = kind === "missing" ? "missing" : "empty";
  return {
    ...{ path, state, newest: null },
    accept: async () => {
      setAside(path);
      await (state === "empty" ? fillLedger : createLedger)(path, { ...by, state });
      await withDatabase(path, (database) => storeHead(database, headFile));
    },
  };
}

interface Diverged {
  path: string;
  headFile: string;
  /** When it is accepted, and by whom. */
  by: Pick<Acceptance, "at" | "user">;
}

/** A ledger that does not contain its stored head, or whose rows are not as its events tell. */
async function unacceptedContent(
  database: Database,
  { path, headFile, by }: Diverged,
): Promise<UnacceptedLedger | undefined> {
  const newest = headOf(database);
  const found = divergence(readHead(headFile), newest, database) ?? (await modification(database));
  if (!found) return undefined;
  return {
    ...{ path, state: found.state, newest: newest?.hash ?? null },
    accept: () =>
      withDatabase(path, (opened) => {
        opened.transaction(() => {
          if (headOf(opened)?.hash !== newest?.hash) throw changedMeanwhile(path);
          recordAcceptance(opened, { ...by, ...found });
        });
        storeHead(opened, headFile);
      }),
  };
}

function divergence(stored: StoredHead, newest: Head | undefined, database: Database) {
  if (stored.kind !== "head" || containsHead(database, stored.head)) return undefined;
  const isShorter = (newest?.number ?? 0n) < stored.head.number;
  return { state: isShorter ? "truncated" : "replaced", stored: stored.head } as const;
}

async function modification(database: Database) {
  const integrity = await integrityOf(database);
  if (isAccepted(integrity)) return undefined;
  return { state: "modified", findings: findingsDigest(integrity) } as const;
}

/** From here on, the ledger has to contain the event of the acceptance. */
function storeHead(database: Database, headFile: string): void {
  const head: Head | undefined = headOf(database);
  try {
    if (head) writeHead(headFile, head);
  } catch (cause) {
    throw new Failure("internal", `Cannot write ${headFile}. Nothing was sent.`, {
      hint: "Check the permissions of its directory, then accept the ledger again.",
      cause,
    });
  }
}

function changedMeanwhile(path: string): Failure {
  return new Failure(
    "locked",
    `Cannot accept ${path}: it was changed meanwhile. Nothing was sent.`,
    {
      hint: "Review it with 'lenden ledger check', then accept it again.",
    },
  );
}

/** Creates the tables in an empty ledger, and records who accepted it. */
async function fillLedger(path: string, acceptance: Acceptance): Promise<void> {
  const database = await newLedger(path, acceptance);
  database.close();
}

/** The same for a ledger, which is brought to the newest schema first. */
function inLedger<Result>(
  path: string,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  return withDatabase(path, (database) => {
    rejectWithoutTables(database, path);
    migrate(database);
    return work(database);
  });
}

async function withDatabase<Result>(
  path: string,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(path);
  try {
    return await work(database);
  } finally {
    database.close();
  }
}
