// Measures lenden beside other tools, and prints the tables of docs/benchmarks.md.
// Usage: npm run bench -- [start|batch|sandbox|ledger|postgres|far]... [--rounds <n>] [--quick]
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { measureBatch } from "./batch.js";
import { measureLedger } from "./ledger.js";
import { markdown } from "./measure.js";
import { measureFarLedger, measurePostgres } from "./postgres.js";
import { measureSandbox } from "./sandbox.js";
import { measureStart } from "./start.js";

/** @type {Record<string, (options: import("./measure.js").Options) => Promise<import("./measure.js").Section[]>>} */
const parts = {
  start: measureStart,
  batch: measureBatch,
  sandbox: measureSandbox,
  ledger: measureLedger,
  postgres: measurePostgres,
  far: measureFarLedger,
};
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "21" },
    quick: { type: "boolean", default: false },
  },
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

console.log(`${cpus().length} × ${cpus()[0]?.model}, ${new Date().toISOString()}\n`);
for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
  const measure = parts[name];
  if (!measure) throw new Error(`unknown part ${name}: use ${Object.keys(parts).join(", ")}`);
  for (const section of await measure({ ...values, rounds: Number(values.rounds) }))
    console.log(`${markdown(section)}\n`);
}
