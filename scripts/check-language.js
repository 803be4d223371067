// Checks the language of the project: words that it does not use, commit subjects, and the help pages.

import { existsSync, readFileSync } from "node:fs";
import { git } from "./language/git.js";
import { checkHelp } from "./language/help.js";
import { proseOf } from "./language/prose.js";
import { checkSubjects } from "./language/subjects.js";
import { findTerms } from "./language/terms.js";

const isChecked =
  /^(?:(?:bin|scripts|src|test)\/.*\.(?:[cm]?[jt]s|sh)|[^/]+\.(?:[cm]?[jt]s|md)|docs\/.*\.md|package\.json|\.ci\/run)$/;
const isFixture = /^test\/fixtures\//;

const listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard");
if (listed === undefined) {
  process.stderr.write("The language check needs git, and a git repository.\n");
  process.exit(1);
}

const paths = [...new Set(listed.split("\0"))]
  .filter((path) => isChecked.test(path) && !isFixture.test(path) && existsSync(path))
  .sort();
const subjects = checkSubjects();
const help = await checkHelp();
const problems = [...paths.flatMap(problemsIn), ...subjects.problems, ...help.problems];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else {
  process.stdout.write(
    `Language: ${paths.length} files, ${subjects.checked} commit subjects and ${help.words} words of help checked.\n`,
  );
}

/**
 * The words of a file that the project does not use.
 *
 * @param {string} path
 * @returns {string[]}
 */
function problemsIn(path) {
  const source = readFileSync(path, "utf8");
  const { prose: texts, error } = proseOf(path, source);
  if (error !== undefined) return [`${path}: cannot parse this file: ${error}`];
  return texts
    .flatMap(({ at, text }) => findTerms(text).map((term) => ({ ...term, at: at + term.at })))
    .sort((a, b) => a.at - b.at)
    .map(({ at, word, better }) => {
      const line = source.slice(0, at).split("\n").length;
      return `${path}:${line}: "${word}": use ${better}`;
    });
}
