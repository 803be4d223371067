import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";
import { errorCode } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";

/** SQLite would make it readable to everyone (0644), and would follow a link to another file. */
export function makePrivateFile(path: string): void {
  try {
    makeIfMissing(path);
    // Only looked at, never opened and closed: that would drop the locks that SQLite holds on it.
    const found = lstatSync(path);
    if (!found.isFile()) throw new Error("not a regular file");
    if ((found.mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  } catch (cause) {
    throw new Failure("file.unusable", `The file ${path} cannot be used for data.`, {
      hint: "It must be a regular file of yours in a folder that exists, and no symbolic link.",
      cause,
    });
  }
}

/** Of several processes that start at once, one makes it. */
function makeIfMissing(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
