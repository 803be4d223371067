import { chmodSync, copyFileSync, lstatSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod/mini";
import { readAmount } from "../domain/amount.ts";
import { environments, repeatable } from "../domain/api-keys.ts";
import { errorCode, systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import { readLedgerUrl } from "../domain/ledger-url.ts";
import { numberFormats } from "../domain/mobile.ts";
import { didYouMean } from "../domain/nearest.ts";
import { makeDirectory } from "../platform/files.ts";
import { userNumber } from "../platform/host.ts";
import type { Database } from "../platform/sqlite/database.ts";

/** Where a secret is stored: in the file itself, in the keychain, or with a program that prints it. */
const secretSource = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ command: z.string() }),
  z.strictObject({ keychain: z.string() }),
]);
export type SecretSource = z.infer<typeof secretSource>;

const profileSchema = z.strictObject({
  environment: z.enum(environments),
  baseUrl: z.string(),
  /** The ledger's account that the profile's keys belong to. */
  account: z.optional(z.string()),
  /** True if the environment had limits: then a ledger without limits is another one. */
  hadLimits: z.optional(z.literal(true)),
  apiKey: z.optional(secretSource),
  payoutSecret: z.optional(secretSource),
  /** Signs forwarded callbacks; lenden generates it. */
  callbackSecret: z.optional(z.string()),
  redirectUrl: z.optional(z.string()),
  callbackUrl: z.optional(z.string()),
  method: z.optional(z.string()),
  numberFormat: z.optional(z.enum(numberFormats)),
  timeZone: z.optional(z.string()),
  confirmAbove: z.optional(z.string().check(z.refine((text) => readAmount(text).ok))),
  /** The URL of a ledger on PostgreSQL; without one, the ledger is a file of this machine. */
  ledger: z.optional(z.string().check(z.refine((text) => readLedgerUrl(text).ok))),
  ledgerPassword: z.optional(z.strictObject({ command: z.string() })),
  /** A file with a CA certificate, by its full path. */
  ledgerCa: z.optional(z.string()),
});
export type Profile = z.infer<typeof profileSchema>;

const profilesSchema = z.strictObject({
  version: z.literal(1),
  current: z.optional(z.string()),
  profiles: z.record(z.string(), profileSchema),
});
/** The content of the file. */
export type Profiles = z.infer<typeof profilesSchema>;

/** A profile may be named `constructor`. */
export function findProfile(name: string, { profiles }: Profiles): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

/**
 * @param source what named it, if it was not the command itself
 * @throws Failure `profile.not-found`; a name that may be a pasted secret is not repeated
 */
export function requireProfile(name: string, stored: Profiles, source?: string): Profile {
  const found = findProfile(name, stored);
  if (found) return found;
  const names = Object.keys(stored.profiles);
  const from = source === undefined ? "" : ` (from ${source})`;
  throw new Failure("profile.not-found", `Profile ${repeatable(name)} does not exist${from}.`, {
    hint:
      names.length > 0
        ? `Use one of these profiles: ${names.join(", ")}.${didYouMean(name, names)}`
        : "Add one with 'lenden profile add'.",
  });
}

export function profilesFile(directory: string): string {
  return join(directory, "profiles.json");
}

/**
 * Reads all profiles; there are none without a file. Read without conf, which would cost each start 14 ms.
 * The file contains keys: links are rejected, others lose their access, and no error shows the content.
 *
 * @param warn called if others can read a file whose mode cannot be changed, as of a mounted one
 */
export function readProfiles(
  directory: string,
  warn: (message: string) => void = () => {},
): Profiles {
  const file = profilesFile(directory);
  try {
    if (!exists(directory, "directory") || !exists(file, "file"))
      return { version: 1, profiles: {} };
    requireTrusted(file, warn);
    const read = profilesSchema.safeParse(jsonIn(readFileSync(file, "utf8"))?.value);
    if (read.success) return read.data;
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure(
      "profiles.unreadable",
      `Cannot read the profiles in ${directory}: ${systemReason(cause)}${ownerAndMode(file)}.`,
      {
        hint: "Check the permissions of the directory and of profiles.json, or set LENDEN_CONFIG_DIR to another one.",
        cause,
      },
    );
  }
  throw new Failure("profiles.damaged", `Cannot read the profiles: ${file} is damaged.`, {
    hint: "Restore the file from a backup, or move it away and add the profiles again.",
  });
}

/** How to wait for a lock. */
interface Waiting {
  sleep(ms: number): Promise<void>;
  /** How long the run may still take, in milliseconds. */
  leftMs(): number;
}

/**
 * Reads the profiles under a lock, changes them, and writes them. If `change` returns what it got, nothing is written.
 *
 * @param time waits between two attempts to lock
 * @throws Failure `profiles.locked` if another process is writing, `profiles.not-written` if the disk is full
 *   or read-only; the earlier profiles stay
 */
