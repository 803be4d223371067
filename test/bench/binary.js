// How long the one file takes to start, beside the package and a bare Node: side by side in one run.
// Usage: npx -p node@24 node test/bench/binary.js [rounds], on the Node that the one file was made of.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { launcher } from "../tool.js";

const rounds = Number(process.argv[2] ?? 21);
const oneFile = resolve(import.meta.dirname, "../../dist-binary/lenden");
const lines = [["--version"], ["--help"], ["methods", "--json"], ["__complete", "method"]];
const { sandbox, env } = await startSandbox();
const ways = new Map([["node -e 0", [process.execPath, "-e", "0"]]]);
for (const line of lines) {
  ways.set(`package: ${line.join(" ")}`, [process.execPath, launcher, ...line]);
  ways.set(`one file: ${line.join(" ")}`, [oneFile, ...line]);
}
const times = new Map([...ways.keys()].map((name) => [name, []]));
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, command] of ways) {
    const ms = timed(command);
    if (round > 0) times.get(name).push(ms); // the first round warms the disk
  }
}
sandbox.kill("SIGINT");
print();

async function startSandbox() {
  const folder = mkdtempSync(join(tmpdir(), "lenden-bench-"));
  const base = { HOME: folder, LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: folder };
  const started = spawn(oneFile, ["sandbox", "start", "--port", "0", "--json"], {
    env: base,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: started.stdout }), "line");
  const { baseUrl, apiKey } = JSON.parse(line);
  return { sandbox: started, env: { ...base, LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: apiKey } };
}

function timed([program, ...args]) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(program, args, { env });
  if (status !== 0) throw new Error(`${args.join(" ")} exited with ${status}: ${stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function print() {
  const megabytes = (statSync(oneFile).size / 1e6).toFixed(0);
  console.log(
    `Node ${process.version}, ${rounds} rounds, milliseconds; one file: ${megabytes} MB\n`,
  );
  console.log("| command | median | least to most |\n|---|---|---|");
  for (const [name, all] of times) {
    const sorted = all.toSorted((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)].toFixed(0);
    console.log(
      `| \`${name}\` | ${median} | ${sorted[0].toFixed(0)} to ${sorted.at(-1).toFixed(0)} |`,
    );
  }
}
