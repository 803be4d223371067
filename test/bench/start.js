// How long commands take to start, beside a bare Node: side by side in one run, medians and spread.
// Usage: npm run bench [rounds]
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const rounds = Number(process.argv[2] ?? 21);
const launcher = resolve(import.meta.dirname, "../../bin/lenden.js");
const folder = mkdtempSync(join(tmpdir(), "lenden-bench-"));
const base = {
  PATH: process.env.PATH,
  HOME: folder,
  LENDEN_CONFIG_DIR: folder,
  LENDEN_DATA_DIR: folder,
};

const { child, env } = await startSandbox();
const commands = {
  "node -e 0": ["-e", "0"],
  "lenden --version": [launcher, "--version"],
  "lenden --help": [launcher, "--help"],
  "lenden payout send --help": [launcher, "payout", "send", "--help"],
  "lenden methods": [launcher, "methods"],
  "lenden methods --json": [launcher, "methods", "--json"],
  "lenden payout send": [
    launcher,
    "payout",
    "send",
    "--amount",
    "5",
    "--to",
    "01712345678",
    "--method",
    "bkash",
  ],
  "Tab on a profile": [launcher, "__complete", "profile"],
  "Tab on a method": [launcher, "__complete", "method"],
  "Tab on a payout's id": [launcher, "__complete", "payout"],
};
const times = new Map(Object.keys(commands).map((name) => [name, []]));
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, args] of Object.entries(commands)) {
    const ms = timed(args);
    if (round > 0) times.get(name).push(ms); // the first round warms the disk
  }
}
child.kill("SIGINT");
print();

async function startSandbox() {
  const started = spawn(process.execPath, [launcher, "sandbox", "start", "--port", "0", "--json"], {
    env: base,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: started.stdout }), "line");
  const { baseUrl, apiKey, payoutSecret } = JSON.parse(line);
  const account = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: apiKey,
    LENDEN_PAYOUT_SECRET: payoutSecret,
  };
  return { child: started, env: { ...base, ...account } };
}

function timed(args) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { env });
  if (status !== 0) throw new Error(`${args.join(" ")} exited with ${status}: ${stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function print() {
  const median = (numbers) =>
    numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
  const bare = median(times.get("node -e 0"));
  console.log(`Node ${process.version}, ${rounds} rounds, milliseconds\n`);
  console.log("| command | median | least to most | times bare Node |\n|---|---|---|---|");
  for (const [name, all] of times) {
    const range = `${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)}`;
    console.log(
      `| \`${name}\` | ${median(all).toFixed(0)} | ${range} | ${(median(all) / bare).toFixed(2)} |`,
    );
  }
}
