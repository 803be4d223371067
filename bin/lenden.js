#!/usr/bin/env node
const argv = process.argv.slice(2);
// A Tab loads one small file and nothing else.
const file = argv[0] === "__complete" ? "complete" : "main";
const { main, processHost } = require(`../dist/${file}.cjs`);
main(argv, processHost()).then(
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
