import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { builtEnv, nodeFromNpm } from "../support/lenden.ts";
import { openMerchantApart } from "../support/merchant.ts";
import { tool } from "../tool.js";

const inspector = ["-y", "-p", "node@24", "-p", "@modelcontextprotocol/inspector@2.12.0"];

test("the inspector's command line lists the tools and calls one", async ({ skip }) => {
  const node = await nodeFromNpm("24");
  skip(node === undefined, "npm cannot be reached");
  const merchant = await openMerchantApart();
  const inspect = async (...args: string[]): Promise<Record<string, unknown>> => {
    // The inspector passes on no other variables.
    const variables = Object.entries(merchant.env).flatMap(([name, value]) => [
      "-e",
      `${name}=${value}`,
    ]);
    const line = ["mcp-inspector", "--cli", ...variables, ...tool, "mcp", ...args];
    const env = { ...builtEnv(merchant.env), npm_config_cache: join(homedir(), ".npm") };
    const { stdout } = await promisify(execFile)("npx", [...inspector, ...line], { env });
    return JSON.parse(stdout);
  };

  const { tools } = await inspect("--method", "tools/list");

  expect(tools).toHaveLength(8);
  const called = await inspect("--method", "tools/call", "--tool-name", "methods");
  expect(called).toMatchObject({ structuredContent: { methods: [{ codeName: "bkash" }, {}, {}] } });
});
