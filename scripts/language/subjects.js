import { git } from "./git.js";
import { findTerms } from "./terms.js";

/** The last commit before subjects had a form. */
const base = "09651d8";

const verbsInEd =
  /^(?:bleed|breed|embed|exceed|feed|heed|need|proceed|seed|shed|speed|succeed|weed)$/;
const verbsInIng = /^(?:bring|cling|ping|ring|sling|spring|string|swing|wring)$/;

/**
 * Checks the subject of every commit after the base. If the base is not in the repository (a shallow
 * clone), all commits that are there come after it.
 *
 * @returns {{ checked: number, problems: string[] }}
 */
export function checkSubjects() {
  const hasBase = git("merge-base", "--is-ancestor", base, "HEAD") !== undefined;
  const range = hasBase ? `${base}..HEAD` : "HEAD";
  const log = git("log", "--no-merges", "--format=%h %s", range) ?? "";
  const commits = log.split("\n").filter((line) => line !== "");
  const problems = commits.flatMap((line) => {
    const [commit = "", ...words] = line.split(" ");
    const subject = words.join(" ");
    return problemsOf(subject).map((problem) => `commit ${commit}: "${subject}": ${problem}`);
  });
  return { checked: commits.length, problems };
}

/**
 * @param {string} subject
 * @returns {string[]}
 */
function problemsOf(subject) {
  const problems = findTerms(subject).map(({ word, better }) => `"${word}": use ${better}`);
  if (subject.length > 60) problems.push(`${subject.length} characters, at most 60 are allowed`);
  if (subject.endsWith(".")) problems.push("remove the period at the end");
  const [, verb] = /^[a-z0-9][a-z0-9/_, -]*: ([a-z][a-z-]*) \S/.exec(subject) ?? [];
  if (verb === undefined) {
    problems.push('write "area: verb object", such as "batch: reject changed files on resume"');
  } else if (!isImperative(verb)) {
    problems.push(`"${verb}" is not an imperative: write "add", not "added", "adding" or "adds"`);
  }
  return problems;
}

/** @param {string} word */
function isImperative(word) {
  if (word.endsWith("ed")) return verbsInEd.test(word);
  if (word.endsWith("ing")) return verbsInIng.test(word);
  return !/[^aius]s$/.test(word);
}
