// Seeds each money bug into a copy of src and expects the tests to fail because of it: a wrong decorator of
// bugs/ at its seam (seams.js).
// Usage: node test/mutants/run.js [a part of the name] [--report <file>, for test/count.js]
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bugs } from "./bugs/index.js";
import { seams } from "./seams.js";

const root = resolve(import.meta.dirname, "../..");
const { values, positionals } = parseArgs({
  options: { report: { type: "string" } },
  allowPositionals: true,
});
const wanted = positionals.join(" ");
const queue = bugs.filter(({ name }) => name.includes(wanted));
const sums = { passed: 0, failed: 0 };
/** Tests that are the same in every run: what random seeds catch today may escape tomorrow. */
const usual = ["test/operations", "test/ledger/durable.test.ts", "test/simulator/found.test.ts"];

execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
if (await inCopy(passesWithoutBug)) await Promise.all([inCopy(seedBugs), inCopy(seedBugs)]);
console.log(`${sums.passed} passed, ${sums.failed} failed`);
if (values.report !== undefined) {
  const [numPassedTests, numFailedTests] = [sums.passed, sums.failed];
  const report = { numPassedTests, numFailedTests, numPendingTests: 0 };
  writeFileSync(values.report, JSON.stringify(report));
}
process.exitCode = sums.failed > 0 || sums.passed === 0 ? 1 : 0;

async function inCopy(work) {
  const folder = copy();
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A test that fails by itself would catch every bug. Every seam is woven in already. */
async function passesWithoutBug(folder) {
  const named = queue.flatMap(({ tests = usual }) => filesOf(tests));
  const tests = [...new Set([...usual, ...named])];
  const { caught, says } = await tried({ name: "", tests }, folder);
  if (!caught && says === "") return true;
  console.log(`without any bug the tests fail${says}`);
  sums.failed += 1;
  return false;
}

/** The tests of a bug without the pattern of titles that may follow them. */
function filesOf(tests) {
  const end = tests.indexOf("-t");
  return end < 0 ? tests : tests.slice(0, end);
}

async function seedBugs(folder) {
  for (let bug = queue.shift(); bug; bug = queue.shift()) {
    const { caught, says } = await tried(bug, folder);
    sums[caught ? "passed" : "failed"] += 1;
    console.log(`${caught ? "caught  " : "SURVIVED"}  ${bug.name}${says}`);
  }
}

/**
 * A directory for each worker, with `src` that runs the bug of LENDEN_MUTANT. The built tool in it has no bug:
 * only tests that run `src` in their own process can catch one.
 */
function copy() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lenden-mutant-")));
  for (const name of ["src", "test", "bin", "dist", "package.json", "tsconfig.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, "tmp"));
  symlinkSync(realpathSync(join(root, "node_modules")), join(folder, "node_modules"));
  weave(folder);
  const config = { test: { include: ["test/**/*.test.ts"], testTimeout: 60_000 } };
  writeFileSync(join(folder, "vitest.config.js"), `export default ${JSON.stringify(config)}`);
  return folder;
}

/** Puts `woven` in front of the function of each seam. */
function weave(folder) {
  const places = new Map(
    Object.values(seams).map(({ file, name }) => [`${file} ${name}`, { file, name }]),
  );
  for (const { file, name } of places.values()) {
    const path = join(folder, "src", file);
    const whole = readFileSync(path, "utf8");
    const declaration = new RegExp(`^export (async )?function ${name}\\b`, "gm");
    if (whole.match(declaration)?.length !== 1)
      throw new Error(`${file} has no exported function ${name}: correct test/mutants/seams.js`);
    const module = `${"../".repeat(file.split("/").length)}test/mutants/woven.js`;
    const replaced = whole.replace(
      declaration,
      (_, isAsync = "") =>
        `import { woven as woven_${name} } from "${module}";\n` +
        `export function ${name}(...asked) {\n` +
        `  return woven_${name}("${file}", "${name}", right_${name})(...asked);\n}\n` +
        `${isAsync}function right_${name}`,
    );
    writeFileSync(path, replaced);
  }
}

async function tried({ name, tests = usual }, folder) {
  const [report, stale] = [join(folder, "report.json"), join(folder, "stale")];
  writeFileSync(report, "{}");
  writeFileSync(stale, "");
  const env = { LENDEN_MUTANT: name, LENDEN_MUTANT_STALE: stale };
  const code = await vitest(folder, { report, tests, env });
  const why = readFileSync(stale, "utf8");
  if (why) return { caught: false, says: `: it does not fit its seam: ${why}` };
  const { testResults = [] } = JSON.parse(readFileSync(report, "utf8"));
  const failing = testResults
    .flatMap((one) => one.assertionResults)
    .find((one) => one.status === "failed");
  if (code !== 0 && !failing) return { caught: false, says: ": no test failed, the run did" };
  // A name that is gone from the program fails of itself, whatever the bug would have done.
  if (failing?.failureMessages.some((text) => text.includes("ReferenceError")))
    return { caught: false, says: ": it names what the program no longer has" };
  return { caught: code !== 0, says: failing ? `\n            ${failing.title}` : "" };
}

function vitest(folder, { report, tests, env: own }) {
  const args = [
    ...tests,
    "--bail=1",
    "--maxWorkers=1",
    "--reporter=json",
    `--outputFile=${report}`,
  ];
  const { LENDEN_DEEP: _, ...env } = { ...process.env, ...own };
  // What the tests leave behind is removed with the copy.
  env.TMPDIR = join(folder, "tmp");
  return new Promise((done) => {
    const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...args], {
      cwd: folder,
      env,
      stdio: "ignore",
    });
    child.on("close", done);
  });
}
