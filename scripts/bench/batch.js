// Payouts from a file, beside an undici loop and a shell loop that store nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import {
  environment,
  launcher,
  medianOf,
  output,
  peakMemory,
  roundDown,
  roundUp,
  scratch,
  sideBySide,
  spread,
  startApi,
  time,
  whole,
} from "./measure.js";

/**
 * @typedef {import("./measure.js").Account} Account
 * @typedef {import("./measure.js").Figures} Figures
 * @typedef {object} SendOptions
 * @property {number} [inFlight]
 * @property {string} [directory]
 * @property {string} [parent]
 * @property {string | undefined} [ledger] the URL of a ledger on PostgreSQL
 * @property {string | undefined} [preload] a library that is loaded before all others
 */

const undici = "an undici loop, no ledger";
const shell = "a shell loop of `curl` and `openssl`";
const batch = "`lenden payout batch send`, while sending";
const inMemory = "the same, the ledger on a memory disk";
/** A directory in memory: there a sync costs nothing, so that only the work of lenden is measured. */
const memory = "/dev/shm";

/** @param {import("./measure.js").Options} options */
export async function measureBatch({ rounds, quick }) {
  const api = await startApi();
  const near = await besideLoops(api.account, { rounds, rows: quick ? 2_000 : 20_000 });
  const sizes = await growing(api.account, quick ? 10_000 : 100_000);
  api.stop();
  const slowApi = await startApi(latencyMs);
  const far = await besideLimit(slowApi.account, { rounds: 5, rows: quick ? 1_280 : 6_400 });
  slowApi.stop();
  return [near, sizes, far];
}

/** @param {Account} account @param {{ rounds: number, rows: number }} size */
async function besideLoops(account, { rounds, rows }) {
  const file = payoutFile(rows);
  const script = join(import.meta.dirname, "shell-loop.sh");
  const sides = [
    { name: undici, run: () => undiciLoop(account, rows, 32) },
    { name: batch, run: () => batchPace(file, account) },
    ...(existsSync(memory)
      ? [{ name: inMemory, run: () => batchPace(file, account, { parent: memory }) }]
      : []),
    { name: shell, run: () => 40_000 / time(["sh", script, account.baseUrl, "40"]) },
  ];
  const figures = await sideBySide(sides, { rounds, warmRounds: 0 });
  return {
    title: `A file of ${whole(rows)} rows, payouts a second`,
    notes: [
      `Node ${process.versions.node}, 32 in flight, each payout durable before it is sent. The API responds at once, on the same machine, and measures the pace from the first payout to the last. A sync of 32 kB to this disk takes ${syncMs().toFixed(1)} ms. Medians of ${rounds} rounds side by side.`,
    ],
    columns: ["", "a second", "least to most", "of the undici loop", "of the shell loop"],
    rows: sides.map(({ name }) => {
      const ratio = name === undici || name === shell ? roundUp : roundDown;
      const of = (/** @type {string} */ other) =>
        ratio(medianOf(figures, name) / medianOf(figures, other));
      return [name, whole(medianOf(figures, name)), spread(figures[name]), of(undici), of(shell)];
    }),
  };
}

/** @param {Account} account @param {number} many */
async function growing(account, many, rounds = 5) {
  const sizes = [many / 10, many];
  const sides = sizes.map((rows) => ({
    name: String(rows),
    run: async () => {
      const { seconds, megabytes } = await sendFile(payoutFile(rows), account);
      return { [`${rows} seconds`]: seconds, [`${rows} MB`]: megabytes };
    },
  }));
  const figures = await sideBySide(sides, { rounds, warmRounds: 0 });
  return {
    title: "A file that grows",
    notes: [`Medians of ${rounds} rounds.`],
    columns: ["rows", "seconds", "memory at its peak, MB"],
    rows: sizes.map((rows) => {
      const seconds = medianOf(figures, `${rows} seconds`).toFixed(1);
      return [whole(rows), seconds, whole(medianOf(figures, `${rows} MB`))];
    }),
  };
}

