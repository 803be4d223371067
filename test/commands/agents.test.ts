import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { flagName } from "../../src/cli/command/flag.ts";
import { loadCommands } from "../../src/cli/command/table.ts";
import { entries } from "../../src/commands/index.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built, errorOf, lenden, typedBy } from "../support/lenden.ts";
import { openMerchant, paymentOf, payoutNumber, payoutOf } from "../support/merchant.ts";
import { openPrompts } from "../terminal/terminal.ts";
import { tool } from "../tool.js";

const agent = { CLAUDECODE: "1" };
const commands = await loadCommands(entries);

/** What an agent may not do: a command, or its flag. */
const denied = commands.flatMap(({ name, needsPerson, flags }) => [
  ...(needsPerson === undefined ? [] : [name]),
  ...Object.values(flags)
    .filter((flag) => flag.needsPerson !== undefined)
    .map((flag) => `${name} ${flagName(flag)}`),
]);

test("an agent may not do what only a person decides", () => {
  expect(denied.toSorted()).toEqual([
    "api --again",
    "demo --ledger",
    "ledger check --accept",
    "ledger check --accept-file",
    "ledger check --accept-hash",
    "ledger init",
    "ledger move",
    "ledger resolve --not-created",
    "ledger restore",
    "limits set",
    "pay create --again",
    "payout batch check --allow-duplicates",
    "payout batch resolve --not-created",
    "payout batch send --allow-duplicates",
    "payout send --again",
    ...["add", "remove", "rename", "rotate", "set", "use"].map((name) => `profile ${name}`),
    "refund create --again",
  ]);
});

test("every flag of these names is for people only", () => {
  const names = ["--again", "--allow-duplicates", "--not-created", "--accept-file"];
  for (const { name, flags } of commands)
    for (const flag of Object.values(flags))
      if (names.includes(flagName(flag)))
        expect(flag.needsPerson, `${name} ${flag.usage}`).toBeDefined();
});

test.each(denied)("an agent is rejected: lenden %s", async (line) => {
  const argv = [...line.split(" "), "it's $5"];
  const ended = await lenden([...argv, "--json"], { env: agent });
  expect(ended).toMatchObject({ code: 4, stdout: "" });
  const error = errorOf(ended);
  expect(error).toMatchObject({
    kind: "access",
    reason: "agent.needs-person",
    effect: "nothing-sent",
    message: expect.stringContaining("because Claude Code set CLAUDECODE."),
  });
  const what = /--[a-z-]+$/.exec(line)?.[0] ?? `'lenden ${line}'`;
  expect(error.message).toContain(`An agent cannot use ${what}: only a person `);
  expect(typedBy(String(error.hint))).toEqual([...argv, "--json"]);
});

test.each(denied)("a person and a script are not rejected for that: lenden %s", async (line) => {
  const { stderr } = await lenden([...line.split(" "), "no-such-thing", "--no-such-flag"]);
  expect(stderr).toContain("--no-such-flag");
  expect(stderr).not.toContain("agent");
});

test("help names what is for people only", async () => {
  const help = async (line: string) => (await lenden([...line.split(" "), "--help"])).stdout;
  expect(await help("payout send")).toContain("For people only\n--again\n");
  expect(await help("profile use")).toContain("For people only\nthis command\n");
  expect(await help("payout get")).not.toContain("For people only");
});

test("an invalid LENDEN_ACTOR is rejected before anything is done", async () => {
  const ended = await lenden(["methods"], { env: { LENDEN_ACTOR: "robot" } });
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toContain('LENDEN_ACTOR: "robot" is not one of: person, script, agent.');
});

