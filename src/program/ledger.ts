import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { ulid } from "ulid";
import type { Account } from "../config/account.ts";
import type { Host } from "../host.ts";
import { rejectWithoutTables } from "../ledger/file-state.ts";
import { createHeadKeeper, headPath, tellingCommits } from "../ledger/head.ts";
import { type Ledger, openLedger } from "../ledger/ledger.ts";
import type { Owner } from "../ledger/operation.ts";
import type { Database } from "../sqlite/database.ts";
import { openDatabase } from "../sqlite/open.ts";
import { keepRecent } from "./completion/recent.ts";
import { alone, openPresence } from "./presence/presence.ts";

/** A ledger, and how to close its file. */
export interface OpenedLedger {
  ledger: Ledger;
  /** Whether newer changes cannot be read (`readOnly` of the database). */
  lacksLog: boolean;
  close(): void;
}

export interface LedgerOptions {
  owner: Owner;
  host: Host;
  command: string;
  scrub: (text: string) => string;
}

/**
 * Opens the ledger of an account.
 *
 * @param path the file, or `:memory:` for what leaves no trace
 * @throws Failure `internal` when it cannot be used, or was lost; nothing was sent then (P7)
 */
export async function openAccountLedger(
  path: string,
  { owner, host, command, scrub }: LedgerOptions,
): Promise<OpenedLedger> {
  const opened = await openDatabase(path);
  const keeper =
    path === ":memory:"
      ? undefined
      : createHeadKeeper(opened, headPath(host.folders.config, path), host.now);
  const database = keeper ? tellingCommits(opened, keeper.committed) : opened;
  if (path !== ":memory:") requireTables(database, path);
  const presence =
    path === ":memory:" ? alone : openPresence(database, { ledger: path, now: host.now });
  // Each command that sends something needs the lock first, and no other command does.
  let isChecked = false;
  const ownLock = (): string => {
    if (!isChecked) keeper?.assertContained();
    isChecked = true;
    return presence.own();
  };
  const ledger = openLedger(database, {
    owner,
    user: host.user,
    command,
    holder: {
      pid: host.pid,
      machine: host.machine,
      get lock() {
        return ownLock();
      },
    },
    now: host.now,
    scrub,
    newId: openIds(host),
    isAlive: ({ lock }) => presence.isAlive(lock),
    assertSeen: presence.assertSeen,
  });
  return {
    ledger,
    lacksLog: opened.readOnly?.lacksLog === true,
    close: () => {
      const isChanged = database.transactionCount() > 0;
      if (isChanged && path !== ":memory:") keepRecent(dirname(path), database, owner);
      if (isChanged) keeper?.store();
      try {
        database.close();
      } finally {
        presence.end();
      }
    },
  };
}

function requireTables(database: Database, path: string): void {
  try {
    rejectWithoutTables(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Random bytes are dear one by one, and a batch makes an id for every row. */
function openIds({ now, randomBytes }: Host): () => string {
  let bytes = new Uint8Array().values();
  const share = (): number => {
    let next = bytes.next();
    if (next.done) {
      bytes = randomBytes(4096).values();
      next = bytes.next();
    }
    return (next.value ?? 0) / 256;
  };
  return () => `OP${ulid(now(), share)}`;
}

/** Whose operations they are; the key itself is not part of it. */
export function ownerOf({ name, environment, baseUrl, apiKey }: Account): Owner {
  const keyId = createHash("sha256").update(apiKey).digest("hex").slice(0, 16);
  return { profile: name, environment, baseUrl, keyId };
}
