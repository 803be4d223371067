import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatPaisa } from "../../domain/money.ts";
import { isUnsettled } from "../../domain/state.ts";
import { resources } from "../../domain/statuses.ts";
import type { Batch } from "../../ledger/batch.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Operation } from "../../ledger/operation.ts";
import type { Owner } from "../../ledger/worker.ts";
import { rowsText } from "../output/rows.ts";
import { type Entry, type KeptAccount, keptAccounts, recentFileName } from "./recent-kept.ts";

/** Local sandboxes come and go, each an account of its own. */
const mostAccounts = 8;
/** Of each list. */
const mostKept = 30;

/**
 * Keeps the newest of an account beside the ledger, as text: a Tab cannot wait for a database to be
 * opened. It only saves time: a file that cannot be written is as good as none.
 */
export async function keepRecent(folder: string, ledger: Ledger, owner: Owner): Promise<void> {
  try {
    const { profile, baseUrl } = owner;
    const own = { profile, baseUrl, lists: await listsOf(ledger) };
    const others = keptAccounts(folder).filter(
      (one) => one.profile !== profile || one.baseUrl !== baseUrl,
    );
    const file = join(folder, recentFileName);
    const accounts = [own, ...others].slice(0, mostAccounts);
    writeFileSync(`${file}.new`, JSON.stringify({ accounts }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // The next run that changes the ledger keeps it.
  }
}

async function listsOf(ledger: Ledger): Promise<KeptAccount["lists"]> {
  const records: [string, Entry[]][] = [];
  for (const kind of resources) {
    const found = await ledger.list(kind, { limit: mostKept });
    records.push([kind, found.filter(({ remoteId }) => remoteId !== null).map(recordEntry)]);
  }
  return {
    ...Object.fromEntries(records),
    operation: (await ledger.recent(mostKept)).map(operationEntry),
    batch: (await ledger.batches.list(mostKept)).map(batchEntry),
  };
}

function recordEntry({ remoteId, id, createdAt, ...operation }: Operation): Entry {
  return { value: remoteId ?? id, about: standing(operation), at: createdAt };
}

function operationEntry({ reference, id, kind, createdAt, ...operation }: Operation): Entry {
  return {
    value: reference ?? id,
    about: `${kind}, ${standing(operation)}`,
    at: createdAt,
    isOpen: isUnsettled(operation),
  };
}

function standing({
  amountPaisa,
  status,
  state,
}: Pick<Operation, "amountPaisa" | "status" | "state">): string {
  const amount = amountPaisa === null ? [] : [formatPaisa(amountPaisa)];
  return [...amount, status ?? state].join(", ");
}

function batchEntry({ id, name, plan, createdAt }: Batch): Entry {
  const { rowCount = 0, totalPaisa = 0n } = plan ?? {};
  const about = [name, rowsText(rowCount), formatPaisa(totalPaisa)].join(", ");
  return { value: id, about, at: createdAt };
}
