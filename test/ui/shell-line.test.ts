import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellLine } from "../../src/cli/output/shell-line.ts";
import { runs } from "../runs.ts";

/** What the shells of this machine make of the lines: the words of each, NUL after every word. */
function wordsOf(shell: string, lines: string[]): string[][] {
  const script = lines.map((line) => `p ${line}`).join("\n");
  const told = spawnSync(shell, ["-c", `p() { printf '%s\\0' "$@"; printf '\\0'; }\n${script}`]);
  const all = told.stdout.toString("utf8").split("\0\0");
  return all.slice(0, -1).map((words) => words.split("\0"));
}

test.each([
  ["lenden pay get TX1", ["lenden", "pay", "get", "TX1"]],
  ["--note 'it'\\''s damaged'", ["--note", "it's damaged"]],
  ["--amount 250.25 --since 2026-11-20", ["--amount", "250.25", "--since", "2026-11-20"]],
  ["--note ''", ["--note", ""]],
  ["'$HOME' '`id`' '~' '=ls' '!1'", ["$HOME", "`id`", "~", "=ls", "!1"]],
])("%s", (line, words) => {
  expect(shellLine(words)).toBe(line);
});

test.each(["sh", "bash"])(
  "%s takes every line apart into the words that it was made of",
  (shell) => {
    const word = fc
      .oneof(
        fc.string({ unit: "binary", minLength: 1 }),
        fc.string({ unit: fc.constantFrom(..."'\"\\$`!~#&|;<>()*?[]{}=\n\t -a1"), minLength: 1 }),
      )
      .filter((text) => !text.includes("\0"));
    const lines = fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(lines, (all) => {
        expect(wordsOf(shell, all.map(shellLine))).toEqual(all);
      }),
      { numRuns: runs(15, 80) },
    );
  },
  120_000,
);
