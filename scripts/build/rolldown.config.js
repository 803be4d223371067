import { resolve } from "node:path";
import { inventory } from "./inventory.js";
import { lazyChildProcess } from "./lazy-child-process.js";
import { manPages } from "./man-pages.js";

const cwd = resolve(import.meta.dirname, "../..");
const external = ["libsql", "@napi-rs/keyring"];
const protocol = "src/mcp/sdk.ts";

/**
 * The program, and the programs that it starts. What a command imports when it needs it is a file
 * that other commands do not load. Node starts CommonJS some 5 ms sooner than ES modules.
 *
 * @type {import("rolldown").BuildOptions}
 */
const program = {
  cwd,
  input: {
    main: "src/main.ts",
    keychain: "src/platform/subprocesses/keychain.ts",
  },
  platform: "node",
  external,
  plugins: [inventory, lazyChildProcess, manPages, separately(protocol, "./protocol.cjs")],
  checks: { pluginTimings: false }, // The man pages take a second.
  output: {
    dir: "dist",
    cleanDir: true,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    dynamicImportInCjs: false,
    minify: true,
    // What many commands share is one file: finding and reading 20 small ones takes longer than compiling it.
    codeSplitting: { groups: [{ name: "core", minShareCount: 35 }] },
  },
};

/**
 * The package of the Model Context Protocol with all that it needs. Only `lenden mcp` loads it. In the same build, the
 * parts of zod that it uses would be in the files of every command.
 *
 * @type {import("rolldown").BuildOptions}
 */
const ofProtocol = {
  cwd,
  input: protocol,
  platform: "node",
  plugins: [inventory],
  output: { file: "dist/protocol.cjs", format: "cjs", codeSplitting: false, minify: true },
};

export default [program, ofProtocol];

/**
 * A module that another build makes a file of.
 *
 * @param {string} module
 * @param {string} file
 * @returns {import("rolldown").Plugin}
 */
function separately(module, file) {
  return {
    name: "separately",
    resolveId: (source, importer) =>
      importer && resolve(importer, "..", source) === resolve(cwd, module)
        ? { id: file, external: true }
        : null,
  };
}
