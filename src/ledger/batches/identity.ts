import { createHash } from "node:crypto";
import type { Paisa } from "../../contract/amount.ts";
import type { Database } from "../../sqlite/database.ts";
import { payeeOf } from "../payee.ts";

/** What makes a row of a file the same row, however the file writes it. */
export interface IdentityRow {
  amountPaisa: Paisa;
  recipient: string;
  methodId: string;
  /** Null if the file has no column of references. */
  reference: string | null;
  name: string | null;
  description: string | null;
}

/** A row as a text: equal for equal rows, whatever the number format and the place in the file. */
export function rowKey(row: IdentityRow): string {
  const { amountPaisa, recipient, methodId, reference, name, description } = row;
  const amount = String(amountPaisa);
  return JSON.stringify([amount, payeeOf(recipient), methodId, reference, name, description]);
}

/**
 * The identity of a batch: the same for the same rows in another order, in a file with another name or
 * other line ends, and on another machine.
 *
 * @param sortedKeys the key of each row, sorted
 * @param name the batch's own name, if it was given one; else null
 */
export function identityOf(sortedKeys: string[], name: string | null): string {
  const hash = createHash("sha256").update(JSON.stringify(name));
  for (const key of sortedKeys) hash.update("\n").update(key);
  return hash.digest("hex");
}

const rowsPerPage = 500;

/**
 * Gives plans that were made before there were identities theirs. Of two plans of an account with the
 * same rows the older one gets it: the other one is still found by its file's bytes.
 */
export function storeIdentities(database: Database): void {
  const planned = database.prepare(
    "SELECT number, account, name, file_name, columns FROM batches WHERE digest IS NOT NULL ORDER BY number",
  );
  const store = database.prepare("UPDATE batches SET identity = ? WHERE number = ?");
  const known = new Set<string>();
  for (const { number, account, name, file_name, columns } of planned.all()) {
    const ownName = name === file_name ? null : String(name);
    const hasReferences = /"(?:ref|merchantRef)"/.test(String(columns));
    const keys = keysOf(database, BigInt(number ?? 0n), hasReferences);
    const identity = identityOf(keys, ownName);
    if (known.has(`${account} ${identity}`)) continue;
    known.add(`${account} ${identity}`);
    store.run(identity, number ?? null);
  }
}

function keysOf(database: Database, batch: bigint, hasReferences: boolean): string[] {
  const page = database.prepare(
    `SELECT row, amount_paisa, recipient, method_id, reference, name, description
     FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row LIMIT ${rowsPerPage}`,
  );
  const text = (value: unknown) => (value === null ? null : String(value));
  const keys: string[] = [];
  for (let after = 0n; ; ) {
    const rows = page.all(batch, after);
    for (const row of rows) {
      keys.push(
        rowKey({
          amountPaisa: BigInt(row.amount_paisa ?? 0n),
          recipient: String(row.recipient),
          methodId: String(row.method_id),
          reference: hasReferences ? String(row.reference) : null,
          name: text(row.name),
          description: text(row.description),
        }),
      );
    }
    if (rows.length < rowsPerPage) return keys.sort();
    after = BigInt(rows.at(-1)?.row ?? 0n);
  }
}
