import { existsSync, fstatSync, readFileSync, writeSync } from "node:fs";
import { homedir, hostname, userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "../domain/error-code.ts";
import { findCompileCache } from "./compile-cache.ts";

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The files that come with lenden besides its main program. */
export interface Parts {
  /** The text of a file of the package, such as `package.json`. Throws if there is none. */
  shipped(file: string): string;
  /** False for the single-file binary, which contains compiled code. */
  keepsCompiled: boolean;
  /** The program that calls the keychain, if there is one. */
  keychain?: { program: string; args: string[] };
}

/** Everything outside of the program. Tests inject another host; no other module reads `process`. */
export interface Host extends Parts {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  /**
   * Writes the last text of a run to standard output, without a stream, which takes two milliseconds to
   * create. Returns false if the text cannot be written.
   */
  lastOutput: { readonly isTTY: boolean; write(text: string): boolean };
  /** True if a person can answer: standard input and standard error are a terminal. Opens no stream. */
  isInTerminal(): boolean;
  /** The environment; an empty variable counts as unset. */
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  nodeVersion: string;
  pid: number;
  user: string;
  machine: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that is never set; it may stand still while the machine sleeps. */
  monotonicMs(): number;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  randomBytes(size: number): Uint8Array;
  folders: Folders;
  /** The home directory by the system's record of the user, whatever the environment says; undefined without one. */
  readonly userHome: string | undefined;
  /** The mounted file systems, as in Linux's /proc/self/mountinfo; empty elsewhere. */
  mounts(): string;
  /**
   * Makes lookups of host names end in about this time. A lookup in progress cannot be cancelled, and a process
   * waits for it at its end: for ten seconds if no name server responds.
   */
  limitLookups(ms: number): void;
  /** Listens to SIGINT, SIGTERM and SIGHUP, which then do not end the process; returns how to stop that. */
  onSignal(listener: (signal: Signal) => void): () => void;
  /** Ends this process by a signal, also if it is listened to. */
  raise(signal: Signal): void;
}

export function processHost(parts: Parts = packageParts()): Host {
  const env = withoutEmpty(process.env);
  silenceSqliteWarning();
  return {
    ...parts,
    // Getters: to create a stream takes a millisecond or two.
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
    isInTerminal: () => [0, 2].every(isTerminal),
    env,
    platform: process.platform,
    nodeVersion: process.version,
    pid: process.pid,
    get user() {
      return userName();
    },
    get machine() {
      return hostname();
    },
    now: Date.now,
    monotonicMs: () => performance.now(),
    sleep,
    randomBytes: (size) => process.getBuiltinModule("node:crypto").randomBytes(size),
    folders: foldersOf(env, { platform: process.platform, home: homedir() }),
    get userHome() {
      return homeOfUser();
    },
    mounts: () => {
      try {
        return readFileSync("/proc/self/mountinfo", "utf8");
      } catch {
        return "";
      }
    },
    limitLookups,
    onSignal: listen,
    raise: (signal) => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  };
}

/** The number of this user, also of one that the system does not know by name; Windows has none. */
export function userNumber(): number | undefined {
  return process.geteuid?.();
}

/** Kills a program that was started as a group of processes, and all of that group. */
export function killGroup(leader: { pid?: number | undefined; kill(signal: "SIGKILL"): boolean }) {
  if (leader.pid === undefined) return;
  if (process.platform === "win32") leader.kill("SIGKILL");
  else
    try {
      process.kill(-leader.pid, "SIGKILL");
    } catch {
      // All of its processes have ended.
    }
}

/** The parts of the installed package. */
export function packageParts(): Parts {
  const file = (name: string): string => join(packageRoot(), name);
  return {
    shipped: (name) => readFileSync(file(name), "utf8"),
    keepsCompiled: true,
    keychain: { program: process.execPath, args: [file("dist/keychain.cjs")] },
  };
}

/** The source is in several directories of the package, and the bundle in one. */
function packageRoot(directory = import.meta.dirname): string {
  const isRoot = existsSync(join(directory, "package.json"));
  return isRoot ? directory : packageRoot(dirname(directory));
}

/** A reader that ended (`| head -1`) must never stop work that moves money. */
function survivingClosure<Stream extends NodeJS.EventEmitter>(stream: Stream): Stream {
  if (surviving.has(stream)) return stream;
  surviving.add(stream);
  return stream.on("error", () => {});
}

/** A stream may have another error listener that throws. */
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
      // The stream waits for a slow reader, and ignores one that ended.
      survivingClosure(process.stdout).write(rest);
    }
    return true;
  },
};

