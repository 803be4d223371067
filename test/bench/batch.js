// Payouts from a file, side by side in one run with a bare undici loop that keeps no ledger and with
// a shell loop of curl and openssl, against a service that answers at once; and what it needs when
// the file grows. Medians, and the ratios that are aimed at.
// Usage: npm run bench, or node test/bench/batch.js [rounds] [rows] [rows of the large file] [rows to plan]
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const [rounds, rows, many, planned] = [3, 20_000, 100_000, 1_000_000].map(
  (usual, index) => Number(process.argv[2 + index]) || usual,
);
const here = import.meta.dirname;
const launcher = resolve(here, "../../bin/lenden.js");
const folder = mkdtempSync(join(tmpdir(), "lenden-bench-batch-"));
const service = spawn(process.execPath, [join(here, "service.js")], {
  stdio: ["ignore", "pipe", "inherit"],
});
const [baseUrl] = await once(createInterface({ input: service.stdout }), "line");

console.log(`Node ${process.version}, ${rounds} rounds, concurrency 32, synchronous=FULL\n`);
await compare();
await grow();
service.kill();
rmSync(folder, { recursive: true, force: true });

async function compare() {
  const file = makeFile(rows);
  const seen = { bare: [], sending: [], whole: [], shell: [] };
  for (let round = 0; round < rounds; round += 1) {
    seen.bare.push(bare(rows));
    const { seconds, perSecond } = await send(file);
    seen.whole.push(rows / seconds);
    seen.sending.push(perSecond);
    seen.shell.push(oneByOne(40));
  }
  const [loop, shell] = [median(seen.bare), median(seen.shell)];
  const line = (name, rates, against) => {
    const rate = median(rates);
    const spread = `${Math.round(Math.min(...rates))} to ${Math.round(Math.max(...rates))}`;
    console.log(
      `| ${name} | ${Math.round(rate)} | ${spread} | ${(rate / loop).toFixed(2)} | ${(rate / shell).toFixed(0)} | ${against(rate)} |`,
    );
  };
  console.log(
    `| ${rows} payouts | a second | least to most | of the bare loop | of the shell loop | |`,
  );
  console.log("|---|---|---|---|---|---|");
  line("a bare undici loop, no ledger", seen.bare, () => "");
  line("`lenden payout batch send`, while sending", seen.sending, (rate) =>
    [
      `at least 0.5: ${rate / loop >= 0.5 ? "yes" : "NO"}`,
      `at least 40: ${rate / shell >= 40 ? "yes" : "NO"}`,
    ].join(", "),
  );
  line("the same with reading, planning and starting", seen.whole, () => "");
  line("a shell loop of curl and openssl", seen.shell, () => "");
}

async function grow() {
  const small = await send(makeFile(many / 10));
  const large = await send(makeFile(many));
  const plan = await send(makeFile(planned), { plansOnly: true });
  const ratio = large.megabytes / small.megabytes;
  console.log("\n| rows | seconds | memory at its peak, MB | |\n|---|---|---|---|");
  console.log(`| ${many / 10}, sent | ${small.seconds.toFixed(1)} | ${small.megabytes} | |`);
  console.log(
    `| ${many}, sent | ${large.seconds.toFixed(1)} | ${large.megabytes} | ${ratio.toFixed(2)} times; at most 1.2: ${ratio <= 1.2 ? "yes" : "NO"}; under 220: ${large.megabytes < 220 ? "yes" : "NO"} |`,
  );
  console.log(`| ${planned}, planned | ${plan.seconds.toFixed(1)} | ${plan.megabytes} | |`);
}

function makeFile(size) {
  const file = join(folder, `${size}.csv`);
  const opened = openSync(file, "w");
  writeSync(opened, "ref,amount,to,method,name\n");
  for (let row = 0; row < size; row += 1) {
    const number = String(10_000_000 + row).padStart(9, "1");
    writeSync(opened, `F${size}-${row},${100 + (row % 900)}.50,01${number},bkash,Person ${row}\n`);
  }
  closeSync(opened);
  return file;
}

function bare(size) {
  const { stdout, status } = spawnSync(process.execPath, [join(here, "bare.js"), baseUrl, size]);
  if (status !== 0) throw new Error("the bare loop failed");
  return Number(stdout);
}

function oneByOne(size) {
  const start = performance.now();
  const { status } = spawnSync("sh", [join(here, "one-by-one.sh"), baseUrl, size]);
  if (status !== 0) throw new Error("the shell loop failed");
  return size / ((performance.now() - start) / 1000);
}

/** Sends a file with a ledger of its own. One that is only to be planned finds nobody to send to. */
async function send(file, { plansOnly = false } = {}) {
  const data = mkdtempSync(join(folder, "data-"));
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LENDEN_CONFIG_DIR: data,
    LENDEN_DATA_DIR: data,
    LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-xyz",
    LENDEN_PAYOUT_SECRET: "a-payout-secret-of-the-bench",
    LENDEN_BASE_URL: plansOnly ? "http://127.0.0.1:9/cp/api/v1" : baseUrl,
  };
  const method = plansOnly ? ["--method-id", "bkash", "--timeout", "10m"] : [];
  const line = ["payout", "batch", "send", file, "--concurrency", "32", ...method];
  const start = performance.now();
  const child = spawn(process.execPath, [launcher, ...line], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  let planSeconds = 0;
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
    if (planSeconds === 0 && /rows · /.test(stderr))
      planSeconds = (performance.now() - start) / 1000;
  });
  let megabytes = 0;
  const looking = setInterval(() => {
    megabytes = Math.max(megabytes, peakOf(child.pid));
  }, 20);
  const [code] = await once(child, "close");
  clearInterval(looking);
  if (code !== (plansOnly ? 69 : 0)) throw new Error(`lenden ended with ${code}: ${stderr}`);
  const seconds = (performance.now() - start) / 1000;
  const perSecond = Number(/ · ([\d.]+) rows\/s(?!.*rows\/s)/s.exec(stderr)?.[1]);
  rmSync(data, { recursive: true, force: true });
  return { seconds: plansOnly ? planSeconds : seconds, perSecond, megabytes };
}

/** The most memory that the process ever had, as Linux counts it. */
function peakOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0; // it has ended
  }
}

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
}
