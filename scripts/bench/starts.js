// Which files and which of Node's own modules the commands load until they end, or are ready.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { launcher, scratch, startSandbox, surroundings } from "./commands.js";

const spy = resolve(import.meta.dirname, "../../test/loading.cjs");
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
  const { account, stop } = await startSandbox();
  const runs = new Map();
  try {
    await loadedBy(["pay", "list"], { account, isEndless: false }); // creates the ledger
    for (let round = isTimed ? 0 : 1; round <= rounds; round += 1) {
      for (const [name, line] of Object.entries(commandLines(round))) {
        const loaded = await loadedBy(line, { account, isEndless: endless.includes(name) });
        if (round > 0) runs.set(name, [...(runs.get(name) ?? []), loaded]);
      }
    }
  } finally {
    stop();
  }
  return runs;
}

/** What one run loads, its threads together. */
async function loadedBy(line, { account, isEndless }) {
  const loading = join(scratch, "loading");
  const child = spawn(process.execPath, ["--require", spy, launcher, ...line], {
    env: surroundings(scratch, { ...account, LOADING: loading }),
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
  const file = join(scratch, `payees-${round}.csv`);
  writeFileSync(file, `ref,amount,to,method\nA-${round},5,01712345678,bkash\n`);
  return file;
}
