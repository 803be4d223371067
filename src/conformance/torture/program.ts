import { type ChildProcess, spawn } from "node:child_process";
import { killGroup } from "../../platform/host.ts";
import { notRun } from "../../sandbox/run-with.ts";

export interface ProgramOptions {
  env: Record<string, string | undefined>;
  /** After this time, the program and its process group are killed. */
  timeoutMs: number;
  /** Kills the program too. */
  signal: AbortSignal;
}

/** How a run of a program ended. */
export interface Ended {
  /** The exit code, or why there is none: the signal's name, and the time limit if that is the reason. */
  code: number | string;
  /** The end of what it printed. */
  output: string;
}

export interface Running {
  kill(): void;
  ended: Promise<Ended>;
}

const mostOutput = 2_000;

/**
 * Starts a program in a process group of its own, without input. Nothing of the group is left when it ended.
 *
 * @param program the program and its arguments, or a command line for a shell
 */
export function startProgram(
  program: readonly [string, ...string[]] | string,
  { env, timeoutMs, signal }: ProgramOptions,
): Running {
  const isLine = typeof program === "string";
  const [name, ...args] = isLine ? [program] : program;
  const child = spawn(name, args, {
    env,
    shell: isLine,
    detached: true,
    windowsHide: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => killGroup(child);
  const ended = new Promise<Ended>((resolve, reject) => {
    const output = tailOf(child);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeoutMs);
    signal.addEventListener("abort", kill);
    if (signal.aborted) kill();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      kill();
      // A process that left the group may still have them open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    child.on("error", (error) => {
      end();
      reject(notRun(name, error));
    });
    child.on("exit", (code, by) => {
      // What it printed last has not been read yet.
      setImmediate(() => {
        end();
        const why = isLate ? `${by} after ${timeoutMs / 1_000} s (--run-timeout)` : by;
        resolve({ code: code ?? why ?? "unknown", output: output() });
      });
    });
  });
  return { kill, ended };
}

/** Collects the end of what a program prints. */
function tailOf({ stdout, stderr }: ChildProcess): () => string {
  let text = "";
  for (const stream of [stdout, stderr])
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text = (text + more).slice(-mostOutput);
    });
  return () => text.trim();
}
