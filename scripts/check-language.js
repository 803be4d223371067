// Counts words that this project does not use, and checks the subjects of commits.
//
//   node scripts/check-language.js            fails if a file has more than its limit allows
//   node scripts/check-language.js --lower    lowers the limits to what is left, then checks

import { existsSync, readFileSync } from "node:fs";
import { git } from "./language/git.js";
import { checkLimits, lowerLimits } from "./language/limits.js";
import { proseOf } from "./language/prose.js";
import { checkSubjects } from "./language/subjects.js";
import { findTerms } from "./language/terms.js";

const isChecked =
  /^(?:(?:bin|scripts|src|test)\/.*\.(?:[cm]?[jt]s|sh)|[^/]+\.(?:[cm]?[jt]s|md)|docs\/.*\.md|package\.json|\.ci\/run)$/;
const isFixture = /^test\/fixtures\/|\/__snapshots__\//;

const listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard");
if (listed === undefined) {
  process.stderr.write("The language check needs git, and a git repository.\n");
  process.exit(1);
}

/** @type {string[]} */
const unreadable = [];
const found = [...new Set(listed.split("\0"))]
  .filter((path) => isChecked.test(path) && !isFixture.test(path) && existsSync(path))
  .sort()
  .flatMap((path) => termsIn(path));

/** @type {Map<string, number>} */
const counts = new Map();
for (const { path } of found) counts.set(path, (counts.get(path) ?? 0) + 1);

if (process.argv.includes("--lower")) lowerLimits(counts);
const { isAbove, problems } = checkLimits(counts);
const subjects = checkSubjects();

const lines = [
  ...found
    .filter(({ path }) => isAbove(path))
    .map(({ path, line, word, better }) => `${path}:${line}: "${word}": use ${better}`),
  ...unreadable,
  ...problems,
  ...subjects.problems,
];
for (const line of lines) process.stderr.write(`${line}\n`);
if (lines.length > 0) process.exitCode = 1;
else {
  process.stdout.write(
    `Language: ${found.length} words to replace in ${counts.size} files, none new. ${subjects.checked} commit subjects checked.\n`,
  );
}

/** @param {string} path */
function termsIn(path) {
  const source = readFileSync(path, "utf8");
  const { prose: texts, error } = proseOf(path, source);
  if (error !== undefined) unreadable.push(`${path}: cannot parse this file: ${error}`);
  return texts
    .flatMap((prose) => findTerms(prose.text).map((term) => ({ ...term, at: prose.at + term.at })))
    .sort((a, b) => a.at - b.at)
    .map(({ at, word, better }) => ({
      path,
      line: source.slice(0, at).split("\n").length,
      word,
      better,
    }));
}