export async function changeProfiles(
  directory: string,
  change: (now: Profiles) => Profiles,
  time: Waiting,
): Promise<void> {
  const { openDatabase } = await import("../platform/sqlite/open.ts");
  const locking = await openDatabase(":memory:");
  try {
    makeDirectory(directory, 0o700);
    exists(directory, "directory");
    makePrivate(directory, 0o700);
    const unlock = await lockProfiles(directory, locking, time);
    try {
      const before = readProfiles(directory);
      const after = change(before);
      if (after !== before) await writeVerified(directory, after);
    } finally {
      unlock();
    }
  } catch (cause) {
    if (cause instanceof Failure && cause.kind !== "internal") throw cause;
    const why = errorCode(cause) === undefined ? "" : `: ${systemReason(cause)}`;
    throw new Failure(
      "profiles.not-written",
      `Cannot write ${profilesFile(directory)}${why}. The profiles are unchanged.`,
      {
        hint: "Check the permissions of the directory and the space on its disk, or set LENDEN_CONFIG_DIR to another directory.",
        cause,
      },
    );
  } finally {
    locking.close();
  }
}

const lockAttempts = 130;
const lockPauseMs = 100;

/**
 * Locks a file beside the profiles with SQLite: the operating system releases the lock when its process
 * ends, however it ends.
 */
async function lockProfiles(
  directory: string,
  { lock }: Pick<Database, "lock">,
  { sleep, leftMs }: Waiting,
): Promise<() => void> {
  for (let attempt = 1; attempt <= lockAttempts; attempt += 1) {
    const unlock = lock(join(directory, ".profiles.lock"));
    if (unlock) return unlock;
    if (leftMs() <= 0) break;
    await sleep(lockPauseMs);
  }
  throw new Failure(
    "profiles.locked",
    "Another lenden process is changing the profiles. They are unchanged.",
    { hint: "Run the same command again." },
  );
}

/** conf reports success on a full disk and leaves a truncated file: what it wrote is read back. */
async function writeVerified(directory: string, next: Profiles): Promise<void> {
  const file = profilesFile(directory);
  const backup = `${file}.old`;
  rmSync(backup, { force: true });
  const hadFile = exists(file, "file");
  if (hadFile) copyFileSync(file, backup);
  try {
    await writeWithConf(directory, next);
    const wanted: unknown = JSON.parse(JSON.stringify(next));
    if (!isDeepStrictEqual(readProfiles(directory), wanted))
      throw new Error("read back differently");
  } catch (error) {
    if (hadFile) renameSync(backup, file);
    else rmSync(file, { force: true });
    throw new Error("the earlier profiles were restored", { cause: error });
  }
  rmSync(backup, { force: true });
}

async function writeWithConf(directory: string, next: Profiles): Promise<void> {
  const { default: Conf } = await import("conf");
  const conf = new Conf<Profiles>({
    cwd: directory,
    configName: "profiles",
    configFileMode: 0o600,
    projectSuffix: "",
    clearInvalidConfig: false,
    accessPropertiesByDotNotation: false,
  });
  conf.store = next;
}

/** @throws Failure `profiles.link` if something else is there, such as a link */
function exists(path: string, kind: "file" | "directory"): boolean {
  let found: ReturnType<typeof lstatSync>;
  try {
    found = lstatSync(path);
  } catch (error) {
    // ENOTDIR: the home directory of a system user may be /dev/null.
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return false;
    throw error;
  }
  if (kind === "file" ? found.isFile() : found.isDirectory()) return true;
  throw new Failure("profiles.link", `${path} is a link or not a ${kind}.`, {
    hint: `Replace it with a ${kind}: lenden does not follow symbolic links to stored keys.`,
  });
}

/**
 * Takes the access of others from the user's own file. The mode of a mounted file may be fixed: it is read if no
 * one but root or the user can have written it, because it names programs to run and where keys are sent.
 */
function requireTrusted(file: string, warn: (message: string) => void): void {
  const { mode, uid } = lstatSync(file);
  const user = userNumber();
  const isOwn = user === undefined || uid === user;
  if (isOwn && isMadePrivate(file)) return;
  if (!(isOwn || uid === 0) || (mode & 0o022) !== 0)
    throw new Failure(
      "profiles.not-trusted",
      `Cannot use the profiles: someone else may have written ${file}${ownerAndMode(file)}.`,
      {
        hint: "The file must belong to you or to root, and no one else may write it. Correct its owner and mode, or set LENDEN_CONFIG_DIR to another directory.",
      },
    );
  if ((mode & 0o004) !== 0)
    warn(
      `All users of this machine can read ${file}, which may contain keys${ownerAndMode(file)}.`,
    );
}

function isMadePrivate(file: string): boolean {
  try {
    makePrivate(file, 0o600);
    return true;
  } catch {
    return false;
  }
}

/** For an error about a file; empty if there is none, and on Windows. */
function ownerAndMode(file: string): string {
  try {
    const { uid, mode } = lstatSync(file);
    if (userNumber() === undefined) return "";
    const owner = uid === 0 ? "root" : `user ${uid}`;
    return ` (owner ${owner}, mode ${(mode & 0o777).toString(8).padStart(4, "0")})`;
  } catch {
    return "";
  }
}

/** Removes what others may do with it. Windows has no modes: there nothing happens. */
function makePrivate(path: string, mode: number): void {
  if ((lstatSync(path).mode & 0o777) !== mode) chmodSync(path, mode);
}
