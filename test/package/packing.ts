import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

interface Packed {
  filename: string;
  /** Bytes of the archive. */
  size: number;
  files: { path: string; mode: number }[];
}

/** Packs what is built, as npm would publish it: into a directory, or without writing anything. */
export function pack({ from = root, into }: { from?: string; into?: string } = {}): Packed {
  const target = into === undefined ? ["--dry-run"] : ["--pack-destination", into];
  // Without scripts, because they would build again while other tests run the tool.
  const printed = npm(["pack", "--json", "--ignore-scripts", ...target], from);
  const [packed]: Packed[] = Object.values(JSON.parse(printed));
  if (!packed) throw new Error("npm packed nothing");
  return { ...packed, filename: into ? join(into, packed.filename) : packed.filename };
}

/** Runs npm without the environment of the tests: with NODE_ENV=test the bundler prints less. */
export function npm(args: string[], cwd: string): string {
  const { NODE_ENV: _, TEST: __, VITEST: ___, ...env } = process.env;
  return execFileSync("npm", args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}
