// Payouts from a file, beside a bare undici loop that keeps no ledger, and beside curl and openssl
// one by one and eight at a time; then what the batch needs when its file grows.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sendFile } from "./batch-send.js";
import { scratch, started, surroundings } from "./commands.js";
import { cut, roundedUp, spread, summaries, verdict, whole } from "./figures.js";
import { sideBySide } from "./rounds.js";

const names = {
  bare: "a bare undici loop, no ledger",
  sending: "`lenden payout batch send`, while sending",
  all: "the same with starting, reading and planning",
  eight: "`xargs -P 8` of `curl` and `openssl`",
  oneByOne: "a shell loop of `curl` and `openssl`",
};
const ours = ["sending", "all"];
const leastOf = { bare: 0.4, oneByOne: 40 };

/** The sections of the report on batches. */
export async function measureBatch({ rounds, quick }) {
  const service = await started([process.execPath, join(import.meta.dirname, "service.js")]);
  const baseUrl = service.first;
  const sections = [
    await compare(baseUrl, { rounds, rows: quick ? 2_000 : 20_000 }),
    await grow(baseUrl, quick ? 10_000 : 100_000),
    await compareDistant({ rounds: Math.min(rounds, 5), rows: quick ? 2_000 : 6_400 }),
  ];
  service.stop();
  return sections;
}

async function compare(baseUrl, { rounds, rows }) {
  const file = makeFile(rows);
  const sides = [
    { name: "bare", run: () => bareLoop(baseUrl, rows) },
    {
      name: "lenden",
      run: async () => {
        const { seconds, perSecond, megabytes } = await sendFile(file, baseUrl);
        return { sending: perSecond, all: rows / seconds, megabytes };
      },
    },
    { name: "eight", run: () => inShell(400, eightAtATime(baseUrl, 400)) },
    { name: "oneByOne", run: () => inShell(40, [script, baseUrl, "40", "LOOP"]) },
  ];
  const samples = await sideBySide(sides, { rounds, warmRounds: 0, what: "batch" });
  return comparison(summaries(samples), { rounds, rows });
}

function comparison(figures, { rounds, rows }) {
  const rate = (name) => figures[name].median;
  const [ofBare, ofShell] = ["bare", "oneByOne"].map((name) => rate("sending") / rate(name));
  const aims =
    `at least ${leastOf.bare} of the bare loop: ${verdict(ofBare >= leastOf.bare)}; ` +
    `at least ${leastOf.oneByOne} times the shell loop: ${verdict(ofShell >= leastOf.oneByOne)}`;
  return {
    title: `Paying a file of ${whole(rows)} rows, payouts a second`,
    notes: [
      `Node ${process.versions.node}, 32 at a time, every payout durable before it is sent (\`synchronous=FULL\`), against a service on the same machine that answers at once. Medians of ${rounds} rounds side by side. lenden's memory at its peak: ${whole(figures.megabytes.median)} MB.`,
    ],
    columns: ["", "a second", "least to most", "of the bare loop", "of the shell loop", "aim"],
    rows: Object.entries(names).map(([name, label]) => {
      const ratio = ours.includes(name) ? cut : roundedUp;
      return [
        label,
        whole(rate(name)),
        spread(figures[name]),
        ratio(rate(name) / rate("bare")),
        ratio(rate(name) / rate("oneByOne")),
        name === "sending" ? aims : "",
      ];
    }),
    figures,
    bars: {
      title: "Payouts a second from a file (longer is better)",
      bars: ["bare", "all", "eight", "oneByOne"].map((name) => ({
        label: labels[name],
        ours: name === "all",
        ...figures[name],
      })),
    },
  };
}

const labels = {
  bare: "undici loop, no ledger",
  all: "lenden, start to end",
  eight: "curl, openssl, xargs -P 8",
  oneByOne: "curl, openssl, one by one",
};

/** The peak depends on when V8 happens to clean up: of one run alone it would say little. */
const growingRounds = 5;

/** For 100,000 rows. */
const maxMegabytes = 300;

async function grow(baseUrl, many) {
  const sent = (name, rows) => ({
    name,
    run: async () => {
      const { seconds, megabytes } = await sendFile(makeFile(rows), baseUrl);
      return { [`${name} seconds`]: seconds, [`${name} megabytes`]: megabytes };
    },
  });
  const sides = [sent("small", many / 10), sent("large", many)];
  const samples = await sideBySide(sides, {
    rounds: growingRounds,
    warmRounds: 0,
    what: "growing",
  });
  const plan = await sendFile(makeFile(many * 10), undefined);
  return growth(many, summaries(samples), plan);
}