describe("an agent uses the directories and the ledger of its profile", () => {
  const home = scratchFolder();
  /** Without the directories that other tests name. */
  const own = { HOME: home, LENDEN_CONFIG_DIR: undefined, LENDEN_DATA_DIR: undefined, ...agent };
  const usual = {
    LENDEN_CONFIG_DIR: join(home, ".config/lenden"),
    LENDEN_DATA_DIR: join(home, ".local/share/lenden"),
  };
  const url = "postgres://ann@db.example/lenden";

  test.each(["LENDEN_CONFIG_DIR", "LENDEN_DATA_DIR", "LENDEN_STATE_DIR"])(
    "%s names no other directory",
    async (name) => {
      const env = { ...own, [name]: join(home, "other") };
      const ended = await built(["ledger", "list", "--json"], { env });
      expect(ended).toMatchObject({ code: 4, stdout: "" });
      const { reason, message, hint } = errorOf(ended);
      expect(reason).toBe("agent.needs-person");
      expect(message).toContain(`An agent cannot use ${name}: `);
      expect(hint).toContain(`${name}=${join(home, "other")} lenden ledger list --json`);
    },
  );

  test.each(Object.entries(usual))("%s may name the usual directory", async (name, path) => {
    const env = { ...own, [name]: `${path}/` };
    expect(await built(["ledger", "list", "--json"], { env })).toMatchObject({ code: 0 });
  });

  test("LENDEN_LEDGER_URL names no other ledger than the profile", async () => {
    const { CLAUDECODE: _, ...person } = own;
    const key = "sk_sandbox_0123456789abcdef0123456789abcdef";
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", "https://api.example"];
    const added = await built([...add, "--ledger", url], { env: person, stdin: `${key}\n` });
    expect(added).toMatchObject({ code: 0 });
    const list = (ledger: string) =>
      built(["ledger", "list", "--json", "--timeout", "1s"], {
        env: { ...own, LENDEN_LEDGER_URL: ledger },
      });
    for (const other of [
      "postgres://ann@db.example/other",
      "postgres://bob@db.example/lenden",
      "x",
    ]) {
      const ended = await list(other);
      expect(ended).toMatchObject({ code: 4, stdout: "" });
      expect(errorOf(ended).message).toContain("An agent cannot use LENDEN_LEDGER_URL: ");
    }
    // The same ledger is looked for, with a password too.
    for (const same of [url, "postgresql://ann:secret@db.example:5432/lenden"])
      expect(errorOf(await list(same)).reason).toBe("ledger.unreachable");
    const shown = await list("postgres://ann:secret@db.example/other");
    expect(shown.stderr).not.toContain("secret");
  });

  test("the directories of 'sandbox exec' are no other ones", async () => {
    const lines = [
      "payout send --amount 5 --to 01712345678 --method bkash --ref A",
      "ledger show A",
    ];
    const [program, ...before] = tool;
    const script = lines
      .map((line) => `${[program, ...before].join(" ")} ${line} --json`)
      .join("&&");
    const ended = await built(["sandbox", "exec", "--", "sh", "-c", script], { env: own });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/"actor": "agent"/);
  });

  test("a key of production is not that of a sandbox", async () => {
    const env = { ...own, LENDEN_BASE_URL: "http://127.0.0.1:9", LENDEN_DATA_DIR: home };
    const key = { LENDEN_API_KEY: "public-ABC-ABCDEFGHIJKL-XYZ" };
    const ended = await built(["ledger", "list", "--json"], { env: { ...env, ...key } });
    expect(errorOf(ended).reason).toBe("agent.needs-person");
  });
});

test("an agent is never asked, not even in a terminal", async () => {
  const { env } = await openMerchant();
  const terminal = openPrompts(["payout", "send", "--amount", "5"], { env: { ...env, ...agent } });
  const { code, screen } = await terminal.ended();
  expect({ code, screen }).toMatchObject({ code: 2 });
  expect(screen).toContain("Missing required flag --to");
});

describe("lists show who acted", () => {
  const sent = async () => {
    const merchant = await openMerchant();
    const { env } = merchant;
    expect((await lenden(payoutNumber(1, "SCRIPT"), { env })).code).toBe(0);
    const by = { ...env, ...agent, LENDEN_ACTOR: "person" };
    expect((await lenden(payoutOf("AGENT", "--yes"), { env: by })).code).toBe(0);
    expect((await lenden(paymentOf("tea"), { env: by })).code).toBe(0);
    return merchant;
  };

  test("in JSON, tables and CSV, and --actor selects", async () => {
    const merchant = await sent();
    const at = async (...line: string[]) => (await merchant.lenden(line)).stdout;
    const actors = async (...line: string[]) => {
      const found: { actor: string }[] = JSON.parse(await at(...line, "--json"));
      return found.map(({ actor }) => actor);
    };
    expect(await actors("payout", "list")).toEqual(["agent", "script"]);
    expect(await actors("ledger", "list")).toEqual(["agent", "agent", "script"]);
    expect(await actors("ledger", "list", "--actor", "agent")).toEqual(["agent", "agent"]);
    expect(await actors("payout", "list", "--actor", "script")).toEqual(["script"]);
    expect(await actors("pay", "list", "--actor", "person")).toEqual([]);
    expect(await actors("refund", "list", "--actor", "agent")).toEqual([]);
    expect(await at("payout", "list")).toMatch(/ACTOR\n.*AGENT .* agent\n/);
    expect(await at("ledger", "list", "--actor", "script")).toMatch(/ACTOR\n.*SCRIPT .* script\n/);
    expect(await at("payout", "list", "--actor", "script")).not.toContain("ACTOR");
    expect(await at("payout", "list", "-o", "csv")).toMatch(/,actor\r\n.*,agent\r\n/);
    expect(await at("ledger", "export")).toMatch(/,actor\r\n.*,script\r\n/);
  });

  test("in the warning about an earlier payout", async () => {
    const merchant = await sent();
    const { stderr } = await merchant.lenden(payoutOf("AGAIN"));
    expect(stderr).toContain("the same amount to this recipient was sent by an agent as AGENT on ");
  });

  test("in the history of an operation", async () => {
    const merchant = await sent();
    const shown = (await merchant.lenden(["ledger", "show", "AGENT"])).stdout;
    expect(shown).toMatch(/Actor +agent/);
    expect(shown).toMatch(/recorded before sending {2}by an agent of tester on test/);
    const json = JSON.parse((await merchant.lenden(["ledger", "show", "AGENT", "--json"])).stdout);
    expect(json).toMatchObject({ actor: "agent", history: [{ data: { actor: "agent" } }, {}] });
  });
});
