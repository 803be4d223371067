import { fstatSync, writeSync } from "node:fs";
import { homedir, hostname, userInfo } from "node:os";
import { errorCode } from "../domain/error-code.ts";
import { type Parts, packageParts } from "./assets.ts";
import { type Folders, foldersOf } from "./directories.ts";

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The world that a run lives in. Tests hand in another; nothing else reads `process`. */
export interface Host extends Parts {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  /**
   * Standard output without a stream, which takes two milliseconds to make: for the text that ends a
   * run. False where nothing can be written; a stream tells why.
   */
  lastOutput: { readonly isTTY: boolean; write(text: string): boolean };
  /** The environment, in which an empty variable is an unset one. */
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  nodeVersion: string;
  pid: number;
  /** Who runs it, and on which machine. */
  user: string;
  machine: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  randomBytes(size: number): Uint8Array;
  folders: Folders;
  /** Calls back on every SIGINT, SIGTERM and SIGHUP, instead of dying; returns how to stop listening. */
  onSignal(listener: (signal: Signal) => void): () => void;
  /** Ends this process by a signal, whoever listens to it. */
  raise(signal: Signal): void;
}

/** The real one; its parts are the package's, unless it is told of others. */
export function processHost(parts: Parts = packageParts(process.execPath)): Host {
  const env = withoutEmpty(process.env);
  silenceSqliteWarning();
  return {
    ...parts,
    get stdin() {
      return survivingClosure(process.stdin);
    },
    get stdout() {
      return survivingClosure(process.stdout);
    },
    get stderr() {
      return survivingClosure(process.stderr);
    },
    lastOutput,
    env,
    platform: process.platform,
    nodeVersion: process.version,
    pid: process.pid,
    get user() {
      return userInfo().username;
    },
    get machine() {
      return hostname();
    },
    now: Date.now,
    sleep,
    randomBytes: (size) => process.getBuiltinModule("node:crypto").randomBytes(size),
    folders: foldersOf(env, { platform: process.platform, home: homedir() }),
    onSignal: listen,
    raise: (signal) => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  };
}

/**
 * A reader that went away (`| head -1`) must never stop work that moves money. Streams are only
 * made when they are asked for: making one takes a millisecond or two.
 */
function survivingClosure<Stream extends NodeJS.EventEmitter>(stream: Stream): Stream {
  if (surviving.has(stream)) return stream;
  surviving.add(stream);
  return stream.on("error", () => {});
}

/** Remembered here: that a stream has listeners says nothing, for a thread adds one that throws the error on. */
const surviving = new WeakSet<NodeJS.EventEmitter>();

const lastOutput: Host["lastOutput"] = {
  get isTTY() {
    return fstatSync(1).isCharacterDevice() && process.stdout.isTTY === true;
  },
  write(text) {
    let rest = Buffer.from(text);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (!isAboutReader(error)) return false;
      // The stream waits for a slow reader, and ignores one that is gone.
      survivingClosure(process.stdout).write(rest);
    }
    return true;
  },
};

/** Whether the reader is slow, or gone. */
function isAboutReader(error: unknown): boolean {
  const code = errorCode(error);
  return code === "EAGAIN" || code === "EPIPE";
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake);
    if (signal?.aborted) wake();
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
  });
}

/** Node 22 calls its SQLite experimental on stderr; of all warnings, that one alone is kept back. */
function silenceSqliteWarning(): void {
  const listeners = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name === "ExperimentalWarning" && warning.message.startsWith("SQLite ")) return;
    for (const listener of listeners) listener(warning);
  });
}

function listen(listener: (signal: Signal) => void): () => void {
  const signals: Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}