function growth(many, figures, plan) {
  const large = figures["large megabytes"];
  const aim = `under ${maxMegabytes} MB: ${verdict(large.most < maxMegabytes)}`;
  const row = (rows, name, aim = "") => {
    const megabytes = figures[`${name} megabytes`];
    const seconds = figures[`${name} seconds`].median.toFixed(1);
    return [`${whole(rows)}, sent`, seconds, whole(megabytes.median), spread(megabytes), aim];
  };
  const planned = [plan.seconds.toFixed(1), whole(plan.megabytes), "", ""];
  return {
    title: "A file that grows",
    notes: [`Medians of ${growingRounds} rounds; the plan once.`],
    columns: ["rows", "seconds", "memory at its peak, MB", "least to most", "aim"],
    rows: [
      row(many / 10, "small"),
      row(many, "large", aim),
      [`${whole(many * 10)}, planned`, ...planned],
    ],
    figures: { ...figures, plan },
  };
}

function makeFile(size) {
  const file = join(scratch, `${size}.csv`);
  const opened = openSync(file, "w");
  writeSync(opened, "ref,amount,to,method,name\n");
  for (let row = 0; row < size; row += 1) {
    const number = String(10_000_000 + row).padStart(9, "1");
    writeSync(opened, `F${size}-${row},${100 + (row % 900)}.50,01${number},bkash,Person ${row}\n`);
  }
  closeSync(opened);
  return file;
}

const inFlight = 64;
const latencyMs = 100;
const distantNames = {
  bare: "a bare undici loop, no ledger",
  fast: "`lenden payout batch send`, while sending",
  slow: "the same with 4 ms more for each commit",
};
const leastOfPossible = { fast: 0.92, slow: 0.85 };

/** Payouts to an API that takes 100 ms, beside what is possible with 64 in flight. */
async function compareDistant({ rounds, rows }) {
  const service = await started([
    process.execPath,
    join(import.meta.dirname, "service.js"),
    String(latencyMs),
  ]);
  const baseUrl = service.first;
  const file = makeFile(rows);
  const preload = join(import.meta.dirname, "slow-commit.cjs");
  const send = async (more) =>
    (await sendFile(file, baseUrl, { concurrency: inFlight, ...more })).perSecond;
  const sides = [
    { name: "bare", run: () => bareLoop(baseUrl, rows, inFlight) },
    { name: "fast", run: () => send({}) },
    { name: "slow", run: () => send({ preload }) },
  ];
  const samples = await sideBySide(sides, { rounds, warmRounds: 0, what: "distant" });
  service.stop();
  const figures = summaries(samples);
  const possible = inFlight / (latencyMs / 1000);
  return {
    title: "An API that takes 100 ms, payouts a second",
    notes: [
      `${inFlight} in flight: ${possible} a second are possible. ${whole(rows)} rows, medians of ${rounds} rounds side by side.`,
    ],
    columns: ["", "a second", "least to most", "of the possible", "aim"],
    rows: Object.entries(distantNames).map(([name, label]) => {
      const ratio = figures[name].median / possible;
      const least = leastOfPossible[name];
      const aim = least === undefined ? "" : `at least ${least}: ${verdict(ratio >= least)}`;
      return [label, whole(figures[name].median), spread(figures[name]), cut(ratio), aim];
    }),
    figures,
  };
}

function bareLoop(baseUrl, rows, concurrency = 32) {
  const line = [join(import.meta.dirname, "bare.js"), baseUrl, rows, concurrency];
  const { stdout, status } = spawnSync(process.execPath, line, { env: surroundings() });
  if (status !== 0) throw new Error("the bare loop failed");
  return Number(stdout);
}

const script = join(import.meta.dirname, "one-by-one.sh");

/** Eight of the same loops side by side, each with an eighth of the rows. */
function eightAtATime(baseUrl, rows) {
  const each = `xargs -P 8 -I WORKER sh "$1" "$2" "$3" WORKER`;
  return ["-c", `seq 8 | ${each}`, "sh", script, baseUrl, String(rows / 8)];
}

function inShell(rows, line) {
  const start = performance.now();
  const { status, stderr } = spawnSync("sh", line, { env: surroundings() });
  if (status !== 0) throw new Error(`the shell loop failed: ${stderr}`);
  return rows / ((performance.now() - start) / 1000);
}
