#!/usr/bin/env node
// An older Node has to understand this file, to say so.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  const found = `Node ${process.versions.node}`;
  fail(`lenden needs Node 20.19 or later, but ${found} runs it`, "Install a newer Node.");
} else {
  start();
}

function start() {
  // In a variable: the type checker does not follow it into what the build made.
  const built = "../dist/main.cjs";
  let program;
  try {
    program = require(built);
  } catch (error) {
    return cannotLoad(error);
  }
  program.main(process.argv.slice(2), program.processHost()).then((/** @type {number} */ code) => {
    process.exitCode = code;
    // The terminal is gone, and Node would abort: it ends by the signal itself.
    if (code === 129) process.kill(process.pid, "SIGHUP");
  }, cannotLoad);
}

/** @param {unknown} error */
function cannotLoad(error) {
  const { existsSync } = require("node:fs");
  const { resolve } = require("node:path");
  const root = resolve(__dirname, "..");
  if (!existsSync(`${root}/dist/main.cjs`))
    return fail("lenden is not built", `Run 'npm ci && npm run build' in ${root}.`);
  const { code } = Object(error);
  fail(`Cannot load lenden (${code || error})`, "Install lenden again.");
}

/**
 * @param {string} message
 * @param {string} hint
 */
function fail(message, hint) {
  process.exitCode = 1;
  process.stderr.write(`error: ${message}. Nothing was sent.\nhint:  ${hint}\n`);
}
