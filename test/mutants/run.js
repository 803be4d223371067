// Seeds each money bug into a copy of src and expects the tests to fail because of it: a wrong decorator of
// bugs/ at its seam (seams.js).
// Usage: node test/mutants/run.js [a part of the name] [--report <file>, for test/count.js]
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
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
const chosen = bugs.filter(({ name }) => name.includes(wanted));
const queue = [...withoutBug(chosen), ...chosen];
const sums = { passed: 0, failed: 0 };

execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
await Promise.all([inCopy(seedBugs), inCopy(seedBugs)]);
console.log(`${sums.passed} passed, ${sums.failed} failed`);
if (values.report !== undefined) {
  const [numPassedTests, numFailedTests] = [sums.passed, sums.failed];
  const report = { numPassedTests, numFailedTests, numPendingTests: 0 };
  writeFileSync(values.report, JSON.stringify(report));
}
process.exitCode = sums.failed > 0 || sums.passed === 0 ? 1 : 0;

async function inCopy(work) {
  const folder = copy();
  const { LENDEN_DEEP: _, ...env } = process.env;
  // What the tests leave behind is removed with the copy.
  env.TMPDIR = join(folder, "tmp");
  const worker = fork(join(folder, "test/mutants/worker.js"), {
    cwd: folder,
    env,
    stdio: "inherit",
  });
  try {
    await once(worker, "message");
    return await work(worker);
  } finally {
    if (worker.connected) worker.disconnect();
    if (worker.exitCode === null) await once(worker, "exit");
    rmSync(folder, { recursive: true });
  }
}

/** Runs the tests of a bug in the worker of a copy. */
async function tried({ name, tests }, worker) {
  worker.send({ name, tests });
  const over = new AbortController();
  const { signal } = over;
  const [outcome] = await Promise.race([
    once(worker, "message", { signal }),
    once(worker, "exit", { signal }).then(() => [
      { caught: false, says: ": its run ended without a result" },
    ]),
  ]);
  over.abort();
  return outcome;
}

/** The tests without a bug: one that fails by itself would catch every bug. Every seam is woven in already. */
function withoutBug(some) {
  const titled = some.filter(({ tests }) => tests.includes("-t"));
  const whole = filesOf(some.filter((bug) => !titled.includes(bug)));
  const others = filesOf(titled).filter((file) => !whole.includes(file));
  const titles = [...new Set(titled.map(({ tests }) => `(?:${tests.at(-1)})`))].join("|");
  const runs = [whole, others.length > 0 ? [...others, "-t", titles] : []];
  return runs.filter(({ length }) => length > 0).map((tests) => ({ name: "", tests }));
}

function filesOf(some) {
  const names = some.flatMap(({ tests }) => tests);
  return [...new Set(names.filter((name) => name.endsWith(".test.ts")))];
}

async function seedBugs(worker) {
  for (let bug = queue.shift(); bug; bug = queue.shift()) {
    const { caught, says } = await tried(bug, worker);
    const isRight = bug.name === "" ? !caught && says === "" : caught;
    sums[isRight ? "passed" : "failed"] += 1;
    if (bug.name !== "") console.log(`${caught ? "caught  " : "SURVIVED"}  ${bug.name}${says}`);
    else if (!isRight) console.log(`without any bug the tests fail${says}`);
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
  // A database server has another user.
  for (const one of [folder, join(folder, "tmp")]) chmodSync(one, 0o711);
  symlinkSync(realpathSync(join(root, "node_modules")), join(folder, "node_modules"));
  weave(folder);
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
