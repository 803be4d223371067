import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runs, scratchFolder } from "../support/helpers.ts";
import { builtEnv, type Outcome, runProgram } from "../support/lenden.ts";
import { openMerchantApart, payoutOf } from "../support/merchant.ts";
import { tool } from "../tool.js";

/** Runs the built tool with at most so many open files. */
function limitedTo(
  files: number,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const script = `ulimit -n ${files}; exec "$0" "$@"`;
  return runProgram(["sh", "-c", script, ...tool, ...args], {
    env: builtEnv(env),
    timeout: 60_000,
  });
}

/** The lowest limit with which Node can load and run the launcher. */
let lowest: number | undefined;
async function lowestLimit(): Promise<number> {
  for (let files = 10; lowest === undefined && files < 64; files += 1)
    if ((await limitedTo(files, ["--version"])).code === 0) lowest = files;
  if (lowest !== undefined) return lowest;
  throw new Error("Node does not start with 64 open files");
}

test("with few file descriptors there is an error message, and no payout that it does not report", async () => {
  const merchant = await openMerchantApart();
  const first = await lowestLimit();
  for (let files = first; files <= first + 10; files += runs(5, 2)) {
    for (const line of [payoutOf(`FILES-${files}`), ["methods"], ["pay", "list"], ["doctor"]]) {
      const { code, stderr } = await limitedTo(files, line, merchant.env);
      expect([files, line, code]).toEqual([files, line, 1]);
      expect(stderr).toMatch(/^error: .*\(E[MN]FILE\)\. Nothing was sent\.\n/);
      expect(stderr).not.toMatch(/\n +at |panicked/);
    }
  }
  expect(await merchant.moneyRequests()).toEqual([]);
  expect(await limitedTo(256, payoutOf("ENOUGH"), merchant.env)).toMatchObject({ code: 0 });
});

test("a batch with more connections than file descriptors does not end as if nothing was sent", async () => {
  const merchant = await openMerchantApart({ latencyMs: 200 });
  const file = join(scratchFolder(), "payees.csv");
  const rows = Array.from(
    { length: 100 },
    (_, row) => `F-${row},${row + 1},0171234${5000 + row},bkash`,
  );
  writeFileSync(file, ["ref,amount,to,method", ...rows, ""].join("\n"));
  const line = ["payout", "batch", "send", file, "--concurrency", "64"];
  const { code, stderr } = await limitedTo((await lowestLimit()) + 50, line, merchant.env);
  expect(stderr).not.toMatch(/\n +at |panicked/);
  expect([0, 75]).toContain(code);
  expect(await merchant.books("payouts")).toHaveLength(100);
});

test("with few file descriptors an error is reported as JSON", async () => {
  const { code, stderr } = await limitedTo((await lowestLimit()) + 1, ["methods", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "internal" } });
});
