#!/usr/bin/env node
// In a variable: the type checker does not follow it into what the build made.
const built = "../dist/main.cjs";
const { main, processHost } = require(built);
main(process.argv.slice(2), processHost()).then(
  (/** @type {number} */ code) => {
    process.exitCode = code;
    // The terminal is gone, and Node would abort: it ends by the signal itself.
    if (code === 129) process.kill(process.pid, "SIGHUP");
  },
  (/** @type {NodeJS.ErrnoException} */ { code }) => {
    process.exitCode = 1;
    process.stderr.write(`error: Cannot load lenden (${code}). Nothing was sent.\n`);
  },
);
