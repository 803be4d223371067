import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Builds the tool, so that no test runs an old one. Gives all tests of a run one temporary directory, and
 * removes it with whatever they left in it.
 */
export default function setup(): () => void {
  const script = resolve(import.meta.dirname, "../../scripts/build/build.js");
  execFileSync(process.execPath, [script], { stdio: "inherit" });
  const directory = createInMemory() ?? mkdtempSync(join(tmpdir(), "lenden-run-"));
  const { TMPDIR } = process.env;
  chmodSync(directory, 0o711); // a database server has another user
  process.env.TMPDIR = directory; // workers inherit the environment
  return () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    remove(directory);
  };
}

/** A ledger syncs each write to the disk, which in memory costs nothing. Tests need room, and programs. */
function createInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (bavail * bsize < 2 ** 30) return undefined;
    const directory = mkdtempSync("/dev/shm/lenden-run-");
    try {
      const program = join(directory, "program");
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
      execFileSync(program);
      return directory;
    } catch {
      remove(directory);
      return undefined; // mounted without permission to run programs
    }
  } catch {
    return undefined;
  }
}

function remove(directory: string): void {
  // A process that a test has just stopped may still write its last file.
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
