#!/usr/bin/env node
const argv = process.argv.slice(2);
// Somebody waits for a Tab: what answers it is one small file, and nothing else is loaded.
const file = argv[0] === "__complete" ? "complete" : "main";
const { main, processHost } = require(`../dist/${file}.cjs`);
main(argv, processHost()).then((code) => {
  process.exitCode = code;
  // The terminal is gone, and Node would abort where it gives it back: it ends by the signal itself.
  if (code === 129) process.kill(process.pid, "SIGHUP");
});
