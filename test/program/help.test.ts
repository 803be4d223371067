import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { flagName } from "../../src/cli/command/flag.ts";
import { loadCommands } from "../../src/cli/command/table.ts";
import { topics } from "../../src/cli/help/topics.ts";
import { entries } from "../../src/commands/index.ts";
import { exits } from "../../src/domain/failure.ts";
import { lenden } from "../support/lenden.ts";

const commands = await loadCommands(entries);
const names = entries.map(({ name }) => name);

test.each(["", ...names])("'lenden %s --help' is the same page in every form", async (path) => {
  const words = path.split(" ").filter(Boolean);
  const page = await lenden([...words, "--help"]);
  expect(page).toMatchObject({ code: 0, stderr: "" });
  for (const argv of [
    ["help", ...words],
    [...words, "-h"],
    ["--help", ...words],
  ])
    expect(await lenden(argv)).toEqual(page);
});

test("the first page and the groups lead to every command", async () => {
  const root = (await lenden([])).stdout;
  for (const { name, heading } of entries) {
    if (heading) expect(root).toMatch(new RegExp(`^  ${name}  `, "m"));
    const group = name.split(" ").slice(0, -1);
    if (group.length > 0)
      expect((await lenden(["help", ...group])).stdout).toMatch(
        new RegExp(`^  ${name.split(" ").at(-1)}  `, "m"),
      );
    else expect(heading).toBeDefined();
  }
});

test("every command shows its examples and all of its flags", async () => {
  for (const { name, examples, flags } of commands) {
    const { stdout } = await lenden(["help", ...name.split(" ")]);
    expect([name, Object.keys(examples).length > 0]).toEqual([name, true]);
    for (const command of Object.values(examples)) expect(stdout).toContain(`\n  ${command}\n`);
    for (const flag of Object.values(flags)) expect(stdout).toContain(flagName(flag));
  }
});

test("the help of every list names its columns", async () => {
  const lists = commands.filter(({ flags }) => "columns" in flags);
  expect(lists).toHaveLength(6);
  for (const { name, flags } of lists) {
    const { stdout } = await lenden(["help", ...name.split(" ")]);
    const words = Object.values(flags).flatMap(({ read }) => (read.isList ? read.words : []));
    expect(stdout.replace(/\s+/g, " ")).toContain(`Columns ${words.join(", ")}`);
  }
});

test("a group without a command shows its help", async () => {
  for (const { name, load } of entries) {
    const words = name.split(" ");
    if (!load) expect(await lenden(words)).toEqual(await lenden([...words, "--help"]));
  }
});

test("every exit code and every environment variable is explained", async () => {
  const codes = (await lenden(["help", "exit-codes"])).stdout;
  for (const { code } of Object.values(exits))
    expect(codes).toMatch(new RegExp(`^  ${code} `, "m"));
  const variables = (await lenden(["help", "flags"])).stdout;
  for (const name of variablesRead()) expect(variables).toMatch(new RegExp(`\\b${name}\\b`));
});

/** The environment variables that the source reads. */
function variablesRead(): string[] {
  const root = resolve(import.meta.dirname, "../../src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("cli/help"))
    .map((name) => readFileSync(join(root, name), "utf8"));
  const found = files.flatMap((text) => [
    ...text.matchAll(/\benv\.([A-Z_]+)\b|\b(LENDEN_[A-Z_]*[A-Z])\b/g),
  ]);
  return [...new Set(found.map(([, one, other]) => one ?? other ?? ""))];
}

describe("the limits of help", () => {
  const pages = [...entries, ...topics];

  test.each(pages)("a summary is one clause: $name", ({ summary }) => {
    expect(summary).toMatch(/^[A-Z][^.;]{1,49}$/);
  });

  test("all pages together stay readable, and each names what to read next", async () => {
    const texts = await Promise.all(
      ["", ...pages.map(({ name }) => name)].map(
        async (path) => (await lenden(["help", ...path.split(" ").filter(Boolean)])).stdout,
      ),
    );
    for (const text of texts) expect(text).toMatch(/\nLearn more: lenden help .+\n$/);
    expect(texts.join(" ").split(/\s+/).length).toBeLessThan(10_400);
  });

  test.each(commands)(
    "$name: descriptions, flags, examples and exit codes are short",
    (command) => {
      const { description = "", examples, exitCodes = {} } = command;
      expect(description.match(/[.!?](?=\s|$)/g)?.length ?? 0).toBeLessThanOrEqual(4);
      for (const { about } of Object.values({ ...command.arguments, ...command.flags })) {
        // "callback (webhook)" is how a page first mentions it.
        const phrase = about.replace(/ ?\(default: [^()]*\)/, "").replace("(webhooks)", "");
        expect(phrase).toMatch(/^[^()]{1,69}[^().]$/);
      }
      expect(Object.keys(examples).length).toBeLessThanOrEqual(4);
      for (const comment of Object.keys(examples))
        expect(comment).toMatch(/^[A-Z][a-z]*[^s.]\b.*[^.]$/);
      for (const meaning of Object.values(exitCodes))
        expect(meaning.split(" ").length).toBeLessThanOrEqual(12);
    },
  );
});
