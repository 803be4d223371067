import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "../..");

/** Writes man/ from the help, for the package. */
export const manPages = {
  name: "man-pages",
  async generateBundle() {
    const bundle = await rolldown({
      input: `${root}/scripts/build/man.ts`,
      platform: "node",
      external: ["libsql", "@napi-rs/keyring"],
    });
    const directory = mkdtempSync(join(tmpdir(), "lenden-man-"));
    try {
      const file = join(directory, "man.cjs");
      await bundle.write({ file, format: "cjs", codeSplitting: false });
      const { manual } = await import(file);
      const { version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
      rmSync(`${root}/man`, { recursive: true, force: true });
      mkdirSync(`${root}/man`);
      for (const { file, roff } of await manual(version))
        writeFileSync(`${root}/man/${file}`, roff);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};