export const latencyMs = 100;
export const inFlight = 64;
export const possible = inFlight / (latencyMs / 1000);

/** @param {Account} account @param {{ rounds: number, rows: number }} size */
async function besideLimit(account, { rounds, rows }) {
  const file = payoutFile(rows);
  const sides = [
    { name: undici, run: () => undiciLoop(account, rows, inFlight) },
    { name: batch, run: () => batchPace(file, account, { inFlight }) },
  ];
  const figures = await sideBySide(sides, { rounds, warmRounds: 0 });
  return {
    title: `An API that takes ${latencyMs} ms, payouts a second`,
    notes: [
      `${inFlight} in flight: ${possible} a second are possible. ${whole(rows)} rows, medians of ${rounds} rounds side by side.`,
    ],
    columns: ["", "a second", "least to most", "of the possible"],
    rows: [undici, batch].map((name) => {
      const rate = medianOf(figures, name);
      return [name, whole(rate), spread(figures[name]), roundDown(rate / possible)];
    }),
  };
}

/** @param {Account} account @param {number} rows @param {number} inFlight */
function undiciLoop({ baseUrl }, rows, inFlight) {
  const program = join(import.meta.dirname, "undici-loop.js");
  output([process.execPath, program, baseUrl, String(rows), String(inFlight)]);
  return paceAt(baseUrl);
}

/** @param {string} file @param {Account} account @param {SendOptions} options */
export async function batchPace(file, account, options = {}) {
  await sendFile(file, account, options);
  return paceAt(account.baseUrl);
}

/** Payouts a second that the fake API received since it was last asked. @param {string} baseUrl */
async function paceAt(baseUrl) {
  const response = await fetch(`${baseUrl}/pace`);
  /** @type {{ data: { perSecond: number } }} */
  const { data } = JSON.parse(await response.text());
  return data.perSecond;
}

/** The median time that this disk needs to store 32 kB, in milliseconds. */
function syncMs() {
  const file = openSync(join(scratch, "sync"), "w");
  const times = Array.from({ length: 101 }, () => {
    writeSync(file, Buffer.alloc(32_768));
    const start = performance.now();
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return times.sort((one, other) => one - other)[50] ?? Number.NaN;
}

/**
 * A file of payouts to different recipients.
 *
 * @param {number} rows
 * @param {string} prefix of their references
 */
export function payoutFile(rows, prefix = `F${rows}`, firstRecipient = 0) {
  const lines = Array.from({ length: rows }, (_, row) => {
    const number = String(10_000_000 + firstRecipient + row).padStart(9, "1");
    return `${prefix}-${row},${100 + (row % 900)}.50,01${number},bkash,Person ${row}\n`;
  });
  const file = join(scratch, `${prefix}.csv`);
  writeFileSync(file, `ref,amount,to,method,name\n${lines.join("")}`);
  return file;
}

/**
 * Sends a file with a new ledger, or with the one in a directory.
 *
 * @param {string} file
 * @param {Account} account
 * @param {SendOptions} options
 */
export async function sendFile(file, account, options = {}) {
  const { inFlight = 32, directory, parent = scratch, ledger, preload } = options;
  const data = directory ?? mkdtempSync(join(parent, "lenden-batch-"));
  const flags = ["--concurrency", String(inFlight), "--allow-duplicates"];
  const start = performance.now();
  const child = spawn(process.execPath, [launcher, "payout", "batch", "send", file, ...flags], {
    env: { ...environment(data, account, ledger), ...(preload && { LD_PRELOAD: preload }) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let [stderr, megabytes] = ["", 0];
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const timer = setInterval(() => {
    megabytes = Math.max(megabytes, peakMemory(child.pid));
  }, 20);
  const [code] = await once(child, "close");
  clearInterval(timer);
  const seconds = (performance.now() - start) / 1000;
  if (directory === undefined) rmSync(data, { recursive: true });
  if (code !== 0) throw new Error(`payout batch send ended with ${code}: ${stderr}`);
  return { seconds, megabytes };
}
