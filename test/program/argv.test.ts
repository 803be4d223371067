import { describe, expect, test } from "vitest";
import { globalFlags } from "../../src/cli/args/globals.ts";
import { parseArgv } from "../../src/cli/args/parse.ts";
import { otherFlags, otherWords } from "../../src/cli/args/suggest.ts";
import { flagName } from "../../src/cli/command/flag.ts";
import { loadCommands } from "../../src/cli/command/table.ts";
import { entries } from "../../src/commands/index.ts";
import { lenden } from "../support/lenden.ts";

const get = ["pay", "get", "TX1"];

async function read(argv: string[]) {
  const invocation = await parseArgv(argv, entries);
  if (invocation.kind !== "run") throw new Error(`not a run: ${invocation.kind}`);
  const { given, globals } = invocation;
  return {
    name: given.name,
    flags: Object.fromEntries(given.flags),
    arguments: given.arguments,
    problems: given.problems,
    globals: Object.fromEntries(globals),
  };
}

describe("global options", () => {
  const all = "--profile shop --base-url=https://x.example -o json -q --yes --no-input".split(" ");
  const more = ["--timeout", "5s", "--color=never", "-v"];
  const expected = {
    name: "pay get",
    arguments: ["TX1"],
    problems: [],
    globals: {
      profile: ["shop"],
      baseUrl: ["https://x.example"],
      output: ["json"],
      quiet: [],
      yes: [],
      noInput: [],
      timeout: ["5s"],
      color: ["never"],
      verbose: [],
    },
  };

  test.each([
    ["before the command", [...all, ...more, ...get]],
    ["after it", [...get, ...all, ...more]],
    ["in the middle of it", ["pay", ...all, "get", ...more, "TX1"]],
    ["on both sides", [...all, ...get, ...more]],
  ])("are accepted %s", async (_, argv) => expect(await read(argv)).toMatchObject(expected));

  test("a negative number is a value, not an unknown flag", async () => {
    const { arguments: words } = await read(["profile", "set", "confirm-above", "-1"]);
    expect(words).toEqual(["confirm-above", "-1"]);
  });

  test("can be combined in their short form", async () => {
    expect((await read([...get, "-qv"])).globals).toEqual({ quiet: [], verbose: [] });
    expect((await read([...get, "-qo", "csv"])).globals).toEqual({ quiet: [], output: ["csv"] });
  });

  test.each([
    [["--profile"], "Missing value for --profile."],
    [["pay", "-o"], "Missing value for --output."],
    [["--profile", "a", ...get, "--profile", "b"], "--profile is given twice"],
    [
      ["--base-url=https://a.example", ...get, "--base-url=https://b.example"],
      "--base-url is given twice",
    ],
    [["-o", "json", ...get, "--output", "csv"], "--output is given twice"],
    [[...get, "--timeout", "1s", "--timeout", "2s"], "--timeout is given twice"],
    [[...get, "--color", "never", "--color", "always"], "--color is given twice"],
    [[...get, "--json", "-o", "csv"], "--json and --output csv cannot"],
    [["payout", "sign", "--amount", "5", "--ref", "A", "--ref", "B"], "--ref is given twice"],
  ])("%j is rejected", async (argv, why) => {
    const { code, stdout, stderr } = await lenden(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(why);
  });

  test("a required flag without its value is reported once", async () => {
    const { code, stderr } = await lenden(["payout", "sign", "--ref", "A", "--amount"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Missing value for --amount.");
    expect(stderr).not.toContain("Missing required flag");
  });

  test("--print-json of callback listen is --json by another name", async () => {
    const line = ["callback", "listen", "--print-json"];
    expect((await read(line)).globals).toEqual({ json: [] });
    expect((await read([...line, "--json"])).problems).toEqual([]);
    const { code, stderr } = await lenden([...line, "-o", "csv"]);
    expect([code, JSON.parse(stderr).error.message]).toEqual([
      2,
      "--json and --output csv cannot be used together.",
    ]);
    expect((await lenden([...line, "--potr", "1"])).stderr).toMatch(/^\{"error"/);
    expect((await lenden(["methods", "--print-json"])).code).toBe(2);
  });

  test("can be given twice with the same value", async () => {
    const env = { LENDEN_PAYOUT_SECRET: "secret" };
    const line = "payout sign --amount 5 --ref A --ref A --timestamp 1763614800".split(" ");
    expect((await lenden(["-q", ...line, "-q"], { env })).code).toBe(0);
  });

  test.each([
    ["-o", "xml", '--output: "xml" is not one of: table, json, ndjson, csv.'],
    ["--timeout", "soon", '--timeout: "soon" is not a duration.'],
    ["--color", "pink", '--color: "pink" is not one of: auto, always, never.'],
  ])("%s %s is rejected", async (name, value, why) => {
    const { code, stderr } = await lenden([...get, name, value]);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });

  test("an invalid LENDEN_OUTPUT is rejected, unless a flag overrides it", async () => {
    const env = { LENDEN_OUTPUT: "xml" };
    expect((await lenden(["profile", "list"], { env })).stderr).toContain("LENDEN_OUTPUT");
    expect((await lenden(["profile", "list", "--json"], { env })).stdout).toBe("[]\n");
  });
});

describe("values", () => {
  test("follow a space or an equals sign, and can begin with a hyphen", async () => {
    for (const written of [["--note", "-5 = five"], ["--note=-5 = five"]]) {
      expect((await read(["refund", "cancel", "RF1", ...written])).flags).toEqual({
        note: ["-5 = five"],
      });
    }
  });

  test.each(["--yes", "--json", "-v", "--profile=live"])(
    "a value that looks like the global %s is a value",
    async (value) => {
      const { flags, globals } = await read(["refund", "cancel", "RF1", "--note", value]);
      expect({ flags, globals }).toEqual({ flags: { note: [value] }, globals: {} });
    },
  );

  test("after -- everything is an argument", async () => {
    expect(
      await read(["sandbox", "exec", "--seed", "1", "--", "npm", "--version", "--", "-q"]),
    ).toEqual({
      name: "sandbox exec",
      flags: { seed: ["1"], fault: undefined },
      arguments: ["npm", "--version", "--", "-q"],
      problems: [],
      globals: {},
    });
  });

  test("a flag without a value rejects one", async () => {
    const { code, stderr } = await lenden(["methods", "--yes=1"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--yes takes no value.")]);
    expect((await lenden(["methods", "--json=yes"])).code).toBe(2);
  });
});

describe("unknown words", () => {
  const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";

  test.each([
    [["methods", `--api-kye=${key}`]],
    [["methods", "--api-kye", key]],
    [["methods", `--${key}`]],
    [["methods", `-k${key}`]],
    [["methods", key]],
    [[key]],
    [["pay", key]],
    [["help", key]],
  ])("an unknown word that may be a secret is not echoed: %j", async (argv) => {
    for (const more of [[], ["--json"]]) {
      const { code, stdout, stderr } = await lenden([...argv, ...more]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).not.toMatch(/ABCDEFGH|sk_sandbox_ABC/);
    }
  });

  test.each([
    ["a production key as a command", ["public-ABC-ABCDEFGHIJKL-XYZ"]],
    ["a production key behind a short flag", ["methods", "-kpublic-ABC-ABCDEFGHIJKL-XYZ"]],
    ["a payout secret as a command", ["vgjRgtABCDEFGHIJKLvirxsUs"]],
    ["a key as a profile", ["methods", "--profile", key]],
    ["a key in small letters as a profile", ["profile", "use", key.toLowerCase()]],
  ])("%s is not echoed", async (_, argv) => {
    const { code, stderr } = await lenden(argv);
    expect([2, 4]).toContain(code);
    expect(stderr.toLowerCase()).not.toContain("abcdefgh");
  });

  test.each([
    [["pya", "get"], "'lenden pay get'"],
    [["pay", "craete"], "'lenden pay create'"],
    [["sandbox", "trigger", "paymet"], "'lenden sandbox trigger payment'"],
    [["completely-other"], "Run 'lenden --help'"],
    [["pay", "completely-other"], "Run 'lenden pay --help'"],
    [["--jsno", "methods"], "Did you mean --json?"],
    [["payout", "--amount", "5", "send"], "must come after the command"],
    [["help", "pay", "craete"], "'lenden help pay create'"],
    [["help", "exit", "codes"], "'lenden help exit-codes'"],
    [["exit-codes"], "'lenden help exit-codes'"],
    [["create"], "'lenden pay create' or 'lenden refund create'"],
    [["payout", "create"], "'lenden payout send'"],
    [["payments", "retrieve", "TX1"], "'lenden pay get'"],
    [["batch", "send"], "'lenden payout batch send'"],
    [["login"], "'lenden profile add'"],
  ])("%j gets a suggestion", async (argv, suggestion) => {
    const { code, stdout, stderr } = await lenden(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(suggestion);
  });

  test.each([
    [["pay", "create", "--amonut", "5"], "--amount"],
    [["methods", "--prfile", "shop"], "--profile"],
    [["methods", "--Json"], "--json"],
    [["payout", "send", "--reference", "INV-7"], "--ref"],
    [["payout", "send", "--recipient=01712345678"], "--to"],
    [["payout", "send", "--phone", "01712345678"], "--to"],
    [["pay", "create", "--phone", "01712345678"], "--payer"],
    [["profile", "add", "--key-stdn"], "--key-stdin"],
  ])("the unknown flag of %j gets a suggestion: %s", async (argv, flag) => {
    const { code, stderr } = await lenden(argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Did you mean ${flag}?`)]);
  });

  test.each(
    [
      ...["--key", "--api-key", "--apikey", "--API-KEY", "--api_key", "--x-api-key", "--token"],
      ...["--secret", "--payout-secret", "--password", "--api-kye", "--secrt", "--passwrod"],
    ].flatMap((name) => [
      [name, [name, "sk_sandbox_hidden"]] as const,
      [name, [`${name}=sk_hidden`]] as const,
    ]),
  )("%s %j gets the answer that no flag takes a secret, and no suggestion", async (name, typed) => {
    const lines = [["payout", "send"], ["refund", "create"], ["profile", "add"], ["methods"]].map(
      (line) => [...line, ...typed],
    );
    for (const line of [...lines, [...typed, "methods"], ["payout", ...typed, "send"]]) {
      const { code, stdout, stderr } = await lenden(line);
      expect([line, code, stdout]).toEqual([line, 2, ""]);
      const says = stderr.split("\n").find((one) => one.includes("no flag takes a secret"));
      const named = /_/.test(name) ? "" : ` '${name}'`;
      expect(says).toContain(
        `Unknown flag${named}: no flag takes a secret. 'lenden profile add' reads it from a prompt, a file or standard input.`,
      );
      expect(stderr).not.toMatch(/hidden|did you mean/i);
    }
  });

  test("every alternative flag name leads to a flag", async () => {
    const flags = (await loadCommands(entries)).flatMap((command) => Object.values(command.flags));
    const names = new Set([...flags, ...Object.values(globalFlags)].map(flagName));
    for (const name of Object.keys(otherFlags)) expect(names).toContain(`--${name}`);
  });

  test("no alternative word runs a command", async () => {
    const taken = new Set(entries.flatMap(({ name }) => name.split(" ")));
    for (const word of Object.values(otherWords)
      .flatMap((words) => words.split(" "))
      .filter((one) => !taken.has(one))) {
      const { code, stdout } = await lenden([word]);
      expect({ word, code, stdout }).toEqual({ word, code: 2, stdout: "" });
    }
  });

  test.each([
    [["pay", "list", "--status", "canceled"], "Did you mean Cancelled?"],
    [["api", "GTE", "/x"], "Did you mean GET?"],
    [["sandbox", "set", "payouts", "PO1", "Cancelled"], "Did you mean payout?"],
  ])("%j gets a suggestion for its value", async (argv, suggestion) => {
    expect((await lenden(argv)).stderr).toContain(suggestion);
  });

  test.each(["\u001b[2J", "\u202eyap", "pay\nget", "constructor", "__proto__", "toString"])(
    "the command %j puts no control character into the error",
    async (word) => {
      const { code, stderr } = await lenden([word]);
      expect(code).toBe(2);
      expect(stderr).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
    },
  );
});

test("two flags that exclude each other are both named", async () => {
  const { code, stderr } = await lenden(["pay", "create", "--method", "bkash", "--method-id", "1"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--method and --method-id cannot be used together.");
  const printed = await lenden("ledger init postgres://a@b/c --print-sql --ledger-ca d".split(" "));
  expect(printed).toMatchObject({ code: 2, stdout: "" });
  expect(printed.stderr).toContain("--ledger-ca and --print-sql cannot be used together.");
  expect(printed.stderr).toContain("<url> and --print-sql cannot be used together.");
});

test("a flag that depends on another is rejected alone", async () => {
  const line = "payout send --amount 500 --to 01712345678 --method bkash --wait-timeout 5s".split(
    " ",
  );
  const { code, stderr } = await lenden([...line, "--interval", "1s"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--wait-timeout needs --wait.");
  expect(stderr).toContain("--interval needs --wait.");
  expect((await lenden([...line, "--wait"])).stderr).not.toContain("needs --wait");
  expect((await lenden("pay wait TX1 --wait-timeout 5s".split(" "))).stderr).not.toContain(
    "needs --wait",
  );
});

test("all problems of a command are reported together, each with its flag", async () => {
  const { code, stderr } = await lenden(
    "payout send --amount 1,250 --to 1712345678 --ref a:b --nmae x --timeout soon -o xml extra".split(
      " ",
    ),
  );
  expect(code).toBe(2);
  const lines = stderr.trim().split("\n");
  for (const name of ["--nmae", "--amount", "--to", "--method", "--ref", "--timeout", "--output"]) {
    expect([name, lines.filter((line) => line.includes(name)).length]).toEqual([name, 1]);
  }
  expect(stderr).toContain("Unexpected argument 'extra': 'lenden payout send'");
});
