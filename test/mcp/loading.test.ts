import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import { openMerchantApart } from "../support/merchant.ts";
import { isOneFile, launcher } from "../tool.js";

/** Prints what a run loaded. */
const spy = `process.on("exit", () => {
  const loaded = Object.keys(require.cache).filter((file) => /dist/.test(file));
  require("fs").writeSync(2, "\\nLOADED " + loaded.map((file) => require("path").basename(file)).join(" "));
});`;

test.skipIf(isOneFile)("only 'lenden mcp' loads the package of the protocol", async () => {
  const merchant = await openMerchantApart();
  const file = join(scratchFolder(), "spy.cjs");
  writeFileSync(file, spy);
  const loadedBy = async (...args: string[]) => {
    const env = { ...merchant.env, PATH: process.env.PATH };
    const run = promisify(execFile)(process.execPath, ["-r", file, launcher, ...args], { env });
    run.child.stdin?.end();
    const { stderr } = await run;
    return stderr.split("LOADED ")[1] ?? "";
  };
  const payout = ["--amount", "5", "--to", "01712345678", "--method", "bkash"];
  for (const args of [["--help"], ["methods"], ["payout", "send", ...payout], ["mcp", "--help"]])
    expect(await loadedBy(...args)).not.toMatch(/protocol/);
  expect(await loadedBy("mcp", "--print-config")).not.toMatch(/protocol/);
  expect(await loadedBy("mcp")).toMatch(/protocol/);
});

test("--print-config prints what a client needs, with the profile and without a secret", async () => {
  const merchant = await openMerchantApart();
  const folder = String(merchant.env.LENDEN_CONFIG_DIR);
  const env = { LENDEN_CONFIG_DIR: folder };
  const { LENDEN_API_KEY: key = "", LENDEN_BASE_URL: url = "" } = merchant.env;
  const add = ["profile", "add", "shop", "--base-url", url, "--key-stdin"];
  const added = await lenden(add, { env, stdin: key });
  const usual = await lenden(["mcp", "--print-config", "--allow-send"], { env });
  expect(errorOf(added)).toEqual({});
  expect(usual.code).toBe(0);
  expect(JSON.parse(usual.stdout)).toEqual({
    mcpServers: { lenden: { command: "lenden", args: expect.arrayContaining(["mcp"]) } },
  });
  expect(usual.stdout).not.toContain(key);
  const json = await lenden(["mcp", "--print-config", "--json"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({ mcpServers: { lenden: { command: "lenden" } } });
});
