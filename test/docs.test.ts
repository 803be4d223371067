import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgsStringToArgv } from "string-argv";
import { describe, expect, test } from "vitest";
import { tortureFaultNames } from "../src/api/contract/fault.ts";
import { parseArgv } from "../src/cli/args/parse.ts";
import { entries } from "../src/commands/index.ts";
import { agentVariables } from "../src/config/agents.ts";
import { exits } from "../src/domain/failure.ts";
import { commandsIn, pages, programsIn, readPage, root, shellLines } from "./support/doc-pages.ts";
import { lenden } from "./support/lenden.ts";

test.each(["README.md", "CONTRIBUTING.md"])("%s has at most 900 words without code", (page) => {
  const words = readPage(page)
    .replaceAll(/```.*?```/gs, "")
    .split(/\s+/)
    .filter(Boolean);
  expect(words.length).toBeLessThanOrEqual(900);
});

test.each(pages)("the links of %s lead somewhere", (page) => {
  const links = [...readPage(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(
    ([, to = ""]) => to,
  );
  const broken = links.filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test("README links every page of docs", () => {
  const readme = readPage("README.md");
  const missing = pages.filter((page) => page.startsWith("docs/") && !readme.includes(`(${page}`));
  expect(missing).toEqual([]);
});

describe("the commands of the documentation", () => {
  const lines = pages.flatMap(shellLines);
  const commands = lines.flatMap(({ page, number, text }) =>
    commandsIn(text).map((command) => [`${page}:${number}`, command] as const),
  );

  test("can be pasted: no <placeholder> that a shell reads as a redirection", () => {
    const redirected = lines.filter(({ text }) => /<[a-z-]+>/.test(text));
    expect(redirected.map(({ page, number }) => `${page}:${number}`)).toEqual([]);
  });

  test.each(commands)("%s: lenden %s is a command, with flags that exist", async (_, command) => {
    const invocation = await parseArgv(parseArgsStringToArgv(command), entries);
    if (invocation.kind === "run") expect(invocation.given.problems).toEqual([]);
  });
});

test("docs/scripting.md says of every exit code what the help says", () => {
  const rows = readPage("docs/scripting.md")
    .split("\n")
    .map((line) => /^\| +(\d+)[\d, ]* +\| (.*?) +\|/.exec(line));
  const means = new Map(rows.map((row) => [row?.[1], row?.[2]]));
  for (const { code, means: meaning } of Object.values(exits))
    expect(means.get(String(code))).toBe(meaning);
});

test("docs/agents.md lists the variables", () => {
  const [, table = ""] =
    /## Variables of agents\n(.*?)\n## /s.exec(readPage("docs/agents.md")) ?? [];
  const listed = [...table.matchAll(/`([A-Z_]+)(?:=([^`]+))?`(?=.*\|$)/gm)]
    .map(([, name = "", value]) => (value === undefined ? name : `${name}=${value}`))
    .filter((name) => !["CURSOR_TRACE_ID", "TERM_PROGRAM"].includes(name));
  const known = agentVariables.flatMap(({ variable, values }) =>
    values ? values.map((value) => `${variable}=${value}`) : [variable],
  );
  expect(listed).toEqual(known);
});

test("docs/test-your-code.md explains each fault of the torture", () => {
  const [, table = ""] =
    /## What each fault teaches\n(.*?)\n## /s.exec(readPage("docs/test-your-code.md")) ?? [];
  const explained = [...table.matchAll(/^\| `([a-z0-9-]+)` +\|/gm)].map(([, name]) => name);
  expect(explained).toEqual(tortureFaultNames);
});

test("docs/test-your-code.md has a program in three languages, with at most 40 lines each", () => {
  const programs = programsIn("docs/test-your-code.md");
  expect([...programs.keys()]).toEqual(["pay.php", "pay.py", "pay.mjs"]);
  for (const text of programs.values()) expect(text.match(/\n/g)?.length).toBeLessThanOrEqual(40);
});

describe("the promise about repeated commands", () => {
  const promise = "Running the same command twice does not pay twice";
  const help = async (...args: string[]) => (await lenden(args)).stdout;

  test.each<[string, () => string | Promise<string>]>([
    ["README", () => readPage("README.md")],
    ["the manual", () => readPage("man/lenden.1")],
    ["help money-safety", () => help("help", "money-safety")],
  ])("comes with its conditions in %s", async (_, text) => {
    const found = plain(await text());
    expect(found).toContain(promise);
    for (const condition of [
      "payout send --ref",
      "24 hours",
      "--again sends a second one",
      "The batch resumes",
      "the ledger of this machine",
    ])
      expect(found).toContain(condition);
  });
});

/** On one line, with a table's columns and the marks of Markdown and roff removed. */
function plain(text: string): string {
  return text.replaceAll("\\-", "-").replaceAll(/[`*]/g, "").replaceAll(/\s+/g, " ");
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  if (!page.endsWith(".md")) return [];
  return [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
}
