import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, platform } from "node:os";
import { errorCode } from "../domain/error-code.ts";
import { isOwnFile } from "../platform/own-file.ts";

/** How a process finds out about others; the host knows both. */
export interface Processes {
  pid: number;
  /** False only if no process has this ID. */
  isRunning(pid: number): boolean;
}

/** The process that holds a lock, as the lock's file names it. */
interface Holder {
  pid: number;
  /** When it started, in the system's own unit; an ID is used again, also after a restart. */
  startedAt: string;
  /** The machine and container that the process ID belongs to. */
  machine: string;
}

const mostAttempts = 100;
const longestPauseMs = 150;
/** Only for a holder whose process cannot be found from here, for example in another container. */
const staleMs = 10_000;

/**
 * Creates the lock's file, which names this process. A lock whose process has certainly ended is
 * taken over at once; one whose process runs is waited for, however old it is.
 *
 * @returns releases the lock; undefined if another process still holds it after some 13 seconds
 * @throws the system's error if the file cannot be created
 */
export async function takeLock(
  path: string,
  processes: Processes,
): Promise<(() => void) | undefined> {
  const content = JSON.stringify({ ...holderOf(processes.pid), token: randomUUID() });
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    if (create(path, content)) {
      return () => {
        if (lockAt(path)?.content === content) rmSync(path, { force: true });
      };
    }
    if (takeOver(path, processes)) continue;
    const pauseMs = Math.min(20 * 1.2 ** attempt, longestPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return undefined;
}

function create(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    // A full disk: the file was created here, and could not be written.
    const isFull = ["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "");
    if (isFull && lockAt(path)?.content === "") rmSync(path, { force: true });
    throw error;
  }
}

interface Lock {
  content: string;
  /** Earlier versions of lenden created a directory. */
  isDirectory: boolean;
  ageMs: number;
}

/** Undefined if there is none any longer. */
function lockAt(path: string): Lock | undefined {
  try {
    const found = lstatSync(path);
    const isDirectory = found.isDirectory();
    const content = isDirectory ? `directory ${found.ino}` : readFileSync(path, "utf8");
    return { content, isDirectory, ageMs: Date.now() - found.mtimeMs };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Removes a lock whose process has ended; true if it is worth trying again at once. Only the process
 * that creates the marker of this very lock may remove it, so that the next lock is not removed.
 */
function takeOver(path: string, processes: Processes): boolean {
  const lock = lockAt(path);
  if (!lock) return true;
  if (!isAbandoned(lock, processes)) return false;
  const marker = `${path}.${createHash("sha256").update(lock.content).digest("hex").slice(0, 16)}`;
  if (!create(marker, "")) {
    if ((lockAt(marker)?.ageMs ?? 0) > staleMs && isOwnFile(marker))
      rmSync(marker, { force: true });
    return false;
  }
  try {
    if (lockAt(path)?.content !== lock.content) return true;
    if (lock.isDirectory) rmdirSync(path);
    else if (isOwnFile(path)) rmSync(path);
    else return false;
    return true;
  } finally {
    rmSync(marker, { force: true });
  }
}

function isAbandoned({ content, ageMs }: Lock, { isRunning }: Processes): boolean {
  const holder = holderIn(content);
  if (!holder || holder.machine === "" || holder.machine !== machine()) return ageMs > staleMs;
  if (!isRunning(holder.pid)) return true;
  const { startedAt, isZombie } = processAt(holder.pid);
  return (
    isZombie || (startedAt !== "" && holder.startedAt !== "" && startedAt !== holder.startedAt)
  );
}

function holderOf(pid: number): Holder {
  return { pid, startedAt: processAt(pid).startedAt, machine: machine() };
}

/** Undefined if another version wrote the content, or if it is not written yet. */
function holderIn(content: string): Holder | undefined {
  try {
    const { pid, startedAt, machine }: Record<string, unknown> = JSON.parse(content);
    return typeof pid === "number" && typeof startedAt === "string" && typeof machine === "string"
      ? { pid, startedAt, machine }
      : undefined;
  } catch {
    return undefined;
  }
}

/** From Linux's /proc/<pid>/stat; elsewhere nothing is known. */
function processAt(pid: number): { startedAt: string; isZombie: boolean } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, and may contain anything.
    const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { startedAt: fields[18] ?? "", isZombie: state === "Z" || state === "X" };
  } catch {
    return { startedAt: "", isZombie: false };
  }
}

/** Empty if process IDs of other containers could look like those of this one. */
function machine(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${hostname()} ${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return platform() === "linux" ? "" : hostname();
  }
}
