import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { git } from "./git.js";

const file = "scripts/language-limits.json";

/** @typedef {Map<string, number>} Limits How many terms each file may have. */

/**
 * Compares counts with limits. A file without a limit must have no terms. A count below its limit is a
 * problem too, so that the limit falls with it. The sum of all limits may only fall; a moved file takes its
 * limit along.
 *
 * @param {Map<string, number>} counts
 * @returns {{ isAbove: (path: string) => boolean, problems: string[] }}
 */
export function checkLimits(counts) {
  const limits = readLimits();
  const total = sumOf(limits.values());
  const lowest = lowestCommittedTotal() ?? total;
  const problems = [];
  if (total > lowest)
    problems.push(
      `${file}: allows ${total} terms, but allowed ${lowest} before. It may only fall.`,
    );
  for (const [path, limit] of limits) {
    const count = counts.get(path) ?? 0;
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

/** The lowest sum of limits in any commit; undefined if no limits are committed yet. */
function lowestCommittedTotal() {
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
  const commits = (log ?? "").split(/^commit$/m).slice(1);
  if (commits.length === 0) return undefined;
  let total = 0;
  const totals = commits.map((commit) => {
    total += sumOf(changedLimits(commit, "+")) - sumOf(changedLimits(commit, "-"));
    return total;
  });
  return Math.min(...totals);
}

/**
 * The limits in the added or removed lines of a patch.
 *
 * @param {string} patch
 * @param {"+" | "-"} sign
 */
function changedLimits(patch, sign) {
  const lines = patch.matchAll(/^([+-]) {2}"[^"]+": (\d+),?$/gm);
  return [...lines].filter(([, lineSign]) => lineSign === sign).map(([, , limit]) => Number(limit));
}

/** @param {Iterable<number>} numbers */
function sumOf(numbers) {
  return [...numbers].reduce((sum, number) => sum + number, 0);
}
