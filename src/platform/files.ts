import { accessSync, constants, lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { errorCode } from "../domain/error-code.ts";

/**
 * Creates a directory and its missing parents, one by one: Node's recursive way never ends if the system
 * reports an existing parent as missing, as under /proc.
 *
 * @throws the system's error if it cannot be created
 */
export function makeDirectory(directory: string, mode?: number): void {
  if (isDirectory(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) makeDirectory(parent, mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (!isDirectory(directory)) throw error; // another process may have created it
  }
}

/** True if this process may write a file, or create files in a directory. */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory(); // with throwIfNoEntry: false, Node 22 and later hide ENOTDIR
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** True for a regular file of this user, and not for a link: required before lenden deletes a file. */
export function isOwnFile(path: string): boolean {
  return ownEntry(path)?.isFile() === true;
}

/** True for a directory of this user, and not for a link, that no one else can write into. */
export function isOwnDirectory(path: string): boolean {
  const found = ownEntry(path);
  return found?.isDirectory() === true && (userInfo().uid === -1 || (found.mode & 0o022) === 0);
}

/** Windows has no user numbers: `uid` is -1. */
function ownEntry(path: string): Stats | undefined {
  try {
    const found = lstatSync(path);
    const { uid } = userInfo(); // throws for a user whom the system does not know
    return uid === -1 || found.uid === uid ? found : undefined;
  } catch {
    return undefined;
  }
}
