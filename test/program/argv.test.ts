import { describe, expect, test } from "vitest";
import { globalFlags } from "../../src/cli/args/globals.ts";
import { otherFlags, otherWords } from "../../src/cli/args/other-words.ts";
import { parseArgv } from "../../src/cli/args/parse.ts";
import { flagName } from "../../src/cli/command/flag.ts";
import { entries, loadCommands } from "../../src/commands/index.ts";
import { lenden } from "../support/lenden.ts";
import { type Merchant, openMerchant } from "../support/merchant.ts";

const get = ["pay", "get", "TX1"];

/** Keeps the merchant's account under the name shop. */
async function writeProfile({ apiKey, baseUrl, lenden: run }: Merchant): Promise<void> {
  const argv = ["profile", "add", "shop", "--key-stdin", "--base-url", baseUrl];
  expect(await run(argv, { stdin: apiKey })).toMatchObject({ code: 0 });
}

async function read(argv: string[]) {
  const invocation = await parseArgv(argv);
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
  ])("work %s", async (_, argv) => expect(await read(argv)).toMatchObject(expected));

  test("short ones may stand together", async () => {
    expect((await read([...get, "-qv"])).globals).toEqual({ quiet: [], verbose: [] });
    expect((await read([...get, "-qo", "csv"])).globals).toEqual({ quiet: [], output: ["csv"] });
  });

  test.each([
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
  ])("%j is refused", async (argv, why) => {
    const { code, stdout, stderr } = await lenden(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(why);
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

  test("the same value twice is no contradiction", async () => {
    const env = { LENDEN_PAYOUT_SECRET: "secret" };
    const line = "payout sign --amount 5 --ref A --ref A --timestamp 1763614800".split(" ");
    expect((await lenden(["-q", ...line, "-q"], { env })).code).toBe(0);
  });

  test.each([
    ["-o", "xml", "--output: This is not one of: table, json, ndjson, csv."],
    ["--timeout", "soon", "--timeout: This is not a duration."],
    ["--color", "pink", "--color: This is not one of: auto, always, never."],
  ])("%s %s is refused", async (name, value, why) => {
    const { code, stderr } = await lenden([...get, name, value]);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });

  test("LENDEN_OUTPUT that is no format is refused, unless a flag goes before it", async () => {
    const env = { LENDEN_OUTPUT: "xml" };
    expect((await lenden(["profile", "list"], { env })).stderr).toContain("LENDEN_OUTPUT");
    expect((await lenden(["profile", "list", "--json"], { env })).stdout).toBe("[]\n");
  });
});

describe("values", () => {
  test("may follow a space or an equals sign, and may begin with anything", async () => {
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

  test("what follows -- is an argument, whatever it looks like", async () => {
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

  test.each([
    ["pay", "create", "--amount"],
    ["pay", "create", "--amount", "5", "--note"],
    ["pay", "get", "TX1", "--profile"],
    ["pay", "get", "TX1", "-o"],
  ])("a value that is missing is named: %s %s", async (...argv) => {
    const { code, stderr } = await lenden(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(argv.at(-1) === "-o" ? "--output" : argv.at(-1));
  });

  test("a switch takes none", async () => {
    const { code, stderr } = await lenden(["methods", "--yes=1"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--yes takes no value.")]);
    expect((await lenden(["methods", "--json=yes"])).code).toBe(2);
  });
});

describe("what there is not", () => {
  const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";

  test.each([
    [["methods", `--api-kye=${key}`], "There is no flag '--api-kye'"],
    [["methods", "--api-kye", key], "There is no flag '--api-kye'"],
    [["methods", `--api-key=${key}`], "There is no flag '--api-key'"],
    [["methods", `--${key}`], "There is no flag of that name"],
    [["methods", `-k${key}`], "There is no flag of that name"],
    [["methods", key], "There is an extra argument"],
    [[key], "lenden has no command of that name"],
    [["pay", key], "lenden pay has no command of that name"],
    [["help", key], "There is no command or topic of that name"],
  ])("is not repeated where it may be a secret: %j", async (argv, says) => {
    for (const more of [[], ["--json"]]) {
      const { code, stdout, stderr } = await lenden([...argv, ...more]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(says);
      expect(stderr).not.toContain("ABCDEFGH");
      expect(stderr).not.toContain("sk_sandbox_ABC");
    }
  });

  test.each([
    [["methods", "--profile", key], "There is no profile of that name"],
    [["profile", "use", key.toLowerCase()], "There is no profile of that name"],
    [["profile", "set", "method", "bkash", "--profile", key], "There is no profile of that name"],
  ])("is not repeated as a profile either: %j", async (argv, says) => {
    const { stderr } = await lenden(argv);
    expect(stderr).toContain(says);
    expect(stderr.toLowerCase()).not.toContain("abcdefgh");
  });

  test.each([
    ["a production key as a command", ["public-ABC-ABCDEFGHIJKL-XYZ"]],
    ["a production key in a group", ["pay", "public-ABC-ABCDEFGHIJKL-XYZ"]],
    ["a production key behind a short flag", ["methods", "-kpublic-ABC-ABCDEFGHIJKL-XYZ"]],
    ["a payout secret as a command", ["vgjRgtABCDEFGHIJKLvirxsUs"]],
  ])("is not repeated either: %s", async (_, argv) => {
    const { code, stderr } = await lenden(argv);
    expect(code).toBe(2);
    expect(stderr).not.toContain("ABCDEFGH");
  });

  test.each([
    [["pya", "get"], "lenden has no command 'pya'", "Did you mean 'lenden pay get'?"],
    [["pay", "craete"], "lenden pay has no command 'craete'", "Did you mean 'lenden pay create'?"],
    [["sandbox", "triger"], "lenden sandbox has no command", "'lenden sandbox trigger'?"],
    [
      ["sandbox", "trigger", "paymet"],
      "lenden sandbox trigger has no",
      "'lenden sandbox trigger payment'?",
    ],
    [["completely-other"], "lenden has no command 'completely-other'", "Run 'lenden --help'"],
    [["pay", "completely-other"], "lenden pay has no command", "Run 'lenden pay --help'"],
    [
      ["--jsno", "methods"],
      "There is no flag '--jsno'; did you mean --json?",
      "Run 'lenden --help'",
    ],
    [["--api-key", "x", "methods"], "no flag takes a secret", "Run 'lenden --help'"],
    [
      ["payout", "--amount", "5", "send"],
      "--amount is a flag of a command: put it after the command",
      "",
    ],
    [["help", "payot"], "no command or topic 'payot'", "Did you mean 'lenden help payout'?"],
    [["help", "pay", "craete"], "no command or topic 'pay craete'", "'lenden help pay create'?"],
    [["help", "exit-code"], "no command or topic", "Did you mean 'lenden help exit-codes'?"],
    [["help", "exit", "codes"], "no command or topic", "Did you mean 'lenden help exit-codes'?"],
    [["help", "pay", "create", "now"], "'pay create now'", "'lenden help pay create'?"],
    [["exit-codes"], "lenden has no command", "Did you mean 'lenden help exit-codes'?"],
    [["version"], "lenden has no command", "Did you mean 'lenden --version'?"],
    [["create"], "no command 'create'", "'lenden pay create' or 'lenden refund create'?"],
    [["get", "TX1"], "no command", "'lenden pay get' or 'lenden payout get' or 'lenden refund"],
    [["payout", "create"], "lenden payout has no command", "Did you mean 'lenden payout send'?"],
    [["transfers", "create"], "no command", "Did you mean 'lenden payout send'?"],
    [["charges", "create"], "no command", "Did you mean 'lenden pay create'?"],
    [["refunds", "list"], "no command 'refunds'", "Did you mean 'lenden refund list'?"],
    [["refunds"], "no command 'refunds'", "Did you mean 'lenden refund'?"],
    [["payments", "retrieve", "TX1"], "no command", "Did you mean 'lenden pay get'?"],
    [["batch", "send"], "no command 'batch'", "Did you mean 'lenden payout batch send'?"],
    [["login"], "lenden has no command", "Did you mean 'lenden profile add'?"],
    [["profile", "ls"], "lenden profile has no command", "Did you mean 'lenden profile list'?"],
    [["profile", "delete"], "lenden profile has no", "Did you mean 'lenden profile remove'?"],
  ])("%j gets a suggestion", async (argv, says, hint) => {
    const { code, stdout, stderr } = await lenden(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
    expect(stderr).toContain(hint);
  });

  test.each([
    [["pay", "create", "--amonut", "5"], "'--amonut'; did you mean --amount?"],
    [["payout", "send", "--refrence=INV-7"], "'--refrence'"],
    [["methods", "--jsno"], "'--jsno'; did you mean --json?"],
    [["methods", "--prfile", "shop"], "'--prfile'; did you mean --profile?"],
    [["methods", "--Json"], "'--Json'; did you mean --json?"],
    [["payout", "send", "--reference", "INV-7"], "'--reference'; did you mean --ref?"],
    [["payout", "send", "--recipient=01712345678"], "'--recipient'; did you mean --to?"],
    [["payout", "send", "--phone", "01712345678"], "'--phone'; did you mean --to?"],
    [["pay", "create", "--phone", "01712345678"], "'--phone'; did you mean --payer?"],
    [["pay", "list", "--from", "today"], "'--from'; did you mean --since?"],
    [["methods", "--format", "json"], "'--format'; did you mean --output?"],
    [["methods", "-n"], "'-n'."],
    [["payout", "send", "--idempotency-key", "INV-7"], "'--idempotency-key'; did you mean --ref?"],
    [["profile", "add", "--key-stdn"], "'--key-stdn'; did you mean --key-stdin?"],
    [["profile", "add", "--secret-fil", "x"], "'--secret-fil'; did you mean --secret-file?"],
  ])("%j: the flag gets one too", async (argv, says) => {
    const { code, stderr } = await lenden(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(`There is no flag ${says}`);
  });

  test.each(
    [
      ...["--key", "--api-key", "--apikey", "--API-KEY", "--api_key", "--x-api-key", "--token"],
      ...["--secret", "--payout-secret", "--password", "--api-kye", "--secrt", "--passwrod"],
    ].flatMap((name) => [
      [name, [name, "sk_sandbox_hidden"]] as const,
      [name, [`${name}=sk_hidden`]] as const,
    ]),
  )("%s %j is told that no flag takes a secret, and nothing else", async (name, typed) => {
    const lines = [["payout", "send"], ["refund", "create"], ["profile", "add"], ["methods"]].map(
      (line) => [...line, ...typed],
    );
    for (const line of [...lines, [...typed, "methods"], ["payout", ...typed, "send"]]) {
      const { code, stdout, stderr } = await lenden(line);
      expect([line, code, stdout]).toEqual([line, 2, ""]);
      const says = stderr.split("\n").find((one) => one.includes("no flag takes a secret"));
      const named = /_/.test(name) ? "of that name" : `'${name}'`;
      expect(says?.trim().replace("error: ", "")).toBe(
        `There is no flag ${named}: no flag takes a secret. Store it with 'lenden profile add'.`,
      );
      expect(stderr).not.toMatch(/hidden|did you mean/i);
    }
  });

  test.each([
    ["tcsh", ""],
    ["ksh", ""],
    ["sh", ""],
    ["nu", ""],
    ["bsah", " Did you mean bash?"],
    ["zhs", " Did you mean zsh?"],
    ["fihs", " Did you mean fish?"],
    ["pwsh", " Did you mean powershell?"],
    ["PowerShell", " Did you mean powershell?"],
  ])("completion %s is suggested a shell only if it was mistyped:%s", async (shell, suggestion) => {
    const { code, stderr } = await lenden(["completion", shell]);
    expect(code).toBe(2);
    expect(stderr.split("\n")[0]).toMatch(
      new RegExp(`one of: bash, zsh, fish, powershell\\.${suggestion.replace("?", "\\?")}$`),
    );
  });

  test("the other names of flags are of flags that there are", async () => {
    const flags = (await loadCommands()).flatMap((command) => Object.values(command.flags));
    const names = new Set([...flags, ...Object.values(globalFlags)].map(flagName));
    for (const name of Object.keys(otherFlags)) expect(names).toContain(`--${name}`);
  });

  test("none of the other words is a command that runs", async () => {
    const taken = new Set(entries.flatMap(({ name }) => name.split(" ")));
    for (const word of Object.values(otherWords)
      .flat()
      .filter((one) => !taken.has(one))) {
      const { code, stdout } = await lenden([word]);
      expect({ word, code, stdout }).toEqual({ word, code: 2, stdout: "" });
    }
  });

  test.each([
    [["pay", "list", "--status", "completed"], "Completed, Cancelled. Did you mean Completed?"],
    [["pay", "list", "--status", "canceled"], "Did you mean Cancelled?"],
    [["methods", "-o", "JSON"], "Did you mean json?"],
    [["api", "GTE", "/x"], "Did you mean GET?"],
    [["refund", "create", "--account-type", "busines"], "Did you mean business?"],
    [["payout", "batch", "check", "a.csv", "--delimiter", "semi-colon"], "mean semicolon?"],
    [["sandbox", "set", "payouts", "PO1", "Cancelled"], "Did you mean payout?"],
  ])("%j: one of a few words gets one as well", async (argv, says) => {
    expect((await lenden(argv)).stderr).toContain(says);
  });

  test("a method and a profile that there are not get one", async () => {
    const merchant = await openMerchant();
    const payout = ["payout", "send", "--amount", "5", "--to", "01712345678"];
    const method = await merchant.lenden([...payout, "--method", "bksh"]);
    expect(method.stderr).toContain('no method "bksh". Did you mean bkash?');
    expect(method.stderr).toContain("It has: bkash");
    await writeProfile(merchant);
    const profile = await merchant.lenden(["methods", "--profile", "shpo"]);
    expect(profile.stderr).toContain("There are: shop. Did you mean shop?");
    const used = await merchant.lenden(["profile", "use", "shpo"]);
    expect(used.stderr).toContain("There is no profile shpo. Did you mean shop?");
  });

  test.each(["\u001b[2J", "\u202eyap", "pay\nget", "constructor", "__proto__", "toString"])(
    "the command %j is answered safely",
    async (word) => {
      const { code, stderr } = await lenden([word]);
      expect(code).toBe(2);
      expect(stderr).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
    },
  );

  test("arguments too many are an error", async () => {
    expect((await lenden(["pay", "get", "TX1", "TX2"])).stderr).toContain("an extra argument");
    expect((await lenden(["methods", "a", "b"])).stderr).toContain("2 extra arguments");
    expect((await lenden(["methods", "a"])).stderr).toContain("hint:  Run 'lenden methods --help'");
    expect((await lenden(["methods", "--foo"])).stderr).toContain(
      "hint:  Run 'lenden methods --help'",
    );
    expect((await lenden(["pay", "get", "--", "TX1", "TX2"])).code).toBe(2);
  });
});

test("of two flags that stand for one another both are named", async () => {
  const { code, stderr } = await lenden(["pay", "create", "--method", "bkash", "--method-id", "1"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--method and --method-id cannot be used together.");
});

test("a flag that does nothing without another is refused alone", async () => {
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

test("all problems of one line are reported together, each naming its flag", async () => {
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
  expect(stderr).toContain("an extra argument");
});

test("a value that is missing does not hide the other problems", async () => {
  const { stderr } = await lenden(["payout", "send", "--to", "1712345678", "--amount"]);
  expect(stderr).toContain("--amount");
  expect(stderr).toContain("a leading zero was lost");
});

test.each([
  ["--json", ["nonsense", "--json"]],
  ["-o json", ["nonsense", "-o", "json"]],
  ["--output=json", ["nonsense", "--output=json"]],
  ["ndjson", ["nonsense", "-o", "ndjson"]],
  ["-o json, a missing value", ["pay", "create", "-o", "json", "--amount"]],
])("with %s even a command that there is not is one line of JSON", async (_, argv) => {
  const { code, stderr } = await lenden(argv);
  expect(code).toBe(2);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "usage" } });
});

const promised = [
  ...["kind", "reason", "message", "effect", "hint", "status", "code", "operation", "problems"],
];

test("an error as JSON has the promised fields alone, and never a stack", async () => {
  const { stderr } = await lenden(["pay", "get", "TX1", "--json"]);
  const { error }: { error: Record<string, unknown> } = JSON.parse(stderr);
  expect(error).toMatchObject({ kind: "access" });
  for (const name of Object.keys(error)) {
    expect(promised).toContain(name);
  }
  expect(stderr).not.toMatch(/\bat .*\.ts:/);
});
