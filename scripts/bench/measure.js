// Runs commands in one environment, and summarizes what was measured. A ratio is never rounded in
// favor of lenden.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

/**
 * @typedef {NodeJS.ProcessEnv} Env
 * @typedef {{ median: number, least: number, most: number }} Summary
 * @typedef {Record<string, Summary>} Figures
 * @typedef {{ title: string, notes: string[], columns: string[], rows: string[][] }} Section
 * @typedef {{ rounds: number, quick: boolean }} Options
 * @typedef {{ baseUrl: string, apiKey: string, payoutSecret: string }} Account
 * @typedef {(round: number) => number | Record<string, number> | Promise<number | Record<string, number>>} Run
 */

export const launcher = resolve(import.meta.dirname, "../../bin/lenden.js");

/** Everything that the benchmark writes; removed at its end. */
export const scratch = mkdtempSync(join(tmpdir(), "lenden-bench-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

/**
 * The whole environment of a command, so that the settings of this machine have no effect:
 * NODE_EXTRA_CA_CERTS alone costs Node 20 some 40 ms.
 *
 * @param {string} directory
 * @param {Partial<Account>} account
 * @param {string} [ledger] the URL of a ledger on PostgreSQL; default: a file in the directory
 * @returns {Env}
 */
export function environment(directory = scratch, { baseUrl, apiKey, payoutSecret } = {}, ledger) {
  return {
    PATH: process.env.PATH,
    HOME: directory,
    TMPDIR: scratch,
    LENDEN_CONFIG_DIR: directory,
    LENDEN_DATA_DIR: directory,
    ...(baseUrl && { LENDEN_BASE_URL: baseUrl }),
    ...(apiKey && { LENDEN_API_KEY: apiKey }),
    ...(payoutSecret && { LENDEN_PAYOUT_SECRET: payoutSecret }),
    ...(ledger && { LENDEN_LEDGER_URL: ledger }),
  };
}

/** An account of the fake API, which accepts any. @param {string} baseUrl */
export function accountOf(baseUrl) {
  return { baseUrl, apiKey: "sk_sandbox_abc-abcdefghijkl-xyz", payoutSecret: "a-payout-secret" };
}

/** What a command prints. @param {string[]} line @param {{ env?: Env, codes?: number[] }} options */
export function output(line, { env = environment(), codes = [0] } = {}) {
  const [program = "", ...args] = line;
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    env,
    cwd: scratch,
    encoding: "utf8",
  });
  if (error) throw error;
  if (!codes.includes(status ?? -1))
    throw new Error(`${line.join(" ")} ended with ${status}: ${stderr}`);
  return stdout;
}

/** Milliseconds of a whole process. @param {Parameters<typeof output>} command */
export function time(...command) {
  const start = performance.now();
  output(...command);
  return performance.now() - start;
}

/** Milliseconds of CPU of a whole process, of the user and of the system. @param {string[]} line @param {Parameters<typeof output>[1]} [options] */
export function cpu(line, options) {
  const script = 'exec 3>&2; TIMEFORMAT="%3U %3S"; { time "$@" >/dev/null 2>&3; } 2>&1';
  const [user = 0, system = 0] = output(["bash", "-c", script, "bash", ...line], options)
    .split(" ")
    .map(Number);
  return (user + system) * 1000;
}

/** The peak memory of a running process in megabytes. @param {number | undefined} pid */
export function peakMemory(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/**
 * Starts a server. It is ready when it prints its first line.
 *
 * @param {string[]} line
 * @param {Env} env
 * @returns {Promise<{ first: string, stop: () => void }>}
 */
async function startServer(line, env = environment()) {
  const [program = "", ...args] = line;
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const stop = () => void child.kill();
  process.once("exit", stop);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${line.join(" ")} ended with ${code} before it was ready`);
  });
  const [first] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  ended.catch(() => {});
  return { first, stop };
}

/** The fake API. @param {number} latencyMs of each response */
export async function startApi(latencyMs = 0) {
  const program = join(import.meta.dirname, "fake-api.js");
  const { first, stop } = await startServer([process.execPath, program, String(latencyMs)]);
  return { account: accountOf(first), stop };
}

/** @returns {Promise<{ account: Account, stop: () => void }>} */
export async function startSandbox() {
  const line = [process.execPath, launcher, "sandbox", "start", "--port", "0", "--json"];
  const env = environment(mkdtempSync(join(scratch, "sandbox-")));
  const { first, stop } = await startServer(line, env);
  return { account: JSON.parse(first), stop };
}

/**
 * Measures several things side by side. Each round runs each of them once and starts with another
 * one. Rounds below 0 are not counted: they fill caches.
 *
 * @param {{ name: string, run: Run }[]} sides
 * @param {{ rounds: number, warmRounds?: number }} options
 * @returns {Promise<Figures>} by the name of the side, or by the names that it returns
 */
export async function sideBySide(sides, { rounds, warmRounds = 1 }) {
  /** @type {Map<string, number[]>} */
  const samples = new Map();
  for (let round = -warmRounds; round < rounds; round += 1) {
    const first = (round + warmRounds) % sides.length;
    for (const { name, run } of [...sides.slice(first), ...sides.slice(0, first)]) {
      const measured = await run(round);
      if (round < 0) continue;
      const named = typeof measured === "number" ? { [name]: measured } : measured;
      for (const [key, sample] of Object.entries(named))
        samples.set(key, [...(samples.get(key) ?? []), sample]);
    }
  }
  return Object.fromEntries([...samples].map(([name, all]) => [name, summary(all)]));
}

/** @param {number[]} samples */
function summary(samples) {
  const sorted = samples.toSorted((one, other) => one - other);
  const at = (/** @type {number} */ index) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  const median = (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
  return { median, least: at(0), most: at(sorted.length - 1) };
}

/** @param {Figures} figures @param {string} name */
export function medianOf(figures, name) {
  return figures[name]?.median ?? Number.NaN;
}

/** @param {number} number */
export function whole(number) {
  return Number.isNaN(number) ? "" : Math.round(number).toLocaleString("en");
}

/** @param {Summary | undefined} summary */
export function spread(summary) {
  return summary ? `${whole(summary.least)} to ${whole(summary.most)}` : "";
}

/** A ratio that should be large. @param {number} ratio */
export function roundDown(ratio) {
  return (Math.floor(ratio * 100) / 100).toFixed(2);
}

/** A ratio that should be small. @param {number} ratio */
export function roundUp(ratio) {
  return (Math.ceil(ratio * 100) / 100).toFixed(2);
}

/** @param {Section} section */
export function markdown({ title, notes, columns, rows }) {
  const widths = columns.map((column, index) =>
    Math.max(column.length, 3, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  const table = [line(columns), rule, ...rows.map(line)].join("\n");
  return [`## ${title}`, ...notes, table].join("\n\n");
}
