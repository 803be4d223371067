import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const launcher = resolve(import.meta.dirname, "../../bin/lenden.js");
const spy = resolve(import.meta.dirname, "../loading.cjs");
const folder = mkdtempSync(join(tmpdir(), "lenden-starts-"));
const shop = "https://shop.example/";
const payee = ["--amount", "5", "--to", "01712345678", "--method", "bkash"];

/** The command lines whose start is looked at. A batch has a file of its own each time. */
function commandLines(round) {
  return {
    "--version": ["--version"],
    "--help": ["--help"],
    methods: ["methods"],
    "methods --json": ["methods", "--json"],
    "pay create": [
      ...["pay", "create", "--amount", "5", "--description", "x", "--method", "bkash"],
      ...["--redirect-url", shop, "--callback-url", shop],
    ],
    "payout send": ["payout", "send", ...payee],
    "payout batch send": ["payout", "batch", "send", batchFile(round), "--allow-duplicates"],
    "callback listen": ["callback", "listen", "--port", "0"],
    "sandbox start": ["sandbox", "start", "--port", "0"],
    Tab: ["__complete", "method"],
  };
}

/** These go on until they are stopped, which happens when they say that they are ready. */
const endless = ["callback listen", "sandbox start"];

/** Runs every command in turn, as often as asked for: its name → what each run loaded. */
export async function runStarts(rounds) {
  const isTimed = rounds > 1; // and then a round that does not count warms the disk
  const { child, account } = await startSandbox();
  const runs = new Map();
  try {
    for (let round = isTimed ? 0 : 1; round <= rounds; round += 1) {
      for (const [name, line] of Object.entries(commandLines(round))) {
        const loaded = await loadedBy(line, { account, isEndless: endless.includes(name) });
        if (round > 0) runs.set(name, [...(runs.get(name) ?? []), loaded]);
      }
    }
  } finally {
    child.kill("SIGINT");
    await once(child, "close");
    rmSync(folder, { recursive: true, force: true });
  }
  return runs;
}

/** A local sandbox, with a folder of its own. */
async function startSandbox() {
  const child = spawn(process.execPath, [launcher, "sandbox", "start", "--port", "0", "--json"], {
    env: environment(join(folder, "sandbox")),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { baseUrl, apiKey, payoutSecret } = JSON.parse(line);
  const account = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: apiKey,
    LENDEN_PAYOUT_SECRET: payoutSecret,
  };
  return { child, account };
}

/** What one run loads, its threads together. */
async function loadedBy(line, { account, isEndless }) {
  const loading = join(folder, "loading");
  const child = spawn(process.execPath, ["--require", spy, launcher, ...line], {
    env: { ...environment(folder), ...account, LOADING: loading },
    // To nowhere, where that will do: a pipe would bring modules of Node's by itself.
    stdio: ["ignore", isEndless ? "pipe" : "ignore", "pipe"],
  });
  child.stdout?.once("data", () => child.kill("SIGINT"));
  const said = child.stderr.toArray();
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${line.join(" ")} exited with ${code}: ${await said}`);
  const threads = readFileSync(loading, "utf8").trim().split("\n");
  rmSync(loading);
  return threads.map((thread) => JSON.parse(thread)).reduce(together);
}

function together(one, other) {
  return { files: [...one.files, ...other.files], node: [...one.node, ...other.node] };
}

function batchFile(round) {
  const file = join(folder, `payees-${round}.csv`);
  writeFileSync(file, `ref,amount,to,method\nA-${round},5,01712345678,bkash\n`);
  return file;
}

function environment(own) {
  return { PATH: process.env.PATH, HOME: own, LENDEN_CONFIG_DIR: own, LENDEN_DATA_DIR: own };
}
