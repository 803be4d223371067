import { spawnSync } from "node:child_process";

/**
 * Returns the output of a git command, or undefined if it fails.
 *
 * @param {string[]} args
 * @returns {string | undefined}
 */
export function git(...args) {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 28 });
  return status === 0 ? stdout : undefined;
}
