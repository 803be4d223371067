// What the start of a command costs: which files it loads, how many bytes and milliseconds each is,
// whose code is in them, and which of Node's own modules come with it. Medians of several rounds.
// Usage: npm run size [-- --rounds <n>] [--json]
import { statSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { modulesByFile, ownerOf } from "./bundle.js";
import { launcher } from "./commands.js";
import { runStarts } from "./starts.js";

const { values: options } = parseArgs({
  options: { rounds: { type: "string", default: "11" }, json: { type: "boolean" } },
});
const modules = await modulesByFile();
const rounds = Number(options.rounds);
const sizes = [...(await runStarts(rounds))].map(([command, runs]) => ({
  command,
  ...sizeOf(runs),
}));
if (options.json) console.log(JSON.stringify({ node: process.version, rounds, sizes }, null, 2));
else print();

function sizeOf(runs) {
  const files = medians(runs.map((run) => run.files)).map(([path, ms]) => ({
    file: shortName(path),
    // What was compiled for a machine is mapped, not read.
    bytes: path.endsWith(".node") ? 0 : statSync(path).size,
    ms,
    owners: ownersOf(path),
  }));
  const node = medians(runs.map((run) => run.node)).map(([name, ms]) => ({ name, ms }));
  const ms = sum([...files, ...node].map((one) => one.ms));
  return { bytes: sum(files.map((one) => one.bytes)), ms, files, node };
}

/** Of each name its median, the dearest first. */
function medians(runs) {
  const all = new Map();
  for (const [name, ms] of runs.flat()) all.set(name, [...(all.get(name) ?? []), ms]);
  const middle = (numbers) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1];
  return [...all]
    .map(([name, numbers]) => [name, middle(numbers)])
    .sort(([, one], [, other]) => other - one);
}

/** Whose code a file holds → how many bytes of it, the most first. */
function ownersOf(path) {
  const parts = modules.get(basename(path));
  if (!parts) return { [path === launcher ? "bin" : ownerOf(path)]: statSync(path).size };
  return inOrder([...parts].map(([module, bytes]) => [ownerOf(module), bytes]));
}

function inOrder(entries) {
  const total = {};
  for (const [owner, bytes] of entries) total[owner] = (total[owner] ?? 0) + bytes;
  return Object.fromEntries(Object.entries(total).sort(([, one], [, other]) => other - one));
}

/** Without the hash, or from the package on. */
function shortName(path) {
  const [, inPackage] = /node_modules\/(?!.*node_modules\/)(.*)/.exec(path) ?? [];
  return inPackage ?? basename(path).replace(/-[\w-]{8}\.cjs$/, ".cjs");
}

function print() {
  console.log(
    `Node ${process.version}, ${rounds} rounds. ms: reading and evaluating; for lenden.js`,
  );
  console.log(
    "also what is done before anything is waited for. The process itself comes on top.\n",
  );
  console.log("| command | files | kB | ms | Node's own |\n|---|---|---|---|---|");
  for (const { command, files, bytes, ms, node } of sizes) {
    const cells = [`\`${command}\``, files.length, kilo(bytes), ms.toFixed(1), node.length];
    console.log(`| ${cells.join(" | ")} |`);
  }
  for (const size of sizes) printFiles(size);
}

function printFiles({ command, files, node }) {
  console.log(`\n\`${command}\`\n\n| file | kB | ms | whose code, kB |\n|---|---|---|---|`);
  for (const { file, bytes, ms, owners } of rowsOf(files)) {
    const named = Object.entries(owners).map(([owner, size]) => `${owner} ${kilo(size)}`);
    console.log(`| ${file} | ${kilo(bytes)} | ${ms.toFixed(1)} | ${named.join(", ")} |`);
  }
  const named = node.map(({ name, ms }) => (ms < 0.05 ? name : `${name} ${ms.toFixed(1)} ms`));
  console.log(`\nNode's own: ${named.join(", ")}`);
}

/** Small ones are added up: it is the dear ones that somebody looks for. */
function rowsOf(files) {
  const isDear = ({ ms, bytes }) => ms >= 0.5 || bytes >= 10_000;
  const others = files.filter((one) => !isDear(one));
  if (others.length < 2) return files;
  const together = {
    file: `${others.length} more`,
    bytes: sum(others.map(({ bytes }) => bytes)),
    ms: sum(others.map(({ ms }) => ms)),
    owners: inOrder(others.flatMap(({ owners }) => Object.entries(owners))),
  };
  return [...files.filter(isDear), together];
}

function kilo(bytes) {
  return (bytes / 1000).toFixed(1);
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}
