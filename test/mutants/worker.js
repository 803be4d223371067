// Runs in a copy of the project: the tests of each bug that the runner sends, all in one Vitest, which transforms
// each file once.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createVitest } from "vitest/node";
import "../no-agent.js";

const stale = join(process.cwd(), "stale");
const vitest = await createVitest("test", {
  watch: false,
  bail: 1,
  maxWorkers: 1,
  // No test changes a module, so the tests of a run share them.
  isolate: false,
  reporters: [{}],
  include: ["test/**/*.test.ts"],
  testTimeout: 180_000,
  hookTimeout: 180_000,
  config: false,
  env: { LENDEN_MUTANT: "", LENDEN_MUTANT_STALE: stale },
});

process.on("message", async (/** @type {{ name: string, tests: string[] }} */ bug) => {
  process.send?.(await tried(bug));
});
process.on("disconnect", () => vitest.close());
process.send?.("ready");

/** @param {{ name: string, tests: string[] }} bug the tests: files, then perhaps `-t` and a pattern of titles */
async function tried({ name, tests }) {
  writeFileSync(stale, "");
  // Each run starts new processes with these variables.
  for (const { config } of vitest.projects) config.env = { ...config.env, LENDEN_MUTANT: name };
  const [files, pattern] = filesAndPattern(tests);
  if (pattern === undefined) vitest.resetGlobalTestNamePattern();
  else vitest.setGlobalTestNamePattern(pattern);
  const specifications = await vitest.globTestSpecifications(files);
  // Vitest keeps the results of earlier runs, here those of other bugs.
  vitest.state.filesMap.clear();
  const { testModules, unhandledErrors: unhandled } =
    await vitest.runTestSpecifications(specifications);
  // A busy test reports late, which says nothing about its result.
  const unhandledErrors = unhandled.filter((one) => !/Timeout calling/.test(String(one)));
  const why = readFileSync(stale, "utf8");
  if (why) return { caught: false, says: `: it does not fit its seam: ${why}` };
  const all = testModules.flatMap((module) => [...module.children.allTests()]);
  const ran = all.filter((test) => ["passed", "failed"].includes(test.result().state));
  const failing = ran.find((test) => test.result().state === "failed");
  const isBroken = testModules.some((module) => module.errors().length > 0);
  if ((isBroken || unhandledErrors.length > 0) && !failing)
    return { caught: false, says: ": no test failed, the run did" };
  if (ran.length === 0) return { caught: false, says: ": no test ran" };
  // A name that is gone from the program fails of itself, whatever the bug would have done.
  const errors = failing?.result().errors ?? [];
  if (errors.some((error) => String(error.stack ?? error.message).includes("ReferenceError")))
    return { caught: false, says: ": it names what the program no longer has" };
  return { caught: failing !== undefined, says: failing ? `\n            ${failing.name}` : "" };
}

/**
 * @param {string[]} tests
 * @returns {[string[], string | undefined]}
 */
function filesAndPattern(tests) {
  const end = tests.indexOf("-t");
  return end < 0 ? [tests, undefined] : [tests.slice(0, end), tests[end + 1]];
}
