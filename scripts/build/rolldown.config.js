import { resolve } from "node:path";
import { inventory } from "./inventory.js";
import { lazyChildProcess } from "./lazy-child-process.js";
import { manPages } from "./man-pages.js";

/**
 * The program, and the programs that it starts. What a command imports when it needs it is a file
 * that other commands do not load. Node starts CommonJS some 5 ms sooner than ES modules.
 *
 * @type {import("rolldown").BuildOptions}
 */
export default {
  cwd: resolve(import.meta.dirname, "../.."),
  input: {
    main: "src/main.ts",
    keychain: "src/platform/subprocesses/keychain.ts",
  },
  platform: "node",
  external: ["libsql", "@napi-rs/keyring"],
  plugins: [inventory, lazyChildProcess, manPages],
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
    codeSplitting: { groups: [{ name: "core", minShareCount: 34 }] },
  },
};
