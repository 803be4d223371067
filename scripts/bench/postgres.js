// A ledger on PostgreSQL beside a ledger file. The server runs on this machine, on a unix socket.
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { batchPace, inFlight, latencyMs, payoutFile, possible, sendFile } from "./batch.js";
import { startCluster, startSlowProxy } from "./cluster.js";
import {
  environment,
  launcher,
  medianOf,
  output,
  roundDown,
  roundUp,
  scratch,
  sideBySide,
  spread,
  startApi,
  startSandbox,
  time,
  whole,
} from "./measure.js";

const onServer = "a ledger on PostgreSQL";
const inFile = "a ledger file";

/** @param {import("./measure.js").Options} options */
export async function measurePostgres({ rounds, quick }) {
  const cluster = await startCluster();
  try {
    return [
      await besideFile(cluster, { rounds: 5, rows: quick ? 2_000 : 20_000 }),
      await roundTrips(cluster, quick ? 5 : rounds),
      await growingList(cluster, { rounds, many: quick ? 100_000 : 1_000_000 }),
      await twoProcesses(cluster, { rounds: 3, rows: quick ? 640 : 3_200 }),
    ];
  } finally {
    cluster.stop();
  }
}

/** @param {import("./measure.js").Options} options */
export async function measureFarLedger({ quick }) {
  const cluster = await startCluster();
  try {
    return [await byLedger(cluster, { rounds: 5, rows: quick ? 1_280 : 6_400 })];
  } finally {
    cluster.stop();
  }
}

/** @typedef {Awaited<ReturnType<typeof startCluster>>} Cluster */

/** @param {Cluster} cluster @param {{ rounds: number, rows: number }} size */
async function besideFile(cluster, { rounds, rows }) {
  const { account, stop } = await startApi();
  const file = payoutFile(rows);
  const pace = async (/** @type {string | undefined} */ ledger) => {
    await sendFile(file, account, { ledger });
    const response = await fetch(`${account.baseUrl}/pace`);
    /** @type {{ data: { perSecond: number } }} */
    const { data } = JSON.parse(await response.text());
    return data.perSecond;
  };
  const sides = [
    { name: inFile, run: () => pace(undefined) },
    { name: onServer, run: () => pace(cluster.create()) },
  ];
  const figures = await sideBySide(sides, { rounds, warmRounds: 0 });
  stop();
  return {
    title: `A file of ${whole(rows)} rows, payouts a second`,
    notes: [`32 in flight, medians of ${rounds} rounds side by side.`],
    columns: ["", "a second", "least to most", "of the ledger file, at least 0.6"],
    rows: sides.map(({ name }) => {
      const rate = medianOf(figures, name);
      return [
        name,
        whole(rate),
        spread(figures[name]),
        roundDown(rate / medianOf(figures, inFile)),
      ];
    }),
  };
}

const delayMs = 20;

/** @param {Cluster} cluster @param {number} rounds */
async function roundTrips(cluster, rounds) {
  const { account, stop } = await startSandbox();
  const ledger = cluster.create();
  const slow = await startSlowProxy(cluster.socket, delayMs);
  const slowLedger = cluster.urlOf(ledger, slow.folder);
  let sent = 0;
  const senderOf = (/** @type {string} */ prefix, /** @type {string | undefined} */ url) => {
    const env = environment(mkdtempSync(join(scratch, "send-")), account, url);
    let count = 0;
    return () => {
      count += 1;
      if (url === slowLedger) sent += 1;
      // Each time another recipient: a duplicate would take more.
      const to = `${prefix}${String(count).padStart(8, "0")}`;
      const line = `payout send --amount 5 --to ${to} --method bkash`;
      return time([process.execPath, launcher, ...line.split(" ")], { env });
    };
  };
  const sides = [
    { name: inFile, run: senderOf("017", undefined) },
    { name: onServer, run: senderOf("018", ledger) },
    { name: "the same, 20 ms away", run: senderOf("019", slowLedger) },
  ];
  const figures = await sideBySide(sides, { rounds });
  stop();
  const trips = (await slow.countTrips()) / sent;
  slow.stop();
  return {
    title: "`payout send`, in milliseconds",
    notes: [
      `Medians of ${rounds} rounds side by side. A proxy delays what the client sends by ${delayMs} ms, and counts how often the client waits for the server: ${trips.toFixed(1)} times, the login included. The target is at most 9.`,
    ],
    columns: ["", "milliseconds", "least to most"],
    rows: sides.map(({ name }) => [name, whole(medianOf(figures, name)), spread(figures[name])]),
  };
}

const lists = [
  "payout list --limit 20",
  "payout list --status Completed --limit 20",
  "payout list --to 01700000007 --limit 20",
  "payout list --since 2026-01-01 --limit 20",
];

