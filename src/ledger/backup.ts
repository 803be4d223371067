import type { Database } from "../sqlite/database.ts";
import { makePrivateFile } from "../sqlite/private-file.ts";

/**
 * Writes a consistent copy of the ledger while others may write. Only SQLite reads the ledger's files: to copy
 * them as files would drop the locks that this process has on them.
 *
 * @param path a file that does not exist
 */
export function writeCopy(database: Database, path: string): void {
  makePrivateFile(path);
  database.prepare("VACUUM INTO ?").run(path);
}
