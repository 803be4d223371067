// Checks words that the project does not use, in sources, pages and test titles, and the subjects of commits.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** What a search can find, and what to use instead; the rest is for the reader of a diff. */
const terms = Object.entries({
  "mend(?:s|ed|ing)?": "fix, correct",
  anew: "again, new",
  "pay(?:s|ing)? back|paid back": "refund",
  "in doubt": "outcome unknown",
  "(?:holds?|held) against": "verify against, compare with",
  dear: "expensive",
  begun: "started",
  "left out": "omitted, optional, (default: …)",
  "off a terminal": "non-interactively",
  "(?:some|any|every|no)body": "you, recipient, another process, anyone",
  "that there is not": "unknown (or drop it)",
  astray: "modified, inconsistent",
  "for ever": "permanently, with no limit",
  "(?:goes|went) out": "is sent, was sent",
  "under way": "in progress, in flight",
  "whitelist(?:ed)?": "allowlist, allowed",
}).map(([source, better]) => {
  // A phrase may be on two lines of a comment.
  const phrase = source.replaceAll(" ", "(?:\\s|\\*|//)+");
  return { phrase: new RegExp(`\\b(?:${phrase})\\b`, "gi"), better };
});

/** @param {string} text */
const termsIn = (text) =>
  terms.flatMap(({ phrase, better }) =>
    [...text.matchAll(phrase)].map(({ 0: found, index }) => ({ found, better, index })),
  );

/** @param {string[]} args */
function git(...args) {
  const { error, stdout } = spawnSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (!error) return stdout;
  process.stderr.write("The language check needs git, and a git repository.\n");
  process.exit(1);
}

const isTest = /^test\/.*\.test\.ts$/;
const title = /^ *(?:test|describe|\w+Test)[.\w]*\([^"`]*(?:"[^"\n]+"|`[^`]+`)/gm;
const files = git("ls-files", "--cached", "--others", "--exclude-standard")
  .split("\n")
  .filter((path) => isTest.test(path) || /^(?:src\/.*\.ts|docs\/.*\.md|\w+\.md)$/.test(path))
  .filter((path) => existsSync(path));
const inFiles = files.flatMap((path) => {
  const source = readFileSync(path, "utf8");
  const whole = { 0: source, index: 0 };
  return [...(isTest.test(path) ? source.matchAll(title) : [whole])].flatMap(
    ({ 0: text, index: at }) =>
      termsIn(text).map(({ found, better, index }) => {
        const line = source.slice(0, at + index).split("\n").length;
        return `${path}:${line}: "${found}": use ${better}`;
      }),
  );
});

// Until this commit, subjects had no form. A shallow clone does not have it.
const base = "09651d8938";
const hasBase = git("rev-parse", "-q", "--verify", `${base}^{commit}`) !== "";
const log = git("log", "--no-merges", "--format=%h %s", ...(hasBase ? [`${base}..HEAD`] : []));
const commits = log.split("\n").filter(Boolean);
const form = /^\w{7,} [a-z0-9][a-z0-9/_, -]*: (?<verb>[a-z][a-z-]*) (?<rest>.*[^.])$/;
const inCommits = commits.flatMap((line) => {
  const { verb = "" } = form.exec(line)?.groups ?? {};
  const isImperative = !/(?<!e)ed$|(?<!r)ing$|[^aius]s$/.test(verb);
  const isShort = line.replace(/^\w+ /, "").length <= 60;
  const isGood = verb && isImperative && isShort && termsIn(line).length === 0;
  return isGood ? [] : [`commit ${line}: write "area: verb object", at most 60 characters`];
});

for (const problem of [...inFiles, ...inCommits]) process.stderr.write(`${problem}\n`);
if (inFiles.length + inCommits.length > 0) process.exitCode = 1;
process.stdout.write(`Language: ${files.length} files and ${commits.length} commit subjects.\n`);
