import { lstatSync, type Stats } from "node:fs";
import { userInfo } from "node:os";

/**
 * True for a regular file of this user, and not for a link to one. Besides its name, that is what
 * lenden asks of a file before it deletes it.
 */
export function isOwnFile(path: string): boolean {
  const found = ownEntry(path);
  return found?.isFile() === true;
}

/** True for a directory of this user, and not for a link to one, that no one else can write into. */
export function isOwnDirectory(path: string): boolean {
  const found = ownEntry(path);
  return found?.isDirectory() === true && (ownUid() === -1 || (found.mode & 0o022) === 0);
}

function ownEntry(path: string): Stats | undefined {
  try {
    const found = lstatSync(path);
    const uid = ownUid();
    return uid === -1 || found.uid === uid ? found : undefined;
  } catch {
    return undefined;
  }
}

/** -1 on Windows, which has no such numbers. Throws for a user whom the system does not know. */
function ownUid(): number {
  return userInfo().uid;
}
