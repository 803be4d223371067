import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { loadCommands } from "../../src/cli/command/table.ts";
import { entries } from "../../src/commands/index.ts";
import { soon } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { refusal, serve } from "../support/server.ts";
import { methodOf, writes } from "./writes.ts";

const commands = await loadCommands(entries);

const account = testAccount();
const key = "public-ABC-ABCDEFGHIJKL-XYZ";

/** A port that counts who knocks, and speaks no TLS. */
async function knocked(): Promise<{ env: Record<string, string>; count: () => number }> {
  const { port, connections } = await serve(() => refusal(500), { onConnect: "close" });
  const env = {
    LENDEN_BASE_URL: `https://127.0.0.1:${port}`,
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: "a-payout-secret",
  };
  return { env, count: connections };
}

test.each(writes)(
  "%s in production is rejected without --yes before any request",
  async (name, flags) => {
    const { env, count } = await knocked();
    const line = [...name.split(" "), ...flags, ...methodOf(name, "--method-id", "665f1c2ab8e4")];
    for (const more of [{}, { CI: "true" }, { LENDEN_NO_INPUT: "1" }]) {
      const { code, stdout, stderr } = await lenden(line, { env: { ...env, ...more } });
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain("production, real money");
      expect(stderr).toContain("Key: public-…XYZ");
      expect(stderr).toContain("--yes");
      expect(stderr).not.toContain("ABCDEFGH");
    }
    expect(count()).toBe(0);
  },
);

test("a write in production shows profile, key, amount, recipient, method and reference", async () => {
  const { env } = await knocked();
  const order = ["--amount", "125000.5", "--to", "+880 1712-345678"];
  const flags = [...order, "--ref", "INV-7", "--method-id", "M1"];
  const { stderr } = await lenden(["payout", "send", ...flags], { env });
  const shown = ["environment variables", "public-…XYZ", "BDT 1,25,000.50", "01712345678"];
  for (const one of [...shown, "M1", "INV-7"]) expect(stderr).toContain(one);
});

describe("in a terminal the environment comes first", () => {
  const plain = "PRODUCTION Cancel a refund with real money:\n";
  const colored =
    "\u001b[41m\u001b[37m PRODUCTION \u001b[39m\u001b[49m Cancel a refund with real money:\n";

  test.each<[string, string[], Record<string, string>, string]>([
    ["in color", [], {}, colored],
    ["plain with NO_COLOR", [], { NO_COLOR: "1" }, plain],
  ])("%s", async (_, flags, more, expected) => {
    const { env } = await knocked();
    expect(await shownAtTerminal(flags, { ...env, ...more })).toContain(expected);
  });

  test("a sandbox account shows its profile, unless --quiet is given", async () => {
    const line = "SANDBOX Cancel a refund, account from environment variables\n";
    const env = { ...account.env(), NO_COLOR: "1" };
    expect(await shownAtTerminal([], env)).toContain(line);
    expect(await shownAtTerminal([], { ...env, NO_COLOR: "" })).toContain("\u001b[42m");
    expect(await shownAtTerminal(["--quiet"], env)).not.toContain("SANDBOX");
  });

  async function shownAtTerminal(flags: string[], env: Record<string, string>): Promise<string> {
    const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true });
    await lenden(["refund", "cancel", "RF1", ...flags], {
      env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== "")),
      host: { stderr },
    });
    stderr.end();
    return (await stderr.toArray()).join("");
  }
});

test("a write in production is sent with --yes, and a read without it", async () => {
  const { env, count } = await knocked();
  const refund = await lenden(["refund", "cancel", "RF1", "--yes"], { env, host: { sleep: soon } });
  expect(refund.code).toBe(69);
  expect(count()).toBeGreaterThan(0);
  const before = count();
  await lenden(["pay", "get", "TX1"], { env, host: { sleep: soon } });
  expect(count()).toBeGreaterThan(before);
});

test("a dry run in production needs no confirmation", async () => {
  const { env, count } = await knocked();
  const { code } = await lenden(["refund", "cancel", "RF1", "--dry-run"], { env });
  expect({ code, knocks: count() }).toEqual({ code: 0, knocks: 0 });
});

const sandboxLines = [
  ["sandbox", "trigger", "payment", "TX1"],
  ["sandbox", "trigger", "payment", "TX1", "--dry-run"],
  ["sandbox", "trigger", "payout", "PO1", "--yes"],
  ["sandbox", "trigger", "refund", "--all", "--status", "Cancelled"],
  ["sandbox", "set", "payout", "PO1", "Cancelled"],
  ["sandbox", "requests"],
  ["sandbox", "requests", "--follow"],
  ["sandbox", "info"],
  ["sandbox", "statement"],
  ["verify-api"],
  ["callback", "test", "http://127.0.0.1:9/callback"],
];

test("rejection in production is tested for every command of the sandbox", () => {
  const names = commands.filter(({ sandboxOnly }) => sandboxOnly).map(({ name }) => name);
  for (const name of names) {
    expect([name, sandboxLines.some((line) => line.join(" ").startsWith(name))]).toEqual([
      name,
      true,
    ]);
  }
});

test.each(sandboxLines)(
  "lenden %s %s %s rejects a production account before any request",
  async (...line) => {
    const { env, count } = await knocked();
    const { code, stdout, stderr } = await lenden(line.filter(Boolean), { env });
    expect({ code, stdout, knocks: count() }).toEqual({ code: 4, stdout: "", knocks: 0 });
    expect(stderr).toContain("production account");
  },
);

test("a write in the sandbox needs no confirmation, also in CI", async () => {
  const line = ["refund", "cancel", "RF1"];
  expect((await account.run(line, { env: { CI: "true" } })).code).toBe(9);
  expect((await account.run([...line, "--no-input"])).code).toBe(9);
});
