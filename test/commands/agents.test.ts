import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { flagName } from "../../src/cli/command/flag.ts";
import { loadCommands } from "../../src/cli/command/table.ts";
import { entries } from "../../src/commands/index.ts";
import { foldersOf } from "../../src/platform/host.ts";
import { usualDirectories } from "../mcp/client.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden, typedBy } from "../support/lenden.ts";
import {
  openMerchant,
  openProductionMerchant,
  paymentOf,
  payoutNumber,
  payoutOf,
} from "../support/merchant.ts";
import { openPrompts } from "../terminal/terminal.ts";

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
    "api --account-number-as-is",
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
    "payout batch check --account-number-as-is",
    "payout batch check --allow-duplicates",
    "payout batch clean --account-number-as-is",
    "payout batch resolve --not-created",
    "payout batch send --account-number-as-is",
    "payout batch send --allow-duplicates",
    "payout send --account-number-as-is",
    "payout send --again",
    ...["add", "remove", "rename", "rotate", "set", "use"].map((name) => `profile ${name}`),
    "refund create --account-number-as-is",
    "refund create --again",
  ]);
});

test("every flag of these names is for people only", () => {
  const names = [
    ...["--account-number-as-is", "--again", "--allow-duplicates"],
    ...["--not-created", "--accept-file"],
  ];
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

test("the error of an agent repeats no secret that was typed by mistake", async () => {
  const secret = "hunter2hunter2";
  for (const words of [
    ["profile", "set", "--payout-secret", secret],
    ["limits", "set", `--token=${secret}`],
    ["profile", "add", `sk_sandbox_abc-${"x".repeat(12)}-abc`],
  ]) {
    const { code, stderr } = await lenden([...words, "--json"], { env: agent });
    expect([code, stderr]).toEqual([4, expect.not.stringMatching(/hunter2|sk_sandbox/)]);
  }
});

test.each(denied)("a person and a script are not rejected for that: lenden %s", async (line) => {
  const { stderr } = await lenden([...line.split(" "), "no-such-thing", "--no-such-flag"]);
  expect(stderr).toContain("--no-such-flag");
  expect(stderr).not.toContain("agent");
});

test("help names what is for people only", async () => {
  const help = async (line: string) => (await lenden([...line.split(" "), "--help"])).stdout;
  expect(await help("payout send")).toContain("For people only\n--account-number-as-is, --again\n");
  expect(await help("profile use")).toContain("For people only\nthis command\n");
  expect(await help("payout get")).not.toContain("For people only");
});

test("an invalid LENDEN_ACTOR is rejected before anything is done", async () => {
  const ended = await lenden(["methods"], { env: { LENDEN_ACTOR: "robot" } });
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toContain('LENDEN_ACTOR: "robot" is not one of: person, script, agent.');
});

describe("an agent uses the directories in the home of the user's record", () => {
  const home = scratchFolder();
  const data = join(home, ".local/share/lenden");
  const config = join(home, ".config/lenden");
  for (const one of [config, data]) mkdirSync(one, { recursive: true, mode: 0o700 });
  writeFileSync(join(config, "profiles.json"), '{"version":1,"profiles":{}}', { mode: 0o600 });
  writeFileSync(join(data, "ledger.db"), "", { mode: 0o600 });
  const other = scratchFolder();
  const link = join(other, "lenden");
  symlinkSync(data, link);
  const listed = async (env: Record<string, string>) => {
    const own = { HOME: home, ...agent, ...env };
    const folders = foldersOf(own, { platform: "linux", home: own.HOME });
    return lenden(["profile", "list", "--json"], { env: own, host: { folders, userHome: home } });
  };

  test.each([
    ["HOME", { HOME: other }],
    ["XDG_CONFIG_HOME", { XDG_CONFIG_HOME: join(other, "config") }],
    ["XDG_DATA_HOME", { XDG_DATA_HOME: join(other, "data") }],
    ["XDG_DATA_HOME", { HOME: other, XDG_CONFIG_HOME: join(home, ".config"), XDG_DATA_HOME: home }],
    ["LENDEN_CONFIG_DIR", { LENDEN_CONFIG_DIR: other, XDG_CONFIG_HOME: other }],
    ["LENDEN_DATA_DIR", { LENDEN_DATA_DIR: other, XDG_DATA_HOME: other }],
  ])("%s names no other directory: %j", async (name, env) => {
    const ended = await listed(env);
    expect(ended).toMatchObject({ code: 4, stdout: "" });
    const { reason, message } = errorOf(ended);
    expect(reason).toBe("agent.needs-person");
    expect(message).toContain(`An agent cannot use ${name}: only a person chooses directories`);
  });

  test.each(["ledger.db", "verified-0123456789abcdef01234567.json"])(
    "of data, if it has %s",
    async (name) => {
      const own = scratchFolder();
      const kept = join(own, ".local/share/lenden");
      mkdirSync(kept, { recursive: true, mode: 0o700 });
      writeFileSync(join(kept, name), "", { mode: 0o600 });
      const env = { HOME: own, XDG_DATA_HOME: other, ...agent };
      const folders = foldersOf(env, { platform: "linux", home: own });
      const ended = await lenden(["profile", "list", "--json"], {
        env,
        host: { folders, userHome: own },
      });
      expect(ended.code).toBe(4);
      expect(errorOf(ended).message).toContain("An agent cannot use XDG_DATA_HOME");
    },
  );

  test.each([
    ["the usual ones", {}],
    ["by a relative path, which counts as unset", { XDG_DATA_HOME: "data" }],
    ["by a symbolic link", { XDG_DATA_HOME: other }],
    ["with another HOME", { HOME: other, LENDEN_CONFIG_DIR: config, LENDEN_DATA_DIR: link }],
  ])("may name the same directories: %s", async (_, env) => {
    expect(await listed(env)).toMatchObject({ code: 0 });
  });

  test.each([
    ["the record has no home", undefined],
    ["the home of the record has none", other],
  ])("the environment names the usual ones if %s", async (_, userHome) => {
    const base = scratchFolder();
    const env = { HOME: base, XDG_CONFIG_HOME: join(base, "c"), XDG_DATA_HOME: join(base, "d") };
    const folders = foldersOf(env, { platform: "linux", home: env.HOME });
    const run = (more: object) =>
      lenden(["ledger", "list", "--json"], {
        env: { ...env, ...agent, ...more },
        host: { folders, userHome },
      });
    expect(await run({})).toMatchObject({ code: 0 });
    expect(errorOf(await run({ LENDEN_DATA_DIR: home })).reason).toBe("agent.needs-person");
  });
});

test("an agent signs nothing in production, and in a sandbox as before", async () => {
  const signed = async ({ env }: { env: Record<string, string> }) => {
    const line = ["payout", "sign", "--amount", "900000", "--ref", "BIG", "--json"];
    return lenden(line, { env: { ...env, ...usualDirectories(), ...agent } });
  };
  const real = await signed(await openProductionMerchant());
  expect(real).toMatchObject({ code: 4, stdout: "" });
  expect(errorOf(real).message).toContain("An agent cannot use 'lenden payout sign'");
  expect(await signed(await openMerchant())).toMatchObject({ code: 0 });
});

test("an agent signs nothing with the payout secret of a production profile and another key", async () => {
  const [env, stdin] = [usualDirectories(), "public-ABC-ABCDEFGHIJKL-XYZ\nhunter2hunter2hunter2\n"];
  const add = ["profile", "add", "live", "--key-stdin", "--secret-stdin", "--yes"];
  const added = await lenden([...add, "--base-url", "https://api.example"], { env, stdin });
  expect(added.code).toBe(0);
  const line = ["payout", "sign", "--amount", "900000", "--ref", "BIG", "--json"];
  const { LENDEN_API_KEY = "" } = (await openMerchant()).env;
  expect(await lenden(line, { env: { ...env, LENDEN_API_KEY } })).toMatchObject({ code: 0 });
  const ended = await lenden(line, { env: { ...env, ...agent, LENDEN_API_KEY } });
  expect(ended).toMatchObject({ code: 4, stdout: "" });
  expect(errorOf(ended).message).toContain("An agent cannot use 'lenden payout sign'");
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
