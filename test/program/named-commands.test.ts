import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgsStringToArgv } from "string-argv";
import { expect, test } from "vitest";
import { parseArgv } from "../../src/cli/args/parse.ts";
import { topics } from "../../src/cli/help/topics.ts";
import { entries } from "../../src/commands/index.ts";

const source = resolve(import.meta.dirname, "../../src");
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

/** Every command line that a hint, a notice or a help text names. */
const told = files.flatMap((name) => {
  const text = readFileSync(join(source, name), "utf8");
  return [...text.matchAll(/'lenden ([^'`$\n]+)'/g)].map(([, line = ""]) => line);
});

test.each([...new Set(told)])("the command in a hint exists: lenden %s", async (line) => {
  const argv = parseArgsStringToArgv(line);
  if (/^<(?:command|anything)>/.test(line)) return;
  const invocation = await parseArgv(argv, entries);
  if (invocation.kind === "help") return expect(isHelp(invocation.path)).toBe(true);
  if (invocation.kind !== "run") throw new Error(`this is ${invocation.kind}`);
  const { command, given } = invocation;
  expect(given.problems).toEqual([]);
  for (const [index, { read }] of Object.values(command.arguments).entries()) {
    const typed = given.arguments[index];
    if (typed !== undefined && read.words) expect(read.words).toContain(typed);
  }
});

function isHelp(path: string): boolean {
  const isCommand = entries.some(({ name }) => name === path);
  return (
    isCommand ||
    ["", "topics", "json", "<topic>"].includes(path) ||
    topics.some(({ name }) => name === path)
  );
}
