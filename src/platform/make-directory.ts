import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../domain/error-code.ts";

/**
 * Makes a folder, and those above it where they are missing. One after the other: Node's own way
 * never ends where the system says of a parent that is there that it is missing, as under /proc.
 *
 * @throws the system's error where it cannot be made
 */
export function makeFolder(folder: string, mode?: number): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolder(folder)) throw error; // another process may have made it meanwhile
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory(); // with throwIfNoEntry: false, Node 22 and later hide ENOTDIR
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
