#!/usr/bin/env node
require("node:module").enableCompileCache?.();
const { main, processHost } = require("../dist/main.cjs");
main(process.argv.slice(2), processHost()).then((code) => {
  process.exitCode = code;
});
