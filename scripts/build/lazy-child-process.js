import { resolve } from "node:path";

/**
 * commander imports child_process for subcommands that are programs of their own, which lenden has none of. Loading
 * it takes a tenth of the time that Node needs to start. A terminal needs most of it anyway; scripts and Tab do not.
 *
 * @type {import("rolldown").Plugin}
 */
export const lazyChildProcess = {
  name: "lazy-child-process",
  resolveId: (source, importer) =>
    source === "node:child_process" && importer?.includes("/node_modules/commander/")
      ? resolve(import.meta.dirname, "child-process.cjs")
      : null,
};