/** @param {Cluster} cluster @param {{ rounds: number, many: number }} size */
async function growingList(cluster, { rounds, many }) {
  const { account, stop } = await startSandbox();
  const sizes = [1_000, many];
  const filled = sizes.map((size) => {
    const url = cluster.create();
    const env = environment(mkdtempSync(join(scratch, "list-")), account, url);
    // The account is stored with its first operation.
    const first = "payout send --amount 5 --to 01712345678 --method bkash --ref FIRST".split(" ");
    output([process.execPath, launcher, ...first], { env });
    cluster.run(url, fillSql(size));
    return { size, env };
  });
  const sides = filled.flatMap(({ size, env }) =>
    lists.map((list) => ({
      name: `${list}, ${size}`,
      run: () => time([process.execPath, launcher, ...list.split(" ")], { env }),
    })),
  );
  const figures = await sideBySide(sides, { rounds });
  stop();
  return {
    title: "A list of 20 on PostgreSQL, in milliseconds",
    notes: [`Medians of ${rounds} rounds side by side.`],
    columns: ["command", ...sizes.map((size) => `${whole(size)} operations`), "ratio, at most 1.3"],
    rows: lists.map((list) => {
      const [few = 0, all = 0] = sizes.map((size) => medianOf(figures, `${list}, ${size}`));
      return [`\`${list}\``, whole(few), whole(all), roundUp(all / few)];
    }),
  };
}

/** Copies of the first operation, with other numbers, references and recipients. @param {number} count */
function fillSql(count) {
  return `
    INSERT INTO lenden.operations (number, id, kind, profile, environment, reference, amount_paisa, asked,
      state, remote_id, status, attempts, "user", command, created_at, updated_at, account, key_hash,
      base_url, origin, actor, recipient_key, method_id, method_name, phase, accepted_at)
    SELECT n + 1, 'OP' || n, o.kind, o.profile, o.environment, 'R' || n, 100 + n % 900, o.asked, o.state,
      'PO-' || n, CASE WHEN n % 3 = 0 THEN 'Completed' ELSE 'Processing' END, 1, o."user", o.command,
      o.created_at, o.updated_at, o.account, o.key_hash, o.base_url, o.origin, o.actor,
      '017' || lpad((n % 5000)::text, 8, '0'), o.method_id, o.method_name, o.phase, o.accepted_at
    FROM lenden.operations o, generate_series(1, ${count}) AS n WHERE o.number = 1;
    VACUUM ANALYZE lenden.operations;`;
}

/** @param {Cluster} cluster @param {{ rounds: number, rows: number }} size */
async function twoProcesses(cluster, { rounds, rows }) {
  const { account, stop } = await startApi(100);
  const files = [payoutFile(rows, "ONE"), payoutFile(rows, "TWO", rows)];
  const rate = async (/** @type {string[]} */ sent) => {
    const ledger = cluster.create();
    const start = performance.now();
    await Promise.all(sent.map((file) => sendFile(file, account, { inFlight: 16, ledger })));
    return (rows * sent.length) / ((performance.now() - start) / 1000);
  };
  const sides = [
    { name: "one process", run: () => rate(files.slice(0, 1)) },
    { name: "two processes, a file each", run: () => rate(files) },
  ];
  const figures = await sideBySide(sides, { rounds, warmRounds: 0 });
  stop();
  return {
    title: "An API that takes 100 ms, payouts a second on one ledger",
    notes: [
      `${whole(rows)} rows each, 16 in flight each, medians of ${rounds} rounds side by side.`,
    ],
    columns: ["", "a second", "of one process, at least 1.6"],
    rows: sides.map(({ name }) => {
      const all = medianOf(figures, name);
      return [name, whole(all), roundDown(all / medianOf(figures, "one process"))];
    }),
  };
}

/** The ledgers of a batch, and what they must reach of the possible. @param {Cluster} cluster @param {{ rounds: number, rows: number }} size */
async function byLedger(cluster, { rounds, rows }) {
  const { account, stop } = await startApi(latencyMs);
  const file = payoutFile(rows);
  const near = await startSlowProxy(cluster.socket, 1);
  const far = await startSlowProxy(cluster.socket, delayMs);
  const preload = slowSync();
  const pace = (/** @type {import("./batch.js").SendOptions} */ options) =>
    batchPace(file, account, { inFlight, ...options });
  const ledgerAt = (/** @type {string} */ folder) => cluster.urlOf(cluster.create(), folder);
  const sides = [
    { name: inFile, least: 0.95, run: () => pace({}) },
    { name: "the same, 4 ms for each sync", least: 0.9, run: () => pace({ preload }) },
    {
      name: `${onServer}, 1 ms away`,
      least: 0.9,
      run: () => pace({ ledger: ledgerAt(near.folder) }),
    },
    {
      name: `${onServer}, ${delayMs} ms away`,
      least: 0.75,
      run: () => pace({ ledger: ledgerAt(far.folder) }),
    },
  ];
  const figures = await sideBySide(sides, { rounds, warmRounds: 0 });
  for (const one of [near, far]) one.stop();
  stop();
  return {
    title: `An API that takes ${latencyMs} ms, payouts a second`,
    notes: [
      `Node ${process.versions.node}, ${inFlight} in flight: ${possible} a second are possible. ${whole(rows)} rows, medians of ${rounds} rounds side by side. Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}.`,
    ],
    columns: ["", "a second", "least to most", "of the possible"],
    rows: sides.map(({ name, least }) => {
      const rate = medianOf(figures, name);
      const met = rate / possible >= least ? "yes" : "NO";
      const ratio = `${roundDown(rate / possible)}; at least ${least}: ${met}`;
      return [name, whole(rate), spread(figures[name]), ratio];
    }),
  };
}

/** A library with which each sync takes 4 ms longer. */
function slowSync() {
  const library = join(scratch, "slow-sync.so");
  const source = join(import.meta.dirname, "slow-sync.c");
  execFileSync("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  return library;
}
