import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { errorCode, systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";

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

/**
 * Creates a directory for files that this run alone uses.
 *
 * @throws Failure `file.unusable`
 */
export function temporaryDirectory(purpose: string): string {
  const parent = tmpdir();
  try {
    return mkdtempSync(join(parent, `lenden-${purpose}-`));
  } catch (cause) {
    throw new Failure(
      "file.unusable",
      `Cannot create a temporary directory in ${parent}: ${systemReason(cause)}.`,
      {
        hint: "Set TMPDIR to a directory that exists, that you can write, and that has room.",
        cause,
      },
    );
  }
}

/**
 * Writes a private file as a whole: another process reads the old content or the new one.
 *
 * @throws the system's error; the old file is unchanged then
 */
export function replaceFile(path: string, text: string): void {
  const draft = join(dirname(path), `.lenden-${randomUUID()}`);
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
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
export function isOwnFile(path: string, user: number | undefined): boolean {
  try {
    const found = lstatSync(path);
    return found.isFile() && (user === undefined || found.uid === user);
  } catch {
    return false;
  }
}

/** What keeps an entry of the file system from being this user's alone. */
export type Exposure = "link" | "other-owner" | "others-can-write";

/**
 * The first of these paths that is not this user's alone. What does not exist is exposed to no one.
 *
 * @param user of `userNumber`
 */
export function firstExposed(
  paths: Iterable<string>,
  user: number | undefined,
): { path: string; why: Exposure } | undefined {
  for (const path of paths) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    const why = found && exposureOf(found, user);
    if (why) return { path, why };
  }
  return undefined;
}

function exposureOf(found: Stats, user: number | undefined): Exposure | undefined {
  if (found.isSymbolicLink()) return "link";
  if (user === undefined) return undefined;
  if (found.uid !== user) return "other-owner";
  return (found.mode & 0o022) === 0 ? undefined : "others-can-write";
}
