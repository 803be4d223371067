import {
  chmodSync,
  copyFileSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { errorCode } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import { makeFolder } from "../platform/make-directory.ts";
import { type Profiles, profilesSchema } from "./profile.ts";
import { type Processes, takeLock } from "./profiles-lock.ts";

const fileName = "profiles.json";
const none: Profiles = { version: 1, profiles: {} };

/**
 * Reads all profiles; none when there is no file. A link, a damaged file or a file of somebody
 * else's making is refused, and its content is never shown: it holds keys.
 */
export function readProfiles(folder: string): Profiles {
  try {
    return read(folder);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = errorCode(error) ?? "unknown";
    throw new Failure("access", `The profiles in ${folder} cannot be read (${code}).`, {
      hint: "Check the permissions of that folder and of profiles.json, or set LENDEN_CONFIG_DIR to a folder of your own.",
      cause: error,
    });
  }
}

/** The file that holds them. */
export function profilesFile(folder: string): string {
  return join(folder, fileName);
}

function read(folder: string): Profiles {
  const file = profilesFile(folder);
  const found = statusOf(folder);
  if (found?.isSymbolicLink()) throw linkRefused(folder);
  if (!found || !isOwnFile(file)) return none;
  mend(file, 0o600);
  const read = profilesSchema.safeParse(jsonIn(readFileSync(file, "utf8"))?.value);
  if (read.success) return read.data;
  throw new Failure("access", `The profiles in ${file} cannot be read: the file is damaged.`, {
    hint: "Nothing was changed in it. Restore it from a backup, or move it away and add the profiles again.",
  });
}

/**
 * Changes the profiles: takes the lock, reads anew, writes, reads back, and puts the old file back
 * if what it finds is not what it wrote (a full disk truncates without a word).
 *
 * @throws Failure `locked` when another lenden is writing, `internal` when the disk does not keep it
 */
export async function changeProfiles(
  folder: string,
  change: (now: Profiles) => Profiles,
  processes: Processes,
): Promise<void> {
  prepareFolder(folder);
  const release = await lock(folder, processes);
  try {
    const next = change(readProfiles(folder));
    await writeVerified(folder, next);
  } finally {
    release();
  }
}

async function writeVerified(folder: string, next: Profiles): Promise<void> {
  const file = profilesFile(folder);
  const aside = join(folder, `${fileName}.old`);
  const hadFile = isOwnFile(file);
  rmSync(aside, { force: true });
  try {
    if (hadFile) copyFileSync(file, aside);
    await store(folder, next);
    const wanted: unknown = JSON.parse(JSON.stringify(next));
    if (!isDeepStrictEqual(readProfiles(folder), wanted)) throw new Error("read back differently");
  } catch (error) {
    if (hadFile && isOwnFile(aside)) renameSync(aside, file);
    if (!hadFile) rmSync(file, { force: true });
    throw unwritten(file, error);
  }
  rmSync(aside, { force: true });
}

async function store(folder: string, next: Profiles): Promise<void> {
  const { default: Conf } = await import("conf");
  const conf = new Conf<Profiles>({
    cwd: folder,
    configName: "profiles",
    configFileMode: 0o600,
    projectSuffix: "",
    clearInvalidConfig: false,
    accessPropertiesByDotNotation: false,
  });
  conf.store = next;
}

async function lock(folder: string, processes: Processes): Promise<() => void> {
  const path = join(folder, "profiles.lock");
  const release = await takeLock(path, processes).catch((error) => {
    throw unwritten(profilesFile(folder), error);
  });
  if (release) return release;
  throw new Failure("locked", "Another lenden is changing the profiles; nothing was changed.", {
    hint: "Try again in a moment.",
  });
}

function unwritten(file: string, cause: unknown): Failure {
  return new Failure("internal", `The profiles could not be written to ${file}.`, {
    hint: "Is the disk full or read-only? The profiles are as they were.",
    cause,
  });
}

function prepareFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700);
    if (!lstatSync(folder).isDirectory()) throw linkRefused(folder);
    mend(folder, 0o700);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("internal", `The folder ${folder} cannot be made or used.`, {
      hint: "Check its permissions, or set LENDEN_CONFIG_DIR to a folder of your own.",
      cause: error,
    });
  }
}

/** Undefined where nothing is, nor can be: a service's user may have /dev/null as its home. */
function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether there is a file, and one that may hold keys: no link, no folder. */
function isOwnFile(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found) return false;
  if (!found.isFile()) throw linkRefused(file);
  return true;
}

function linkRefused(path: string): Failure {
  return new Failure(
    "access",
    `${path} is a link, or no plain file or folder; it is not followed.`,
    {
      hint: "Put the real one in its place: keys are only kept where lenden can see who reads them.",
    },
  );
}

/** Takes away what others may do with it. Where modes mean nothing (Windows), nothing happens. */
function mend(path: string, mode: number): void {
  if ((lstatSync(path).mode & 0o777) !== mode) chmodSync(path, mode);
}
