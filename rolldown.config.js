import { defineConfig } from "rolldown";

/**
 * Start-up is paid by the file and by the byte. What every run needs is one chunk; what touches an
 * account, what makes a call, and help are three more; everything else is loaded by the command that
 * asks for it. The bundle is CommonJS because Node starts it some 6 ms sooner than an ES module.
 */
const chunks = {
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
    for (const [name, files] of Object.entries(chunks)) {
      for (const file of files) assign(`${import.meta.dirname}/src/${file}`, members[name]);
    }
  },
};

/** undici loads HTTP/2 with everything else, and Node's own http2 with it; lenden never speaks it. */
const withoutHttp2 = {
  name: "without-http2",
  load: {
    filter: { id: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ },
    handler: () => "module.exports = () => { throw new Error('HTTP/2 is not spoken here'); };",
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
  plugins: [withoutHttp2, assignChunks],
  output: {
    ...usual.output,
    cleanDir: true,
    chunkFileNames: "[name]-[hash].cjs",
    codeSplitting: {
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

/** Another one, for a name's look-up may hang too; see src/doctor/lookup.ts. */
const lookup = defineConfig({
  ...usual,
  input: { lookup: "src/program/lookup-program.ts" },
  output: alone,
});

/** What a Tab asks. */
const complete = defineConfig({
  ...usual,
  input: { complete: "src/program/complete.ts" },
  output: alone,
});

export default [program, ledgerWriter, keychain, lookup, complete];
