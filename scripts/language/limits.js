import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { git } from "./git.js";

const file = "scripts/language-limits.json";

/** @typedef {Map<string, number>} Limits How many terms each file may have. */

/**
 * Compares counts with limits. A file without a limit must have no terms. A count below its limit
 * is a problem too, so that the limit falls with it.
 *
 * @param {Map<string, number>} counts
 * @returns {{ isAbove: (path: string) => boolean, problems: string[] }}
 */
export function checkLimits(counts) {
  const limits = readLimits();
  const lowest = lowestCommitted();
  const problems = [];
  for (const [path, limit] of limits) {
    const count = counts.get(path) ?? 0;
    const earlier = lowest?.get(path) ?? (lowest === undefined ? limit : 0);
    if (limit > earlier) {
      problems.push(
        `${file}: ${path} may have ${limit}, but its limit was ${earlier} before. A limit may only fall.`,
      );
    }
    if (count < limit) {
      problems.push(
        `${path}: ${count} left, ${limit} allowed. Run 'npm run language -- --lower' and commit ${file}.`,
      );
    }
  }
  const isAbove = (/** @type {string} */ path) => (counts.get(path) ?? 0) > (limits.get(path) ?? 0);
  for (const [path, count] of counts) {
    if (isAbove(path)) problems.push(`${path}: ${count} found, ${limits.get(path) ?? 0} allowed.`);
  }
  return { isAbove, problems };
}

/**
 * Lowers each limit to its file's count, and drops limits of zero. Without a file of limits, the
 * counts become the limits.
 *
 * @param {Map<string, number>} counts
 */
export function lowerLimits(counts) {
  const limits = existsSync(file) ? readLimits() : counts;
  const lowered = [...limits]
    .map(([path, limit]) => /** @type {const} */ ([path, Math.min(limit, counts.get(path) ?? 0)]))
    .filter(([, limit]) => limit > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
}

/** @returns {Limits} */
function readLimits() {
  return existsSync(file)
    ? new Map(Object.entries(JSON.parse(readFileSync(file, "utf8"))))
    : new Map();
}

/**
 * The lowest limit that each file ever had in a commit; undefined if no limits are committed yet.
 *
 * @returns {Limits | undefined}
 */
function lowestCommitted() {
  const log = git(
    "log",
    "--reverse",
    "--format=tformat:commit",
    "-U0",
    "--no-color",
    "--no-ext-diff",
    "--",
    file,
  );
  const [first, ...later] = (log ?? "").split(/^commit$/m).slice(1);
  if (first === undefined) return undefined;
  const lowest = changedLimits(first, "+");
  for (const commit of later) {
    const added = changedLimits(commit, "+");
    for (const [path, limit] of added) lowest.set(path, Math.min(limit, lowest.get(path) ?? 0));
    for (const path of changedLimits(commit, "-").keys()) if (!added.has(path)) lowest.set(path, 0);
  }
  return lowest;
}

/**
 * The limits in the added or removed lines of a patch.
 *
 * @param {string} patch
 * @param {"+" | "-"} sign
 * @returns {Limits}
 */
function changedLimits(patch, sign) {
  const lines = patch.matchAll(/^([+-]) {2}("[^"]+"): (\d+),?$/gm);
  return new Map(
    [...lines]
      .filter(([, lineSign]) => lineSign === sign)
      .map(([, , path, limit]) => [JSON.parse(path), Number(limit)]),
  );
}
