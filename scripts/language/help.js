import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

/** @typedef {import("./help-pages.ts").Page} Page */

const mostWords = 9_000;

/**
 * Checks the limits of all help pages: lengths, notation, and the number of words.
 *
 * @returns {Promise<{ words: number, problems: string[] }>}
 */
export async function checkHelp() {
  // Tests of this script run in a repository without the program.
  if (!existsSync("src/cli/help/help.ts")) return { words: 0, problems: [] };
  const pages = await loadPages();
  const problems = pages.flatMap((page) =>
    problemsOf(page).map((problem) => `help of '${`lenden ${page.name}`.trim()}': ${problem}`),
  );
  const words = pages.reduce((sum, { text }) => sum + text.split(/\s+/).filter(Boolean).length, 0);
  if (words > mostWords) problems.push(`help: ${words} words, at most ${mostWords} are allowed`);
  return { words, problems };
}

/** @returns {Promise<Page[]>} */
async function loadPages() {
  const bundle = await rolldown({
    input: resolve(import.meta.dirname, "help-pages.ts"),
    platform: "node",
    external: ["libsql", "@napi-rs/keyring"],
  });
  const directory = mkdtempSync(join(tmpdir(), "lenden-help-"));
  try {
    const file = join(directory, "pages.cjs");
    await bundle.write({ file, format: "cjs", codeSplitting: false });
    const { helpPages } = await import(file);
    return await helpPages();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * @param {Page} page
 * @returns {string[]}
 */
function problemsOf({ summary, text, description, flags, examples, exitCodes }) {
  const comments = Object.keys(examples);
  const sentences = description.match(/[.!?](?=\s|$)/g)?.length ?? 0;
  return [
    ...(/^[A-Z][^.;]*$/.test(summary) && summary.length <= 50
      ? []
      : [`summary "${summary}": one imperative clause of at most 50 characters, no period`]),
    ...(sentences > 4 ? [`description: ${sentences} sentences, at most 4 are allowed`] : []),
    ...(/\nLearn more: lenden help .+\n$/.test(text)
      ? []
      : ['does not end with "Learn more: lenden help …"']),
    ...flags.flatMap(({ usage, about }) =>
      flagProblems(about).map((problem) => `${usage}: ${problem}`),
    ),
    ...(comments.length > 4 ? [`${comments.length} examples, at most 4 are allowed`] : []),
    ...comments
      .filter((comment) => !/^[A-Z][a-z]*[^s]\b/.test(comment) || comment.endsWith("."))
      .map((comment) => `example "${comment}": write an imperative without a period`),
    ...exitCodes
      .filter((meaning) => meaning.split(" ").length > 12)
      .map((meaning) => `exit code "${meaning}": at most 12 words are allowed`),
  ];
}

/** @param {string} about */
function flagProblems(about) {
  // "callback (webhook)" is how a page first mentions it.
  const phrase = about.replace(/ ?\(default: [^()]*\)/, "").replace("(webhooks)", "");
  return [
    ...(phrase.length > 70
      ? [`${phrase.length} characters, at most 70 are allowed: "${phrase}"`]
      : []),
    ...(/[.]$/.test(phrase) ? [`remove the period: "${phrase}"`] : []),
    ...(/[()]/.test(phrase)
      ? [`the only notation is (default: …), and {a | b} for choices: "${phrase}"`]
      : []),
  ];
}
