import type { Account } from "../config/account.ts";
import type { Host } from "../host.ts";
import type { Commit } from "../ledger/grouped.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OpenedLedger } from "./ledger.ts";
import { once } from "./once.ts";

export interface RunLedgersOptions {
  host: Host;
  /** The command's name, which the ledger keeps. */
  command: string;
  account: () => Promise<Account>;
  scrub: (text: string) => string;
  /** What must not stand in the ledger. */
  secrets: () => string[];
}

/** The ledgers of a run; each is opened when it is first asked for. */
export interface RunLedgers {
  /** Of the account that the run is for. */
  own(): Promise<Ledger>;
  /** For an account that leaves no trace. */
  inMemory(account: Account): () => Promise<Ledger>;
  /** Brings many changes to the own ledger in one commit, in a thread where there is one. */
  committer(): Promise<Commit>;
  close(): Promise<void>;
}

export function openRunLedgers(options: RunLedgersOptions): RunLedgers {
  const { host, command, account, scrub, secrets } = options;
  const closing: (() => void | Promise<void>)[] = [];
  const ownFile = once(async () => {
    const { ledgerFile, requireLedger } = await import("./ledger-file.ts");
    const path = ledgerFile(host);
    await requireLedger(path);
    return path;
  });

  const open = async (owned: Account, path: string): Promise<OpenedLedger> => {
    const { openAccountLedger, ownerOf } = await import("./ledger.ts");
    const owner = ownerOf(owned);
    const opened = await openAccountLedger(path, { owner, host, command, scrub });
    closing.push(opened.close);
    return opened;
  };

  const own = once(async () => open(await account(), await ownFile()));

  const committer = once(async (): Promise<Commit> => {
    const { ledger, lock } = await own();
    if (!host.ledgerWriter) return async (changes) => ledger.apply(changes);
    const { ownerOf } = await import("./ledger.ts");
    const { openWriter } = await import("./writer/writer.ts");
    const owner = ownerOf(await account());
    const start = { path: await ownFile(), owner, command, secrets: secrets(), lock: lock() };
    const writer = openWriter(host.ledgerWriter, start, scrub);
    closing.push(writer.close);
    return writer.commit;
  });

  return {
    own: async () => (await own()).ledger,
    inMemory: (owned) => once(async () => (await open(owned, ":memory:")).ledger),
    committer,
    close: async () => {
      for (const close of closing.reverse()) await close();
    },
  };
}
