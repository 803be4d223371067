// The main job with the built tool on whichever Node runs this file, or with the executable that
// LENDEN_BUILT names; needs no packages.
import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOneFile, tool, toolLine } from "./tool.js";

const [program, ...before] = tool;
const folder = mkdtempSync(join(tmpdir(), "lenden-smoke-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  LENDEN_CONFIG_DIR: folder,
  LENDEN_DATA_DIR: folder,
};
const run = (/** @type {string[]} */ ...args) =>
  execFileSync(program, [...before, ...args], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

assert.match(run("--version"), /^\d+\.\d+\.\d+\n$/);
assert.match(run("--help"), /payout +Send and track payouts/);

const steps = run("demo", "--json")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
assert.equal(steps.length, 8);
assert.equal(steps[5].data.existing, true);
assert.equal(steps[7].data.status, "Cancelled");

const script = `
  ${toolLine} payout send --amount 1250.50 --to 01712345678 --method bkash --ref SMOKE-1 --json &&
  ${toolLine} payout send --amount 1250.50 --to 01712345678 --method bkash --ref SMOKE-1 -q 2>/dev/null`;
const told = run("sandbox", "exec", "--data", join(folder, "sandbox.db"), "--", "sh", "-c", script);
const payout = JSON.parse(told.slice(0, told.lastIndexOf("}") + 1));
assert.equal(payout.amount, 1250.5);
assert.equal(told.trim().split("\n").at(-1), payout.payoutId);
console.log(isOneFile ? `ok: ${program}` : `ok on Node ${process.version}`);