/** Most files are no terminals, and Node's module for terminals takes long to load. */
function isTerminal(file: number): boolean {
  try {
    return fstatSync(file).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(file);
  } catch {
    return false; // closed
  }
}

/** True if the reader is slow, or ended. */
function isAboutReader(error: unknown): boolean {
  const code = errorCode(error);
  return code === "EAGAIN" || code === "EPIPE";
}

/** Without a response, a lookup takes two attempts of five seconds. */
const usualLookupMs = 10_000;

/** The system's library reads its options at the first lookup; elsewhere than on Linux the variable has no effect. */
function limitLookups(ms: number): void {
  if (ms >= usualLookupMs || process.env.RES_OPTIONS) return;
  // The last of several lookups may start right before the end.
  const seconds = Math.max(1, Math.floor(ms / 4_000));
  process.env.RES_OPTIONS = `timeout:${seconds} attempts:${ms < 2_000 ? 1 : 2}`;
}

/** The number of a user whom the system does not know by name, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(userNumber());
  }
}

function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** An abort ends the sleep early, and is the only reason for which it can be rejected. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal && { signal }).catch(() => {});
}

/** Without a cache that is this user's alone, lenden starts without one. */
export function enableCompileCache(cache: string): void {
  const nodeModule = process.getBuiltinModule("node:module");
  if (!("enableCompileCache" in nodeModule)) return;
  if (typeof nodeModule.enableCompileCache !== "function") return;
  const { directory, trouble } = findCompileCache(cache, process.version, userNumber());
  if (!trouble) nodeModule.enableCompileCache(directory);
}

/** Node 22 prints a warning that its SQLite is experimental. All other warnings stay. */
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

export interface Folders {
  /** Profiles and secrets. */
  config: string;
  /** The ledger, and what can be retrieved again. */
  data: string;
  /** For the ledger's position, if `config` cannot be written. */
  state: string | undefined;
  home: string;
  /** For files that may be deleted at any time. */
  cache: string;
}

/** Named by LENDEN_CONFIG_DIR, LENDEN_DATA_DIR and LENDEN_STATE_DIR, or else by the platform's custom. */
export function foldersOf(
  env: Record<string, string | undefined>,
  { platform, home }: { platform: NodeJS.Platform; home: string },
): Folders {
  const local = env.LOCALAPPDATA ?? join(home, "AppData", "Local");
  const [config, data, cache] =
    platform === "win32"
      ? [env.APPDATA ?? join(home, "AppData", "Roaming"), local, join(local, "Temp")]
      : [
          absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config"),
          absolute(env.XDG_DATA_HOME) ?? join(home, ".local", "share"),
          absolute(env.XDG_CACHE_HOME) ?? join(home, ".cache"),
        ];
  return {
    config: env.LENDEN_CONFIG_DIR ?? join(config, "lenden"),
    data: env.LENDEN_DATA_DIR ?? join(data, "lenden"),
    state: env.LENDEN_STATE_DIR,
    cache: join(cache, "lenden"),
    home,
  };
}

/** The XDG specification ignores relative directories: each working directory would have another ledger. */
export function absolute(named: string | undefined): string | undefined {
  return named !== undefined && isAbsolute(named) ? named : undefined;
}
