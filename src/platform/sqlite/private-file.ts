import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";
import { errorCode, systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";

/**
 * SQLite would make the file readable to all users (0644), and would follow a link to another file.
 *
 * @returns a function that restores the mode of a file that turns out to be another program's
 */
export function makePrivateFile(path: string): () => void {
  try {
    makeIfMissing(path);
    // The file is not opened and closed here: that would drop the locks of SQLite.
    const found = lstatSync(path);
    if (!found.isFile()) throw new Error("not a regular file");
    const mode = found.mode & 0o777;
    if (mode === 0o600) return () => {};
    chmodSync(path, 0o600);
    return () => chmodSync(path, mode);
  } catch (cause) {
    if (errorCode(cause) !== undefined)
      throw new Failure("file.unusable", `Cannot write ${path}: ${systemReason(cause)}.`, {
        hint: "Use a directory that exists, that you can write, and that has room.",
        cause,
      });
    throw new Failure("file.unusable", `Cannot use ${path} to store data.`, {
      hint: "Use a regular file that you own, not a symbolic link.",
      cause,
    });
  }
}

/** If several processes start at once, one of them creates the file. */
function makeIfMissing(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
