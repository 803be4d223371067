import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "../..");

/**
 * Every page of help, as a file of its own: `lenden --help` reads it and need know no command.
 *
 * @type {import("rolldown").Plugin}
 */
export const helpPages = {
  name: "help-pages",
  async generateBundle() {
    const input = `${root}/src/cli/help/pages.ts`;
    const bundle = await rolldown({
      input,
      platform: "node",
      external: ["libsql", "@napi-rs/keyring"],
    });
    const dir = mkdtempSync(join(tmpdir(), "lenden-help-"));
    await bundle.write({ dir, entryFileNames: "pages.cjs", format: "cjs", codeSplitting: false });
    const { allPages } = await import(join(dir, "pages.cjs"));
    rmSync(dir, { recursive: true });
    for (const [file, source] of await allPages())
      this.emitFile({ type: "asset", fileName: `help/${file}`, source });
  },
};
