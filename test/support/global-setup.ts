import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Builds the tool, so that no test runs an old one. Gives all tests of a run one temporary directory, and
 * removes it with whatever they left in it.
 */
export default function setup(): () => void {
  const script = resolve(import.meta.dirname, "../../scripts/build/build.js");
  execFileSync(process.execPath, [script], { stdio: "inherit" });
  const directory = mkdtempSync(join(tmpdir(), "lenden-run-"));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = directory; // workers inherit the environment
  return () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    // A process that a test has just stopped may still write its last file.
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
}
