import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig, rolldown } from "rolldown";

/**
 * Start-up is paid by the file and by the byte. The entry answers for the version and the help; one
 * chunk keeps what V8 compiled of those after it; what every command needs is the next; what touches an account, what makes a call, and what makes help
 * are three more; everything else is loaded by the command that asks for it. The bundle is CommonJS
 * because Node starts it some 6 ms sooner than an ES module.
 */
const chunks = {
  compiled: ["program/compiled.ts"],
  start: ["program/run.ts"],
  account: ["program/accounts.ts"],
  call: ["program/calls.ts"],
  help: ["program/help.ts"],
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
    assign(`${import.meta.dirname}/src/main.ts`, new Set()); // stays in the entry
    for (const [name, files] of Object.entries(chunks)) {
      for (const file of files) assign(`${import.meta.dirname}/src/${file}`, members[name]);
    }
  },
};

/**
 * What a package loads at its start, and lenden never uses: HTTP/2 and, for one number and one class,
 * all of node:http; commander's subcommands that are programs of their own.
 */
const unused = [
  {
    file: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/,
    what: /^.*$/s,
    instead: "module.exports = () => { throw new Error('HTTP/2 is not spoken here'); };",
  },
  {
    file: /undici[\\/]lib[\\/](?:core[\\/]util|dispatcher[\\/]client)\.js$/,
    what: "require('node:http')",
    instead: "({ maxHeaderSize: 16384, IncomingMessage: undefined })",
  },
  {
    file: /commander[\\/]lib[\\/]command\.js$/,
    what: "require('node:child_process')",
    instead: "undefined",
  },
];

const withoutUnused = unused.map(({ file, what, instead }, index) => ({
  name: `without-unused-${index}`,
  transform: {
    filter: { id: file },
    handler: (code) => {
      const left = code.replace(what, instead);
      if (left === code) throw new Error(`${file} no longer holds ${what}`);
      return left;
    },
  },
}));

/** Every page of help, as a file of its own: `lenden --help` reads it and need know no command. */
const helpPages = {
  name: "help-pages",
  async generateBundle() {
    const input = `${import.meta.dirname}/src/program/help/pages.ts`;
    const bundle = await rolldown({ input, platform: "node", external: usual.external });
    const dir = mkdtempSync(join(tmpdir(), "lenden-help-"));
    await bundle.write({ dir, entryFileNames: "pages.cjs", format: "cjs", codeSplitting: false });
    const { allPages } = await import(join(dir, "pages.cjs"));
    rmSync(dir, { recursive: true });
    for (const [file, source] of await allPages())
      this.emitFile({ type: "asset", fileName: `help/${file}`, source });
  },
};

const usual = {
  platform: "node",
  external: ["libsql", "@napi-rs/keyring"],
  output: {
    dir: "dist",
    format: "cjs",
    entryFileNames: "[name].cjs",
    dynamicImportInCjs: false,
    minify: true,
  },
};

const program = defineConfig({
  ...usual,
  input: "src/main.ts",
  preserveEntrySignatures: "allow-extension",
  plugins: [...withoutUnused, assignChunks, helpPages],
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

/** A thread. */
const ledgerWriter = defineConfig({
  ...usual,
  input: { "ledger-writer": "src/program/ledger-writer.ts" },
  output: alone,
});

/** A process of its own, for whatever asks the keychain may hang; see src/config/keychain.ts. */
const keychain = defineConfig({
  ...usual,
  input: { keychain: "src/program/keychain-program.ts" },
  output: alone,
});

/** What a Tab asks. */
const complete = defineConfig({
  ...usual,
  input: { complete: "src/program/complete.ts" },
  output: alone,
});

export default [program, ledgerWriter, keychain, complete];
