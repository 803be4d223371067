import type { Account } from "../config/account.ts";
import type { Host } from "../host.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { once } from "./once.ts";

export interface RunLedgersOptions {
  host: Host;
  /** The command's name, which the ledger keeps. */
  command: string;
  account: () => Promise<Account>;
  scrub: (text: string) => string;
  notice: (text: string, reason?: string) => void;
}

/** The ledgers of a run; each is opened when it is first asked for. */
export interface RunLedgers {
  /** Of the account that the run is for. */
  own(): Promise<Ledger>;
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
  const { host, command, account, scrub, notice } = options;
  const closing: (() => void | Promise<void>)[] = [];
  const ownFile = once(async () => {
    const { ledgerFile, requireLedger } = await import("./ledger-file.ts");
    const path = ledgerFile(host);
    await requireLedger(path, host);
    return path;
  });

  const open = async (owned: Account, path: string): Promise<Ledger> => {
    const { openAccountLedger, ownerOf } = await import("./ledger.ts");
    const owner = ownerOf(owned);
    const opened = await openAccountLedger(path, { owner, host, command, scrub });
    closing.push(opened.close);
    if (opened.lacksLog)
      notice(`${path} is read-only: changes that are only in its log are missing.`);
    return opened.ledger;
  };

  const own = once(async () => open(await account(), await ownFile()));

  return {
    own,
    inMemory: (owned) => once(async () => open(owned, ":memory:")),
    close: () => closeAll(closing.reverse()),
  };
}
