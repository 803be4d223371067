import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { start } from "./running.ts";

const script = fileURLToPath(new URL("independent.sh", import.meta.url));
const run = promisify(execFile);

test("curl and openssl alone agree with the sandbox", async () => {
  const { baseUrl, apiKey, payoutSecret } = await start();
  const { stdout } = await run("sh", [script, baseUrl, apiKey, payoutSecret]);
  expect(stdout.trim().split("\n")).toHaveLength(16);
  expect(stdout).not.toContain("not ok");
});

test("the script fails where the secret is another", async () => {
  const { baseUrl, apiKey } = await start();
  await expect(run("sh", [script, baseUrl, apiKey, "wrong"])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("not ok signed payout"),
  });
});
