// How long commands take with a ledger of a thousand operations and with one of a million: side by
// side in one run, medians and their ratio, beside the 1.5 that is aimed at.
// Usage: npm run bench, or node test/bench/ledger.js [rounds] [operations of the large one]
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const rounds = Number(process.argv[2] ?? 11);
const sizes = [1_000, Number(process.argv[3] ?? 1_000_000)];
const target = 1.5;
const launcher = resolve(import.meta.dirname, "../../bin/lenden.js");
const folder = mkdtempSync(join(tmpdir(), "lenden-bench-ledger-"));
const base = { PATH: process.env.PATH, HOME: folder, LENDEN_CONFIG_DIR: folder };

const { child, account } = await startSandbox();
const sent = ["--amount", "5", "--to", "01712345678", "--method", "bkash"];
const ledgers = [];
for (const size of sizes) ledgers.push(await makeLedger(size));
const commands = {
  "payout list --limit 20": () => ["payout", "list", "--limit", "20"],
  "payout list --since today --limit 20": () => [
    "payout",
    "list",
    "--since",
    "today",
    "--limit",
    "20",
  ],
  "payout list --status Cancelled (there is none)": () => [
    "payout",
    "list",
    "--status",
    "Cancelled",
  ],
  "payout get @last": () => ["payout", "get", "@last"],
  "ledger show <reference>": () => ["ledger", "show", "REF-77"],
  "ledger show <payoutId>": () => ["ledger", "show", "PO77"],
  "payout wait @last": () => ["payout", "wait", "@last"],
  "payout send (a new reference)": () => ["payout", "send", ...sent],
  "payout send (a known reference)": ({ known }) => ["payout", "send", ...sent, "--ref", known],
  "ledger resolve (nothing to do)": () => ["ledger", "resolve"],
};
const times = new Map(Object.keys(commands).map((name) => [name, ledgers.map(() => [])]));
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, line] of Object.entries(commands)) {
    for (const [index, ledger] of ledgers.entries()) {
      const ms = timed(line(ledger), ledger.env);
      if (round > 0) times.get(name)[index].push(ms); // the first round warms the disk
    }
  }
}
print();
for (const { env, size } of ledgers) {
  console.log(
    `\`ledger check\` of ${size} operations: ${timed(["ledger", "check"], env).toFixed(0)} ms`,
  );
}
child.kill("SIGINT");
rmSync(folder, { recursive: true, force: true });

async function startSandbox() {
  const started = spawn(process.execPath, [launcher, "sandbox", "start", "--port", "0", "--json"], {
    env: { ...base, LENDEN_DATA_DIR: join(folder, "sandbox") },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: started.stdout }), "line");
  const { baseUrl, apiKey, payoutSecret } = JSON.parse(line);
  return {
    child: started,
    account: {
      LENDEN_BASE_URL: baseUrl,
      LENDEN_API_KEY: apiKey,
      LENDEN_PAYOUT_SECRET: payoutSecret,
    },
  };
}

/** One real payout gives the row that all others are copies of; the chain is whole, hashes and all. */
async function makeLedger(size) {
  const data = join(folder, `data-${size}`);
  const env = { ...base, ...account, LENDEN_DATA_DIR: data };
  const known = `KNOWN-${size}`;
  timed(["payout", "send", ...sent, "--ref", known], env);
  const database = await open(join(data, "ledger.db"));
  const start = performance.now();
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; BEGIN IMMEDIATE");
  const all = (sql) => database.prepare(sql).all();
  const [row] = all("SELECT * FROM operations");
  const events = all("SELECT * FROM events ORDER BY number");
  database.exec("DELETE FROM events; DELETE FROM operations");
  const columns = Object.keys(row).filter((name) => name !== "_metadata");
  const addOperation = database.prepare(
    `INSERT INTO operations (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
  const addEvent = database.prepare(
    "INSERT INTO events (operation, at, event, data, hash) VALUES (?, ?, ?, ?, ?)",
  );
  const [intent, attempt] = events.map(({ data }) => JSON.parse(data));
  let hash = "0".repeat(64);
  const append = (number, at, event, content) => {
    const text = JSON.stringify(content);
    const covered = JSON.stringify([hash, String(number), at, event, text]);
    hash = createHash("sha256").update(covered).digest("hex");
    addEvent.run(number, at, event, text, hash);
  };
  const newestMs = Date.parse(row.created_at);
  for (let number = 1; number <= size; number += 1) {
    // The last one is the real one; the others came a minute apart before it, all of them over.
    const isReal = number === size;
    const at = new Date(newestMs - (size - number) * 60_000).toISOString();
    const own = isReal
      ? {}
      : {
          id: `OP${number}`,
          reference: `REF-${number}`,
          remote_id: `PO${number}`,
          fingerprint: `f${number}`,
          status: "Completed",
        };
    const filled = { ...row, ...own, number, created_at: at, updated_at: at };
    addOperation.run(...columns.map((name) => filled[name]));
    const { id, reference, fingerprint, remote_id: remoteId, status } = filled;
    append(number, at, "intent", { ...intent, id, reference, fingerprint });
    append(number, at, "attempt", { ...attempt, remoteId, status });
  }
  database.exec("COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${size} operations and their chain were made in ${seconds} s`);
  return { size, env, known };
}

async function open(path) {
  const builtIn = await import("node:sqlite").catch(() => undefined);
  if (builtIn) return new builtIn.DatabaseSync(path);
  return new (await import("libsql")).default(path);
}

/** A command may end 8, for a payout that still is Processing is waited for no longer than this. */
function timed(line, env) {
  const waits = line[1] === "wait" ? ["--wait-timeout", "1ms"] : [];
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, [launcher, ...line, ...waits], { env });
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 0 && status !== 8)
    throw new Error(`${line.join(" ")} exited with ${status}: ${stderr}`);
  return ms;
}

function print() {
  const median = (numbers) =>
    numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
  const [small, large] = sizes;
  console.log(`\nNode ${process.version}, ${rounds} rounds, milliseconds of the whole process\n`);
  console.log(
    `| command | ${small} | ${large} | ratio | at most ${target} |\n|---|---|---|---|---|`,
  );
  for (const [name, [few, many]] of times) {
    const [one, other] = [median(few), median(many)];
    const ratio = other / one;
    console.log(
      `| \`${name}\` | ${one.toFixed(0)} | ${other.toFixed(0)} | ${ratio.toFixed(2)} | ${ratio <= target ? "yes" : "NO"} |`,
    );
  }
  console.log("");
}
