import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode, systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { isObject } from "../domain/json.ts";
import { firstExposed, makeDirectory } from "../platform/files.ts";
import { type Folders, userNumber } from "../platform/host.ts";
import {
  identityParts,
  type ServerIdentity,
  serverIdentityIn,
  unknownServer,
} from "./server-identity.ts";

/** The place of an event in the chain, and its hash. */
export interface Head {
  number: bigint;
  hash: string;
}

/** What a person accepted on this machine, as digests of findings. */
export interface Accepted {
  /** Of all findings together. */
  findings: string;
  /** Of each finding about an operation or a batch, by `decidingParts`. */
  rows: readonly string[];
}

/** What is stored of a ledger outside of it. */
export interface Position {
  /** Its newest event; of number 0 for an empty ledger that this machine created on a server. */
  head: Head;
  /** True if `ledger check` found modified rows that no user accepted. */
  isModified: boolean;
  /** Not believed of an event: whoever can modify a row of a ledger can also add an acceptance. */
  accepted: Accepted | undefined;
  /** Of a ledger on a server. */
  server: ServerIdentity;
  /** False if this machine only read the ledger: then production confirms the first write. */
  isUsed: boolean;
}

/** What is stored beside the head; by default that of a ledger file that this machine wrote. */
export type PositionDetails = Partial<Omit<Position, "head">>;

/** Where the newest event of a ledger is stored outside of it: `LENDEN_STATE_DIR` if the other one cannot be written. */
export type PositionFolders = Pick<Folders, "config" | "state">;

export interface PositionPlace {
  /** Of `positionFile`. */
  headFile: string;
  folders: PositionFolders;
}

/** The file of a name in the directory that can be written. A newer one in the other directory is copied there first. */
export function positionFile({ config, state }: PositionFolders, name: string): string {
  const own = join(config, name);
  if (state === undefined || !isPrivate(state)) return own;
  const other = join(state, name);
  const [file, second] = canStoreIn(config) || !canStoreIn(state) ? [own, other] : [other, own];
  if (rankOf(second) <= rankOf(file)) return file;
  try {
    replaceFile(file, readFileSync(second, "utf8"));
    return file;
  } catch {
    return second;
  }
}

/**
 * Stores a head in place of whatever is stored of the ledger: a newer one in the other directory would be used later.
 *
 * @throws Failure `ledger.not-written`
 */
export function replacePosition(
  { headFile, folders: { config, state } }: PositionPlace,
  head: Head,
  more: PositionDetails = {},
): void {
  const folders = state === undefined || !isPrivate(state) ? [] : [config, state];
  const others = folders.map((folder) => join(folder, basename(headFile)));
  let path = headFile;
  try {
    writeHead(path, head, more);
    for (path of others) if (rankOf(path) > rankOf(headFile)) writeHead(path, head, more);
  } catch (cause) {
    throw new Failure("ledger.not-written", `Cannot write ${path}.`, {
      hint: "Check the permissions of its directory, then accept the ledger again.",
      cause,
    });
  }
}

/** For a ledger that is not missed any more. */
export function removePosition({ headFile, folders: { config, state } }: PositionPlace): void {
  const others = [config, ...(state === undefined ? [] : [state])];
  for (const file of [headFile, ...others.map((folder) => join(folder, basename(headFile)))])
    rmSync(file, { force: true });
}

/** Orders two positions of one ledger: the higher event counts, also one that `ledger check` found modified. */
function rankOf(file: string): bigint {
  const read = readHead(file);
  return typeof read === "string" ? 0n : read.head.number * 2n + (read.isModified ? 1n : 0n);
}

export function readHead(path: string): "missing" | "unreadable" | Position {
  try {
    const read: Partial<Record<StoredName, unknown>> = JSON.parse(readFileSync(path, "utf8"));
    const { number, hash, modified, accepted, server, unused } = read;
    const isNumber = typeof number === "string" && /^(?:0|[1-9][0-9]{0,17})$/.test(number);
    if (!isNumber || typeof hash !== "string") return "unreadable";
    return {
      head: { number: BigInt(number), hash },
      isModified: modified !== undefined,
      accepted: acceptedIn(accepted),
      server: serverIdentityIn(server),
      isUsed: unused === undefined,
    };
  } catch (error) {
    return errorCode(error) === "ENOENT" ? "missing" : "unreadable";
  }
}

type StoredName = "number" | "hash" | "modified" | "accepted" | "server" | "unused";

function acceptedIn(value: unknown): Accepted | undefined {
  const { findings, rows } = isObject(value) ? value : {};
  if (typeof findings !== "string" || !Array.isArray(rows)) return undefined;
  return { findings, rows: rows.filter((one) => typeof one === "string") };
}

/**
 * Replaces the file as a whole, and does not sync it: after a power cut it may be old or torn, which is
 * no reason to stop.
 *
 * @throws the system's error
 */
export function writeHead(
  path: string,
  { number, hash }: Head,
  { isModified = false, accepted, server = unknownServer, isUsed = true }: PositionDetails = {},
): void {
  makeDirectory(dirname(path), 0o700);
  const modified = isModified ? { modified: true } : {};
  const told = identityParts.some((part) => server[part] !== null) ? { server } : {};
  const unused = isUsed ? {} : { unused: true };
  const text = { number: String(number), hash, ...modified, accepted, ...told, ...unused };
  replaceFile(path, JSON.stringify(text));
}

function replaceFile(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
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

function isPrivate(folder: string): boolean {
  try {
    return firstExposed([folder], userNumber()) === undefined;
  } catch {
    return false;
  }
}
