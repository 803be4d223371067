import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./sbom.ts";

interface Packed {
  filename: string;
  /** Bytes of the archive. */
  size: number;
  files: { path: string; mode: number }[];
}

/**
 * Packs what is built, as npm would publish it: into a folder, or without writing anything. Its
 * scripts stay off, for they would build anew under the feet of the other tests.
 */
export function pack({ from = root, into }: { from?: string; into?: string } = {}): Packed {
  const where = into === undefined ? ["--dry-run"] : ["--pack-destination", into];
  const printed = npm(["pack", "--json", "--ignore-scripts", ...where], from);
  const [packed]: Packed[] = Object.values(JSON.parse(printed));
  if (!packed) throw new Error("npm packed nothing");
  return {
    ...packed,
    filename: into === undefined ? packed.filename : join(into, packed.filename),
  };
}

/** Runs npm outside the tests' own environment: with NODE_ENV=test the bundler prints less. */
export function npm(args: string[], cwd: string): string {
  const { NODE_ENV: _, TEST: __, VITEST: ___, ...env } = process.env;
  return execFileSync("npm", args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}
