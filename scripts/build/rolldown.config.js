import { resolve } from "node:path";
import { defineConfig } from "rolldown";
import { helpPages } from "./help-pages.js";
import { inventory } from "./inventory.js";

const root = resolve(import.meta.dirname, "../..");

/**
 * Start-up is paid by the file and by the byte. The entry answers for the version and the help. The
 * first chunk enables Node's compile cache for all others; then come what every command needs, what
 * touches an account, what makes a call, what makes tables, and what makes help. Everything else is
 * loaded by the command that asks for it. The bundle is CommonJS because Node starts it some 6 ms
 * sooner than an ES module.
 */
const chunks = {
  "compile-cache": ["cli/runtime/compile-cache.ts"],
  start: ["cli/runtime/run.ts", "cli/args/argv.ts"],
  account: ["cli/runtime/accounts.ts", "api/signature.ts"],
  call: ["cli/runtime/calls.ts", "config/method-cache.ts", "operations/method.ts"],
  table: ["cli/output/text.ts"],
  help: ["cli/help/help.ts"],
};

const members = Object.fromEntries(Object.keys(chunks).map((name) => [name, new Set()]));

/** Assigns each module to the first chunk whose files import it, directly or not. */
const assignChunks = {
  name: "assign-chunks",
  buildEnd() {
    const assigned = new Set();
    const assign = (id, into) => {
      if (assigned.has(id)) return;
      assigned.add(id);
      into.add(id);
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) assign(imported, into);
    };
    assign(`${root}/src/main.ts`, new Set()); // stays in the entry
    for (const [name, files] of Object.entries(chunks)) {
      for (const file of files) assign(`${root}/src/${file}`, members[name]);
    }
  },
};

const usual = {
  platform: "node",
  external: ["libsql", "@napi-rs/keyring"],
  plugins: [inventory],
  output: {
    dir: `${root}/dist`,
    format: "cjs",
    entryFileNames: "[name].cjs",
    dynamicImportInCjs: false,
    minify: true,
  },
};

const program = defineConfig({
  ...usual,
  input: `${root}/src/main.ts`,
  preserveEntrySignatures: "allow-extension",
  plugins: [assignChunks, helpPages, inventory],
  output: {
    ...usual.output,
    cleanDir: true,
    chunkFileNames: "[name]-[hash].cjs",
    codeSplitting: {
      includeDependenciesRecursively: false, // what the entry shares with a chunk stays in the entry
      groups: Object.keys(chunks).map((name) => ({ name, test: (id) => members[name].has(id) })),
    },
  },
});

/** Files of their own: what they shared with the program would be one file more at every start. */
const alone = { ...usual.output, codeSplitting: false };

/** A process of its own, for whatever asks the keychain may hang; see src/config/secrets.ts. */
const keychain = defineConfig({
  ...usual,
  input: { keychain: `${root}/src/platform/subprocesses/keychain.ts` },
  output: alone,
});

/** What a Tab asks. */
const complete = defineConfig({
  ...usual,
  input: { complete: `${root}/src/cli/completion/complete.ts` },
  output: alone,
});

export default [program, keychain, complete];
