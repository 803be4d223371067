import { spawnSync } from "node:child_process";
import { extname } from "node:path";

/** By the end of a program's name. */
const interpreters: Record<string, string> = { ".php": "php", ".py": "python3", ".sh": "bash" };

/** The interpreter of a program, and the program. */
export function interpreted(path: string): [string, string] {
  return [interpreters[extname(path)] ?? process.execPath, path];
}

/** What a test of a program in this language needs; PHP's `curl` is a package of its own. */
const checks: Record<string, string[]> = {
  php: ["-r", "curl_version();"],
  python3: ["--version"],
};

/**
 * True if a test has to be skipped because an interpreter is missing. The gate installs each, so there the test fails.
 *
 * @param program the interpreter, or a program for it
 */
export function isMissing(program: string): boolean {
  const interpreter = interpreters[extname(program)] ?? program;
  const check = checks[interpreter];
  return (
    process.env.CI === undefined &&
    check !== undefined &&
    spawnSync(interpreter, check).status !== 0
  );
}
