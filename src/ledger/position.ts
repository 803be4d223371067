import { randomUUID } from "node:crypto";
import { accessSync, constants, copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { firstExposed, makeDirectory } from "../platform/files.ts";
import type { Folders } from "../platform/host.ts";

/** Where the newest event of a ledger is stored outside of it: `LENDEN_STATE_DIR` if the other one cannot be written. */
export type PositionFolders = Pick<Folders, "config" | "state">;

/** The file of a name in the directory that can be written. A file in the other one is copied there first. */
export function positionFile({ config, state }: PositionFolders, name: string): string {
  const own = join(config, name);
  if (state === undefined) return own;
  const other = join(state, name);
  const [file, earlier] = canStoreIn(config) || !isPrivate(state) ? [own, other] : [other, own];
  if (!existsSync(file) && existsSync(earlier)) {
    try {
      copyFileSync(earlier, file, constants.COPYFILE_EXCL);
    } catch {
      return earlier;
    }
  }
  return file;
}

/**
 * Why the position of a ledger cannot be stored: then an older ledger that is put in its place is not noticed.
 *
 * @param file of `positionFile`
 */
export function noPosition(file: string, { config, state }: PositionFolders): Failure | undefined {
  const draft = `${file}.${randomUUID()}.new`;
  try {
    makeDirectory(dirname(file), 0o700);
    try {
      writeFileSync(draft, "position", { mode: 0o600, flag: "wx" });
    } finally {
      if (existsSync(draft)) rmSync(draft);
    }
    return undefined;
  } catch (cause) {
    return new Failure(
      "ledger.no-position",
      `Cannot store the position of the ledger in ${dirname(file)}: ${systemReason(cause)}. lenden could not detect an older copy of the ledger.`,
      {
        hint:
          state === undefined
            ? `Make ${config} writable, or set LENDEN_STATE_DIR to a private directory that is kept between runs.`
            : `Set LENDEN_STATE_DIR to a writable directory that belongs to you and that no other user can write into. Now the variable names ${state}.`,
        cause,
      },
    );
  }
}

function canStoreIn(folder: string): boolean {
  try {
    makeDirectory(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** No one, if the system does not know this user. */
function ownUid(): number {
  try {
    return userInfo().uid;
  } catch {
    return Number.NaN;
  }
}

function isPrivate(folder: string): boolean {
  return canStoreIn(folder) && firstExposed([folder], ownUid()) === undefined;
}
