import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { builtEnv } from "../support/lenden.ts";
import { openMerchantApart } from "../support/merchant.ts";
import { tool } from "../tool.js";

const inspector = ["-y", "-p", "@modelcontextprotocol/inspector@2.12.0"];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
/** The inspector needs Node 22.19. */
const canRun = major > 22 || (major === 22 && minor >= 19);
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);

test.skipIf(!canRun)("the inspector's command line lists the tools and calls one", async () => {
  const merchant = await openMerchantApart();
  const inspect = async (...args: string[]): Promise<Record<string, unknown>> => {
    // The inspector passes on no other variables.
    const variables = Object.entries(merchant.env).flatMap(([name, value]) => [
      "-e",
      `${name}=${value}`,
    ]);
    const line = ["mcp-inspector", "--cli", ...variables, ...tool, "mcp", ...args];
    const env = { ...builtEnv(merchant.env), PATH, npm_config_cache: join(homedir(), ".npm") };
    const { stdout } = await promisify(execFile)("npx", [...inspector, ...line], { env });
    return JSON.parse(stdout);
  };

  const { tools } = await inspect("--method", "tools/list");

  expect(tools).toHaveLength(8);
  const called = await inspect("--method", "tools/call", "--tool-name", "methods");
  expect(called).toMatchObject({ structuredContent: { methods: [{ codeName: "bkash" }, {}, {}] } });
});
