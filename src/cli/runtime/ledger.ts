import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { ulid } from "ulid";
import type { Account, RecordsOwner } from "../../config/account.ts";
import type { Profiles } from "../../config/profiles.ts";
import { Failure } from "../../domain/failure.ts";
import { createHeadKeeper, headPath, tellingCommits } from "../../ledger/head.ts";
import { rejectWithoutTables } from "../../ledger/health.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Actor } from "../../ledger/operation.ts";
import { openLedger } from "../../ledger/sqlite/ledger.ts";
import type { KnownProfile } from "../../ledger/sqlite/migrate-accounts.ts";
import { migrate, outdatedVersion } from "../../ledger/sqlite/schema.ts";
import type { Owner } from "../../ledger/worker.ts";
import type { Host } from "../../platform/host.ts";
import { alone, openPresence } from "../../platform/process-locks.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase, writeCopy } from "../../platform/sqlite/open.ts";
import { keepRecent } from "../completion/recent.ts";

/** A ledger, and how to close its file. */
export interface OpenedLedger {
  ledger: Ledger;
  /** Whether newer changes cannot be read (`readOnly` of the database). */
  lacksLog: boolean;
  close(): Promise<void>;
}

export interface LedgerOptions {
  owner: Owner;
  host: Host;
  command: string;
  scrub: (text: string) => string;
  /** The stored profiles, which name the accounts of a ledger that an earlier version wrote. */
  profiles: () => Promise<Profiles>;
}

/**
 * Opens the ledger of an account. One that an earlier version wrote is copied before it is migrated.
 *
 * @param path the file, or `:memory:` for what leaves no trace
 * @throws Failure `internal` when it cannot be used, or was lost; nothing was sent then (P7)
 */
export async function openAccountLedger(
  path: string,
  { owner, host, command, scrub, profiles }: LedgerOptions,
): Promise<OpenedLedger> {
  const opened = await openDatabase(path);
  const keeper =
    path === ":memory:"
      ? undefined
      : createHeadKeeper(opened, headPath(host.folders.config, path), host.now);
  const database = keeper ? tellingCommits(opened, keeper.committed) : opened;
  if (path !== ":memory:") {
    requireTables(database, path);
    await migrateFile(database, path, { host, profiles });
  }
  const presence =
    path === ":memory:" ? alone : openPresence(database, { ledger: path, now: host.now });
  // Each command that sends something needs the lock first, and no other command does.
  let isChecked = false;
  const ownLock = (): string => {
    if (!isChecked) keeper?.assertAccepted();
    isChecked = true;
    return presence.own();
  };
  const ledger = openLedger(database, {
    owner,
    user: host.user,
    command,
    actor: actorOf(host),
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
    close: async () => {
      const isChanged = database.transactionCount() > 0;
      if (isChanged && path !== ":memory:") await keepRecent(dirname(path), ledger, owner);
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

async function migrateFile(
  database: Database,
  path: string,
  { host, profiles }: Pick<LedgerOptions, "host" | "profiles">,
): Promise<void> {
  const from = outdatedVersion(database);
  if (from === undefined) return;
  const copy = `${path}.backup-v${from}-${ulid(host.now())}`;
  try {
    writeCopy(database, copy);
  } catch (cause) {
    rmSync(copy, { force: true });
    throw new Failure("internal", `Cannot copy the ledger to ${copy}. Nothing was sent.`, {
      hint: "The ledger is copied before it is updated for this version. Make room on the disk, then run the same command again.",
      cause,
    });
  }
  migrate(database, knownProfiles(await profiles()));
}

/** Profiles whose keys can be read without a keychain or a program. */
function knownProfiles({ profiles }: Profiles): KnownProfile[] {
  return Object.entries(profiles).flatMap(([name, { environment, apiKey }]) =>
    apiKey && "text" in apiKey ? [{ name, environment, keyHash: keyHashOf(apiKey.text) }] : [],
  );
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
export function ownerOf(owned: Account | RecordsOwner): Owner {
  const { name: profile, environment = "", apiKey, ledgerAccount: account } = owned;
  const baseUrl = "baseUrl" in owned ? owned.baseUrl : "";
  const keyId = apiKey === undefined ? "" : keyHashOf(apiKey);
  return { profile, environment, baseUrl, keyId, account };
}

/** Tells API keys apart without holding them. */
function keyHashOf(apiKey: string): string {
  return createHash("sha256").update(apiKey).digest("hex").slice(0, 16);
}

/** Who runs this process: what the operating system and the environment show. */
function actorOf({ user, machine, pid, env }: Host): Actor {
  const { LOGNAME: login, SUDO_USER: sudoUser, SSH_CONNECTION: ssh } = env;
  const [sshFrom] = ssh?.split(" ") ?? [];
  return {
    ...{ user, machine, pid },
    ...(login === undefined || login === user ? {} : { login }),
    ...(sudoUser === undefined ? {} : { sudoUser }),
    ...(sshFrom === undefined ? {} : { sshFrom }),
  };
}
