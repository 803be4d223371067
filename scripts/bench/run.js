// What `npm run bench` does: measures lenden beside other ways to do the same, prints the tables of
// docs/benchmarks.md, and writes all figures as JSON and a chart of them.
// Usage: npm run bench -- [start|commands|batch|sandbox|ledger]... [--rounds <n>] [--quick]
//                         [--json <file>] [--svg <file>]
import { mkdtempSync, writeFileSync } from "node:fs";
import { cpus, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureBatch } from "./batch.js";
import { chart } from "./chart.js";
import { markdown } from "./figures.js";
import { measureLedger } from "./ledger.js";
import { measureCommands } from "./overhead.js";
import { measureSandbox } from "./sandbox.js";
import { measureStart } from "./start.js";

const parts = {
  start: measureStart,
  commands: measureCommands,
  batch: measureBatch,
  sandbox: measureSandbox,
  ledger: measureLedger,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "21" },
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    svg: { type: "string" },
  },
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

const wanted = positionals.length > 0 ? positionals : Object.keys(parts);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}.`);
  process.exit(2);
}

const options = { rounds: Number(values.rounds), quick: values.quick };
const began = Date.now();
const [{ model }] = cpus();
const machine = {
  at: new Date(began).toISOString(),
  node: process.version,
  cpu: `${cpus().length} × ${model}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${release()}`,
};
console.log(`Node ${machine.node}, ${machine.cpu}, ${machine.system}, ${machine.at}\n`);
if (options.quick) console.log("Quick: a tenth of everything, to try the bench itself.\n");

const sections = [];
for (const name of wanted) {
  for (const section of await parts[name](options)) {
    console.log(`${markdown(section)}\n`);
    sections.push({ part: name, ...section });
  }
}

const folder = mkdtempSync(join(tmpdir(), "lenden-figures-"));
const jsonFile = values.json ?? join(folder, "bench.json");
const svgFile = values.svg ?? join(folder, "bench.svg");
writeFileSync(jsonFile, `${JSON.stringify({ machine, options, sections }, undefined, 2)}\n`);
writeFileSync(
  svgFile,
  chart(
    sections.flatMap((section) => section.bars ?? []),
    machine,
  ),
);
const minutes = ((Date.now() - began) / 60_000).toFixed(1);
console.error(`${minutes} minutes. All figures: ${jsonFile}. The chart: ${svgFile}.`);
