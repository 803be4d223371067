import type { Account, RecordsOwner } from "../../config/account.ts";
import type { Profiles } from "../../config/profiles.ts";
import { isLocalSandbox } from "../../domain/url.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Host } from "../../platform/host.ts";
import type { Context } from "../command/context.ts";
import { once } from "./once.ts";

export interface RunLedgersOptions {
  host: Host;
  /** The command's name, which the ledger keeps. */
  command: string;
  account: () => Promise<Account>;
  recordsOwner: () => Promise<RecordsOwner>;
  scrub: (text: string) => string;
  profiles: Pick<Context["profiles"], "read" | "change">;
  notice(text: string, reason?: string): void;
}

/** The ledgers of a run; each is opened when it is first asked for. */
export interface RunLedgers {
  /** Of the account that the run is for. */
  own(): Promise<Ledger>;
  /** For a command that only reads, of the account that the settings name, or of all accounts. */
  records(): Promise<Ledger>;
  /** For an account that leaves no trace. */
  inMemory(account: Account): () => Promise<Ledger>;
  close(): Promise<void>;
}

/**
 * Closes all of them, also after one that fails.
 *
 * @throws AggregateError with what failed
 */
export async function closeAll(closing: (() => void | Promise<void>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closing) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) {
    const messages = errors.map((error) => (error instanceof Error ? error.message : "unknown"));
    throw new AggregateError(errors, [...new Set(messages)].join("; "));
  }
}

export function openRunLedgers(options: RunLedgersOptions): RunLedgers {
  const { host, command, account, recordsOwner, scrub, profiles, notice } = options;
  const closing: (() => void | Promise<void>)[] = [];
  const ownFile = once(async () => {
    const { ledgerFile, requireLedger } = await import("./ledger-file.ts");
    const path = ledgerFile(host);
    await requireLedger(path, host);
    return path;
  });

  const open = async (owned: Account | RecordsOwner, path: string): Promise<Ledger> => {
    const { openAccountLedger, ownerOf } = await import("./ledger.ts");
    const owner = ownerOf(owned);
    const opened = await openAccountLedger(path, {
      ...{ owner, host, command, scrub },
      profiles: profiles.read,
    });
    closing.push(opened.close);
    if (opened.lacksLog)
      notice(`${path} is read-only: changes that are only in its log are missing.`);
    return opened.ledger;
  };

  const own = once(async () => {
    const owned = await account();
    const opened = await open(owned, await ownFile());
    await announceAccount(owned, opened);
    closing.push(() => storeAccount(owned, opened));
    return opened;
  });

  /**
   * A key that the ledger does not know, and no profile names, gets an account of its own.
   *
   * @throws Failure `access` if the key belongs to another account than the one that is named
   */
  async function announceAccount(owned: Account, ledger: Ledger): Promise<void> {
    const account = await ledger.account();
    const isNamed = Object.values(owned.ledgerAccount).some((name) => name !== undefined);
    if (isNamed || isLocalSandbox(owned) || (await ledger.isAccountStored())) return;
    notice(
      `The ledger does not know this API key, so its operations are recorded in a new account, ${account}. To record them in another one, set LENDEN_ACCOUNT.`,
    );
  }

  /** At its first use a profile keeps the account of its keys, so that its next key joins it. */
  async function storeAccount(owned: Account, ledger: Ledger): Promise<void> {
    const { joins, proposed } = owned.ledgerAccount;
    const isKept = joins !== undefined || isLocalSandbox(owned);
    if (proposed === undefined || isKept || !(await ledger.isAccountStored())) return;
    // Without it the next key gets a new account, and guards of production see both.
    const account = await ledger.account();
    await profiles.change((stored) => withAccount(stored, proposed, account)).catch(() => {});
  }

  return {
    own,
    records: once(async () => open(await recordsOwner(), await ownFile())),
    inMemory: (owned) => once(async () => open(owned, ":memory:")),
    close: () => closeAll(closing.reverse()),
  };
}

function withAccount(stored: Profiles, name: string, account: string): Profiles {
  const own = stored.profiles[name];
  if (!own || own.account !== undefined) return stored;
  return { ...stored, profiles: { ...stored.profiles, [name]: { ...own, account } } };
}
