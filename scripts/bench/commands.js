// Running commands of lenden's and of others', all in the same surroundings.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

export const launcher = resolve(import.meta.dirname, "../../bin/lenden.js");

/** Everything that a run of the bench writes, gone when it ends. */
export const scratch = mkdtempSync(join(tmpdir(), "lenden-bench-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

/**
 * The whole environment of every command, so that none profits from what is set on this machine. Of
 * what makes a start slower, NODE_EXTRA_CA_CERTS is missed most: it costs Node 20 some 40 ms.
 */
export function surroundings(folder = scratch, more = {}) {
  return {
    PATH: process.env.PATH,
    HOME: folder,
    TMPDIR: scratch,
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: folder,
    ...more,
  };
}

/** How long a command takes from before its start to after its end, in milliseconds. */
export function timed(line, env, codes = [0]) {
  const start = process.hrtime.bigint();
  const ended = spawnSync(line[0], line.slice(1), { env, cwd: scratch });
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  requireEnd(line, ended, codes);
  return ms;
}

/** The most memory that a command had at any moment, in megabytes, as GNU time is told by Linux. */
export function peakMegabytes(line, env, codes = [0]) {
  const file = join(scratch, "peak");
  const ended = spawnSync(gnuTime, ["-q", "-f", "%M", "-o", file, ...line], { env, cwd: scratch });
  requireEnd(line, ended, codes);
  return Number(readFileSync(file, "utf8")) / 1024;
}

const gnuTime = "/usr/bin/time";

/** Debian's package is `time`; the word that shells know tells nothing of memory. */
export const hasGnuTime = spawnSync(gnuTime, ["--version"]).status === 0;

/** The same for a process that still runs; 0 when it has ended. */
export function peakSoFar(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** The time that processors spent on a process so far, in microseconds; Linux counts hundredths. */
export function processorTime(pid) {
  const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(afterName[11]) + Number(afterName[12])) * 10_000;
}

/** Starts what runs until it is stopped; ready with the first line that it prints. */
export async function started(line, { env = surroundings(), ...options } = {}) {
  const child = spawn(line[0], line.slice(1), {
    env,
    stdio: ["ignore", "pipe", "ignore"],
    ...options,
  });
  const stop = () => child.kill();
  process.once("exit", stop);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${line.join(" ")} ended with ${code} before it was ready`);
  });
  const [first] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  ended.catch(() => {});
  return { first, child, pid: child.pid, stop };
}

/** lenden's own sandbox, and the variables that are an account of it. */
export async function startSandbox({ node = process.execPath, flags = [], ...options } = {}) {
  const data = mkdtempSync(join(scratch, "sandbox-"));
  const line = [node, ...flags, launcher, "sandbox", "start", "--port", "0", "--json"];
  const env = surroundings(data);
  const running = await started(line, { env, ...options });
  const { baseUrl, apiKey, payoutSecret } = JSON.parse(running.first);
  const account = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: apiKey,
    LENDEN_PAYOUT_SECRET: payoutSecret,
  };
  return { ...running, baseUrl, apiKey, payoutSecret, account };
}

function requireEnd(line, { status, error, stderr }, codes) {
  if (error) throw error;
  if (!codes.includes(status)) throw new Error(`${line.join(" ")} ended with ${status}: ${stderr}`);
}
