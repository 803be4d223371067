import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readyHelp } from "../../src/cli/help/ready.ts";
import { commandLines } from "../../src/cli/help/text.ts";
import { topics } from "../../src/cli/help/topics.ts";
import { groups } from "../../src/commands/groups.ts";
import { commands } from "../../src/commands/index.ts";
import { exits } from "../../src/domain/failure.ts";
import { processHost } from "../../src/platform/host.ts";
import { lenden } from "../run.ts";
import { toolLine } from "../tool.js";

const names = commands.map(({ name }) => name);
const groupNames = [
  ...new Set(
    names.flatMap((name) => {
      const words = name.split(" ");
      return words.slice(1).map((_, index) => words.slice(0, index + 1).join(" "));
    }),
  ),
];
const topicNames = ["topics", ...topics.map(({ name }) => name)];

describe.each(["", ...groupNames, ...names])("the help of 'lenden %s'", (path) => {
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

describe.each(topicNames)("the help on %s", (name) => {
  test("is what it was", async () => {
    const { code, stdout, stderr } = await lenden(["help", name]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await expect(stdout).toMatchFileSnapshot(`__snapshots__/help-${name}.txt`);
  });

  test("hides no command", () => {
    expect([...names, ...groupNames]).not.toContain(name);
  });
});

test.each(["", ...groupNames, ...names, ...topicNames])(
  "the help of '%s' has a sentence, an example, and no line wider than 80 columns",
  async (path) => {
    const { stdout } = await lenden(["help", ...path.split(" ").filter(Boolean)]);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(/^[A-Z][^.]*\.\s|^lenden [^.]*\.\n/);
    expect(stdout).toMatch(/^Examples?$/m);
  },
);

test("the first page fits a screen of 30 lines, and leads to everything", async () => {
  const { stdout } = await lenden([]);
  expect(stdout.split("\n").length).toBeLessThanOrEqual(30);
  for (const name of [...names, ...topicNames]) {
    expect(stdout).toMatch(new RegExp(`\\b${name.split(" ").at(-1)}\\b`));
  }
});

test("every group says what it is for", () => {
  expect([...groups.keys()].sort()).toEqual(groupNames.sort());
});

test("every word of a table in a topic is explained", async () => {
  const codes = (await lenden(["help", "exit-codes"])).stdout;
  for (const { code } of Object.values(exits))
    expect(codes).toMatch(new RegExp(`^  ${code} `, "m"));
  const variables = (await lenden(["help", "environment"])).stdout;
  for (const name of variablesRead()) expect(variables).toMatch(new RegExp(`\\b${name}\\b`));
});

/** The environment variables that the source looks at. */
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

describe("headings", () => {
  const shownOn = async (isTTY: boolean, env: Record<string, string>, more: string[] = []) => {
    const stdout = Object.assign(new PassThrough(), { isTTY });
    await lenden(["pay", "get", "--help", ...more], { env, host: { stdout } });
    return String(stdout.read());
  };

  test.skipIf(!hasScript())("stand out on a real terminal", async () => {
    const line = `${toolLine} pay get --help`;
    const env = { PATH: process.env.PATH, TERM: "xterm" };
    const shown = execFileSync("script", ["-qec", line, "/dev/null"], { encoding: "utf8", env });
    expect(shown).toContain("\u001b[1mUsage:\u001b[22m lenden pay get");
    const plain = stripVTControlCharacters(shown).replaceAll("\r\n", "\n");
    expect(plain).toBe((await lenden(["pay", "get", "--help"])).stdout);
  });

  test.each<[boolean, Record<string, string>, string[]]>([
    [true, { TERM: "xterm" }, []],
    [false, { FORCE_COLOR: "1" }, []],
    [false, {}, ["--color", "always"]],
  ])("stand out where colour is wanted: %j %j %j", async (isTTY, env, more) => {
    expect(await shownOn(isTTY, env, more)).toContain("\u001b[1mUsage:");
  });

  test.each<[boolean, Record<string, string>, string[]]>([
    [false, { TERM: "xterm" }, []],
    [true, { TERM: "dumb" }, []],
    [true, { TERM: "xterm", NO_COLOR: "1" }, []],
    [true, { TERM: "xterm" }, ["--color", "never"]],
  ])("stay plain where it is not: %j %j %j", async (isTTY, env, more) => {
    expect(await shownOn(isTTY, env, more)).not.toContain("\u001b");
  });
});

/** Whether there is a program that runs another one in a terminal of its own. */
function hasScript(): boolean {
  return spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0;
}

test("a group without a command shows its help", async () => {
  for (const group of groupNames) {
    const words = group.split(" ");
    expect(await lenden(words)).toEqual(await lenden([...words, "--help"]));
  }
});

test("every command has an example, and shows it", async () => {
  for (const { name, examples } of commands) {
    const shown = unbroken((await lenden([...name.split(" "), "--help"])).stdout);
    expect([name, examples.length > 0]).toEqual([name, true]);
    for (const { line, says } of examples) {
      expect(shown).toContain(unbroken(line));
      expect(shown).toContain(unbroken(says));
    }
  }
});

test("a command line that is too long is one line to a shell", () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,30}$/);
  const flag = fc
    .tuple(word, word)
    .map(([name, value]) => `--${name.replace(/^\d+/, "x")} ${value}`);
  fc.assert(
    fc.property(fc.array(flag, { maxLength: 12 }), (flags) => {
      const line = ["lenden pay", ...flags].join(" ");
      expect(
        commandLines(line, 78)
          .join("\n    ")
          .replace(/ \\\n +/g, " "),
      ).toBe(line);
    }),
  );
});

/** Text whose lines were put together again. */
function unbroken(text: string): string {
  return text.replace(/ \\\n/g, " ").replace(/\s+/g, " ");
}

test.each([
  ...["", ...groupNames, ...names].flatMap((path) => {
    const words = path.split(" ").filter(Boolean);
    return [[["help", ...words]], [[...words, "--help"]]];
  }),
  ...topicNames.map((name) => [["help", name]]),
])("the built tool has the page of 'lenden %j' ready, and it is the same", async (argv) => {
  const { stdout } = await lenden(argv);
  for (const [env, expected] of [
    [{}, stdout],
    [{ FORCE_COLOR: "1" }, (await lenden(argv, { env: { FORCE_COLOR: "1" } })).stdout],
  ] as const)
    expect(readyHelp(argv, { ...processHost(), env })).toBe(expected);
});

test("whatever is no plain request for help is answered by who knows the commands", () => {
  for (const line of [
    "exit-codes --help",
    "help ../main",
    "pay --help --json",
    "help nothing",
    "pay",
  ])
    expect(readyHelp(line.split(" "), processHost())).toBeUndefined();
});

test.each(["paay --help", "pay craete --help", "--help paay", "payout batch sedn -h"])(
  "lenden %s is answered with what was probably meant, and not with a page",
  async (line) => {
    const { code, stdout, stderr } = await lenden(line.split(" "));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Did you mean");
  },
);
