import { type ExecFileOptions, execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { main } from "../../src/main.ts";
import { type Host, packageParts, type Signal } from "../../src/platform/host.ts";
import { launcher, tool } from "../tool.js";
import { scratchFolder } from "./helpers.ts";
import { checkJsonOutput } from "./json-output.ts";

/** In process there is no thread that writes, no keychain, and nothing that the build made. */
const parts = packageParts();

function unbuilt(file: string): string {
  if (file.startsWith("dist/")) throw new Error(`${file} is not built`);
  return parts.shipped(file);
}

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export type Child = ReturnType<typeof startBuilt>;

/** How a child process ended, and what it printed. */
export interface Ended extends Omit<Outcome, "code"> {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunOptions {
  env?: Record<string, string | undefined>;
  stdin?: string;
  /** Replaces parts of the host: its clock, its sleep, its terminal. */
  host?: Partial<Host>;
  /** Gets a function that sends a signal to the run. */
  onStart?: (signal: (name: Signal) => void) => void;
}

/** Runs `main()` in this process, with streams, clock and folders of its own. */
export async function lenden(args: string[], options: RunOptions = {}): Promise<Outcome> {
  const stdout = new Collected();
  const stderr = new Collected();
  const listeners = new Set<(name: Signal) => void>();
  const folder = options.env?.LENDEN_CONFIG_DIR ?? scratchFolder();
  const host: Host = {
    stdin: Readable.from(options.stdin === undefined ? [] : [options.stdin]),
    stdout,
    stderr,
    lastOutput: {
      get isTTY() {
        return host.stdout.isTTY === true;
      },
      write: (text) => {
        host.stdout.write(text);
        return true;
      },
    },
    isInTerminal: () => host.stdin.isTTY === true && host.stderr.isTTY === true,
    env: { ...options.env },
    platform: "linux",
    nodeVersion: process.version,
    shipped: unbuilt,
    keepsCompiled: false,
    pid: process.pid,
    user: "tester",
    machine: "test",
    now: Date.now,
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => {}),
    randomBytes,
    folders: {
      config: folder,
      data: options.env?.LENDEN_DATA_DIR ?? join(folder, "data"),
      state: options.env?.LENDEN_STATE_DIR,
      cache: join(folder, "cache"),
      home: folder,
    },
    userHome: undefined,
    mounts: () => "",
    limitLookups: () => {},
    raise: () => {},
    onSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ...options.host,
  };
  options.onStart?.((name) => {
    for (const listener of [...listeners]) listener(name);
  });
  const code = await main(args, host);
  const outcome = { code, stdout: stdout.text(), stderr: stderr.text() };
  await checkJsonOutput(args, outcome);
  return outcome;
}

/** The fields of the error that a run printed as JSON; none if it succeeded. */
export function errorOf({ stderr }: Pick<Outcome, "stderr">): Record<string, unknown> {
  const line = stderr.split("\n").find((one) => one.startsWith('{"error"'));
  return line === undefined ? {} : JSON.parse(line).error;
}

/** The words that a shell passes to lenden if the first command of a hint that begins with some words is typed. */
export function typedBy(hint: unknown, begin = ""): string[] {
  const command = new RegExp(`'((?:\\w+=\\S+ )?lenden ${begin}(?:\\\\.|[^'])*)'`);
  const [, line = ""] = command.exec(String(hint)) ?? [];
  const script = `lenden() { printf '%s\\n' "$@"; }\n${line}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n");
}

/** Runs the built tool as a user does, in a process of its own. */
export async function built(
  args: string[],
  { env, ...options }: Pick<RunOptions, "env" | "stdin"> = {},
): Promise<Outcome> {
  const outcome = await runProgram([...tool, ...args], { ...options, env: builtEnv(env) });
  await checkJsonOutput(args, outcome);
  return outcome;
}

/** Runs a program to its end. A signal that ends it has the code -1. */
export function runProgram(
  [program, ...args]: [string, ...string[]],
  { stdin = "", ...options }: Pick<ExecFileOptions, "env" | "cwd" | "timeout"> & { stdin?: string },
): Promise<Outcome> {
  return new Promise((done) => {
    const maxBuffer = 64 * 1024 * 1024;
    const child = execFile(program, args, { ...options, maxBuffer }, (error, stdout, stderr) => {
      done({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
    });
    child.stdin?.end(stdin);
  });
}

/** A Node from npm: with its own SQLite if this one has none, else without. Undefined offline. */
export async function nodeWithOtherEngine(): Promise<string | undefined> {
  const hasOwn = await import("node:sqlite").then(
    () => true,
    () => false,
  );
  return nodeFromNpm(hasOwn ? "20" : "24");
}

/** The path of a Node from npm; undefined offline. */
export async function nodeFromNpm(version: string): Promise<string | undefined> {
  const args = ["-y", "-p", `node@${version}`, "node", "-p", "process.execPath"];
  return promisify(execFile)("npx", args).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Starts the built tool, perhaps on another Node, and leaves it running. */
export function startBuilt(
  args: string[],
  env: Record<string, string | undefined> = {},
  node?: string,
) {
  const [program, ...before] = node === undefined ? tool : [node, launcher];
  return spawn(program, [...before, ...args], {
    env: builtEnv(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Waits for the end of a child, with all that it printed. */
export function ended(child: Child): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (data) => {
    stdout += data;
  });
  child.stderr?.on("data", (data) => {
    stderr += data;
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Waits until a child has written a text to stderr. */
export function wrote(child: Child, text: string): Promise<void> {
  let stderr = "";
  return new Promise((resolve) => {
    child.stderr?.on("data", (data) => {
      stderr += data;
      if (stderr.includes(text)) resolve();
    });
  });
}

/** All tests share one compile cache, as all commands of a user do. */
const sharedCache = join(tmpdir(), "lenden-test-cache");

/** What a process of the built tool needs around it, in folders of its own. */
export function builtEnv(env: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const folder = env.LENDEN_CONFIG_DIR ?? scratchFolder();
  return {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CACHE_HOME: sharedCache,
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: join(folder, "data"),
    ...(hasOwnLenden && {
      NODE_OPTIONS: `--import=${new URL("no-user-home.js", import.meta.url).href}`,
    }),
    ...env,
  };
}

const { homedir: userHome } = userInfo();
const hasOwnLenden = [".config/lenden/profiles.json", ".local/share/lenden/ledger.db"].some((one) =>
  existsSync(join(userHome, one)),
);

/**
 * A host whose short sleeps take no time: its clock jumps instead. Long sleeps are deadlines, and take
 * their time.
 */
export function jumpingHost(aheadMs = 0): Pick<Host, "now" | "sleep"> & { sleptMs: number[] } {
  let jumpedMs = aheadMs;
  const sleptMs: number[] = [];
  return {
    sleptMs,
    now: () => Math.floor(Date.now() + jumpedMs),
    sleep: async (ms, signal) => {
      if (ms > 20_000) return delay(ms, undefined, signal ? { signal } : {}).catch(() => {});
      sleptMs.push(ms);
      jumpedMs += ms;
      await delay(0);
    },
  };
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
