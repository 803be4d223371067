// Measures this checkout beside another one, such as a clone of an earlier commit: the CPU of a batch and of a claim, and
// the round trips to a server. And of this one alone the CPU of what creates something beside many equal operations.
// Both have to be built (npm ci && npm run build).
// Usage: node scripts/bench/beside.js <other checkout> [batches|claims|trips|equals]... [--rounds <n>] [--quick]
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { payoutFile } from "./batch.js";
import { startCluster, startSlowProxy } from "./cluster.js";
import { createLedgers } from "./equal-operations.js";
import {
  cpu,
  environment,
  launcher,
  markdown,
  medianOf,
  output,
  roundUp,
  scratch,
  sideBySide,
  spread,
  startApi,
  startSandbox,
  whole,
} from "./measure.js";

/** @typedef {{ name: string, folder: string, launcher: string }} Checkout */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
  },
});
const [other, ...parts] = positionals;
if (other === undefined) throw new Error("name the other checkout");
const [rounds, quick] = [Number(values.rounds), values.quick];
const checkouts = [
  checkoutIn("this", join(import.meta.dirname, "../..")),
  checkoutIn("other", other),
];
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

const all = { batches, claims, trips, equals };
for (const [name, measure] of Object.entries(all))
  if (parts.length === 0 || parts.includes(name)) console.log(`${markdown(await measure())}\n`);

/** @param {string} name @param {string} folder @returns {Checkout} */
function checkoutIn(name, folder) {
  return { name, folder: resolve(folder), launcher: join(resolve(folder), "bin/lenden.js") };
}

/**
 * A section of two checkouts, with the ratio of the medians.
 *
 * @param {string} title
 * @param {number | undefined} most of the ratio
 * @param {(checkout: Checkout) => number | Promise<number>} run
 */
async function compared(title, most, run) {
  const sides = checkouts.map((one) => ({ name: one.name, run: () => run(one) }));
  const figures = await sideBySide(sides, { rounds });
  const ratio = medianOf(figures, "this") / medianOf(figures, "other");
  return {
    title,
    notes: [
      `Node ${process.versions.node}, medians of ${rounds} pairs. Load of the machine at the end: ${load()}.`,
    ],
    columns: ["checkout", "median", "least to most", most ? `ratio, at most ${most}` : "ratio"],
    rows: checkouts.map(({ name }) => [
      name,
      medianOf(figures, name).toFixed(1),
      spread(figures[name]),
      name === "this" ? verdict(ratio, most) : "",
    ]),
  };
}

function load() {
  return String(loadavg()[0]?.toFixed(1));
}

/** @param {number} ratio @param {number | undefined} most */
function verdict(ratio, most = Number.POSITIVE_INFINITY) {
  return `${roundUp(ratio)}: ${ratio <= most ? "yes" : "NO"}`;
}

async function batches() {
  const rows = quick ? 2_000 : 20_000;
  const { account, stop } = await startApi();
  const file = payoutFile(rows);
  const section = await compared(
    `A batch of ${whole(rows)} rows, milliseconds of CPU`,
    1.05,
    ({ launcher }) => {
      const data = mkdtempSync(join(scratch, "beside-"));
      const flags = ["--concurrency", "32", "--allow-duplicates"];
      const line = [process.execPath, launcher, "payout", "batch", "send", file, ...flags];
      const spent = cpu(line, { env: environment(data, account) });
      rmSync(data, { recursive: true });
      return spent;
    },
  );
  stop();
  return section;
}

/** In one process, with a ledger in memory: a command needs more for its start than for its claim. */
function claims() {
  const count = quick ? 2_000 : 20_000;
  const programs = new Map(checkouts.map((one) => [one.name, claimProgram(one)]));
  return compared("A claim without candidates, microseconds of CPU", 1.02, ({ name }) =>
    Number(output([process.execPath, programs.get(name) ?? "", String(count)])),
  );
}

/** The program of `claims.js`, made of the sources of a checkout. @param {Checkout} checkout */
function claimProgram({ folder }) {
  const made = mkdtempSync(join(folder, "node_modules/.lenden-bench-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  const program = join(made, "claims.js");
  copyFileSync(join(import.meta.dirname, "claims.js"), program);
  const helpers = join(folder, "test/ledger/small-ledger.ts");
  const rolldown = join(folder, "node_modules/.bin/rolldown");
  writeFileSync(join(made, "package.json"), '{ "type": "module" }');
  output([rolldown, helpers, "--dir", made, "--format", "esm", "--platform", "node"]);
  return program;
}

async function trips() {
  const { account, stop } = await startSandbox();
  /** @type {(() => void)[]} */
  const stops = [stop];
  /** @type {Map<string, () => Promise<number>>} */
  const senders = new Map();
  for (const { name, launcher } of checkouts) {
    const cluster = await startCluster(launcher);
    const proxy = await startSlowProxy(cluster.socket, 1);
    stops.push(proxy.stop, cluster.stop);
    const url = cluster.urlOf(cluster.create(), proxy.folder);
    const env = environment(mkdtempSync(join(scratch, "trips-")), account, url);
    let sent = 0;
    senders.set(name, async () => {
      const before = await proxy.countTrips();
      sent += 1;
      const to = `018${String(sent).padStart(8, "0")}`;
      const line = `payout send --amount 5 --to ${to} --method bkash`.split(" ");
      output([process.execPath, launcher, ...line], { env });
      return (await proxy.countTrips()) - before;
    });
  }
  const section = await compared(
    "`payout send`, round trips with the login, at most 9",
    undefined,
    ({ name }) => senders.get(name)?.() ?? Number.NaN,
  );
  for (const one of stops) one();
  return section;
}

/** Of this checkout alone. */
async function equals() {
  const many = quick ? 10_000 : 100_000;
  const { account, stop } = await startSandbox();
  const cluster = await startCluster(launcher, ["autovacuum=off"]);
  const sides = createLedgers({ cluster, account, many, samples: rounds + 1 });
  const figures = await sideBySide(sides, { rounds });
  cluster.stop();
  stop();
  const names = [...new Set(sides.map(({ name }) => name.replace(/, beside .*/, "")))];
  return {
    title: `Beside ${whole(many)} equal operations, milliseconds of CPU`,
    notes: [
      `Node ${process.versions.node}, medians of ${rounds} pairs, with the CPU of the server. Load of the machine at the end: ${load()}.`,
    ],
    columns: ["command and ledger", "beside none", "beside many", "ratio, at most 1.2"],
    rows: names.map((name) => {
      const [none, all] = ["none", "many"].map((beside) =>
        medianOf(figures, `${name}, beside ${beside}`),
      );
      return [name, whole(none ?? 0), whole(all ?? 0), verdict((all ?? 0) / (none ?? 0), 1.2)];
    }),
  };
}
