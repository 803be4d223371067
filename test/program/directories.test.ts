import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { type Outcome, runProgram } from "../support/lenden.ts";
import { openMerchant, paidPayment, payoutOf, refundOf } from "../support/merchant.ts";
import { tool } from "../tool.js";

/** Runs the built tool in a working directory, with an environment that is exactly this one. */
function builtIn(
  cwd: string,
  args: string[],
  env: Record<string, string | undefined>,
): Promise<Outcome> {
  return runProgram([...tool, ...args], { cwd, env: { PATH: process.env.PATH, ...env } });
}

/** Nothing listens there. */
const nowhere = "http://127.0.0.1:9/cp/api/v1";

const relative = ["./data", "~/lenden"];

test.each(relative)(
  "rejects LENDEN_DATA_DIR=%s, so that two working directories never have two ledgers",
  async (path) => {
    const merchant = await openMerchant();
    const paid = await paidPayment(merchant);
    const before = await merchant.moneyRequests();
    const env = { ...merchant.env, LENDEN_DATA_DIR: path };
    // The second directory shows that the ledger does not depend on it: once for all of them.
    for (const name of path === relative[0] ? ["one", "two"] : ["one"]) {
      const cwd = join(scratchFolder(), name);
      mkdirSync(cwd);
      const { code, stdout, stderr } = await builtIn(cwd, refundOf(paid, "60"), env);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(
        `error: LENDEN_DATA_DIR: "${path}" is not an absolute path. Nothing was sent.\nhint:  Use`,
      );
      expect(readdirSync(cwd)).toEqual([]);
    }
    expect(await merchant.moneyRequests()).toEqual(before);
  },
);

test.each([[["doctor"]], [payoutOf("RELATIVE", "--dry-run")]])(
  "rejects relative directories before anything is created: lenden %j",
  async (line) => {
    const cwd = scratchFolder();
    const env = {
      LENDEN_DATA_DIR: "./data",
      LENDEN_CONFIG_DIR: "~/config",
      HOME: scratchFolder(),
    };
    const { code, stdout, stderr } = await builtIn(cwd, line, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain('LENDEN_CONFIG_DIR: "~/config"');
    expect(stderr).toContain('LENDEN_DATA_DIR: "./data"');
    expect(readdirSync(cwd)).toEqual([]);
  },
);

test("rejects a relative HOME, which would hold the ledger, by name", async () => {
  const cwd = scratchFolder();
  const { code, stderr } = await builtIn(cwd, ["pay", "list"], { HOME: "home" });
  expect(code).toBe(2);
  expect(stderr).toContain('error: HOME: "home" is not an absolute path.');
  expect(readdirSync(cwd)).toEqual([]);
});

test("shows the help with relative directories", async () => {
  const env = { LENDEN_DATA_DIR: "./data", LENDEN_CONFIG_DIR: "./config" };
  expect(await builtIn(scratchFolder(), ["--help"], env)).toMatchObject({ code: 0 });
});

test("ignores relative XDG directories", async () => {
  const [cwd, home] = [scratchFolder(), scratchFolder()];
  const xdg = { XDG_CONFIG_HOME: "c", XDG_DATA_HOME: "d", XDG_CACHE_HOME: "e" };
  const line = ["profile", "list"];
  expect(await builtIn(cwd, line, { HOME: home, ...xdg })).toMatchObject({ code: 0 });
  expect(readdirSync(cwd)).toEqual([]);
});

test.skipIf(!existsSync("/proc/self"))("ends with an error message if HOME is /proc", async () => {
  const key = { LENDEN_API_KEY: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ", LENDEN_BASE_URL: nowhere };
  for (const line of [["pay", "list"], ["methods"]]) {
    const { code, stdout, stderr } = await builtIn(scratchFolder(), line, {
      ...key,
      HOME: "/proc",
    });
    expect([line, code]).toEqual([line, line[0] === "methods" ? 69 : 1]);
    expect(stdout + stderr).toMatch(/error:|failed/);
    expect(stderr).not.toMatch(/\n +at /);
  }
  const list = await builtIn(scratchFolder(), ["profile", "list"], { HOME: "/proc" });
  expect(list).toMatchObject({ code: 0, stderr: "" });
});
