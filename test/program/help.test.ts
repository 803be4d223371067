import { parseArgsStringToArgv } from "string-argv";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import type { Context } from "../../src/frame/context.ts";
import { readTyped } from "../../src/frame/input.ts";
import { readArgv } from "../../src/program/argv.ts";
import { readGlobals } from "../../src/program/globals.ts";
import { lenden } from "../run.ts";

const names = commands.map(({ name }) => name);
const groups = [
  ...new Set(
    names.flatMap((name) => {
      const words = name.split(" ");
      return words.slice(1).map((_, index) => words.slice(0, index + 1).join(" "));
    }),
  ),
];

describe.each(["", ...groups, ...names])("the help of 'lenden %s'", (path) => {
  const words = path === "" ? [] : path.split(" ");

  test("is what it was", async () => {
    const { code, stdout, stderr } = await lenden([...words, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const file = path === "" ? "lenden" : path.replaceAll(" ", "-");
    await expect(stdout).toMatchFileSnapshot(`__snapshots__/${file}.txt`);
  });

  test("is the same by every way to it", async () => {
    const { stdout } = await lenden([...words, "--help"]);
    for (const argv of [
      ["help", ...words],
      [...words, "-h"],
      ["--help", ...words],
    ]) {
      expect(await lenden(argv)).toEqual({ code: 0, stdout, stderr: "" });
    }
  });
});

test("a group without a command shows its help", async () => {
  for (const group of groups) {
    const words = group.split(" ");
    expect(await lenden(words)).toEqual(await lenden([...words, "--help"]));
  }
});

const examples = commands.flatMap(({ name, examples: own }) =>
  own.map(({ line }) => [name, line] as const),
);

test("every command has an example, and shows it", async () => {
  for (const { name, examples: own } of commands) {
    const { stdout } = await lenden([...name.split(" "), "--help"]);
    expect([name, own.length > 0]).toEqual([name, true]);
    for (const { line, says } of own) {
      expect(stdout).toContain(line);
      expect(stdout).toContain(says);
    }
  }
});

test.each(examples)("%s: the example %s is one that works", async (name, line) => {
  const argv = parseArgsStringToArgv(line.replace(/^\w+=\$\((.*)\)$/, "$1"));
  expect(argv.shift()).toBe("lenden");
  const invocation = await readArgv(argv, commands);
  if (invocation.kind !== "run") throw new Error(`this is ${invocation.kind}`);
  expect(invocation.command.name).toBe(name);
  expect(readGlobals(invocation.globals, {}).problems).toEqual([]);
  const { command, given } = invocation;
  const { problems, missing } = await readTyped(command, given, settled);
  expect([...problems, ...missing.values()]).toEqual([]);
});

/** Settings in which every value that a profile can hold is there. */
const settled: Pick<Context, "settings"> = {
  settings: async () => {
    const of = (value: string) => ({ value, source: "test" });
    return {
      profile: undefined,
      environment: undefined,
      baseUrl: undefined,
      apiKey: undefined,
      payoutSecret: undefined,
      redirectUrl: of("https://shop.example/thanks"),
      callbackUrl: of("https://shop.example/callback"),
      method: undefined,
      numberFormat: { value: "local", source: "default" },
      shadows: [],
    };
  },
};
