import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
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
  const { env } = await openMerchantApart();
  const { LENDEN_API_KEY: key = "", LENDEN_BASE_URL: url = "" } = env;
  const home = scratchFolder();
  const [config, data, cache] = [".config/lenden", ".local/share/lenden", ".cache/lenden"].map(
    (path) => join(home, path),
  );
  const folders = {
    config: config ?? "",
    data: data ?? "",
    state: undefined,
    cache: cache ?? "",
    home,
  };
  const run = (args: string[], stdin?: string) =>
    lenden(args, { host: { folders }, ...(stdin !== undefined && { stdin }) });
  expect(
    await run(["profile", "add", "shop", "--base-url", url, "--key-stdin"], `${key}\n`),
  ).toMatchObject({ code: 0 });

  const printed = await run(["mcp", "--print-config", "--profile", "shop", "--allow-send"]);

  expect(printed).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(printed.stdout)).toEqual({
    mcpServers: {
      lenden: { command: "lenden", args: ["mcp", "--profile", "shop", "--allow-send"] },
    },
  });
  const json = await run(["mcp", "--print-config", "--json"]);
  expect(JSON.parse(json.stdout)).toEqual({
    mcpServers: { lenden: { command: "lenden", args: ["mcp", "--profile", "shop"] } },
  });
});
