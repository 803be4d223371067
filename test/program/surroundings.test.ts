import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { built, builtEnv, runProgram } from "../support/lenden.ts";
import { openMerchantApart, payoutOf, testAccount } from "../support/merchant.ts";
import { tool, toolLine } from "../tool.js";

const account = testAccount();

/** Runs a shell script in which `lenden` is the built tool. */
function shell(script: string, env: Record<string, string | undefined>) {
  const whole = `lenden() { ${toolLine} "$@"; }\n${script}`;
  return runProgram(["bash", "-c", whole], { env: builtEnv(env) });
}

test("exports all of a large ledger to a reader that starts late", async () => {
  const merchant = await openMerchantApart();
  const rows = Array.from({ length: 450 }, (_, at) => `R-${at},${at + 1},01712345678,bkash,x`);
  const file = join(scratchFolder(), "payroll.csv");
  writeFileSync(file, `ref,amount,to,method,description\n${rows.join("\n")}\n`);
  await merchant.lenden(["payout", "batch", "send", file, "--yes", "--concurrency", "32"]);
  const { stdout } = await shell("lenden ledger export --json | (sleep 1; cat)", merchant.env);
  expect(stdout.length).toBeGreaterThan(300_000);
  expect(JSON.parse(stdout)).toHaveLength(rows.length);
});

test("ends while its standard input stays open", async () => {
  const [program, ...before] = tool;
  const env = builtEnv(account.env());
  const child = spawn(program, [...before, "methods", "-q"], { env, stdio: "pipe" });
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  child.stdin.end();
});

test("works in a directory that was deleted, and names a file that it cannot find", async () => {
  const { stdout, stderr } = await shell(
    `mkdir gone && cd gone && rmdir ../gone
     lenden methods -q; echo $?
     lenden payout batch check x.csv; echo $?`.replaceAll("gone", join(scratchFolder(), "gone")),
    account.env(),
  );
  expect(stdout).toMatch(/^\w+\n(?:\w+\n)*0\n2\n$/);
  expect(stderr).toContain("x.csv");
  expect(stderr).not.toMatch(/\n +at /);
});

test.each([
  ["no HOME", "unset HOME XDG_CACHE_HOME LENDEN_CONFIG_DIR LENDEN_DATA_DIR"],
  ["a HOME that cannot be written", "unset LENDEN_CONFIG_DIR LENDEN_DATA_DIR; export HOME=/proc"],
])("with %s, lists methods, and names the directory of the ledger", async (_, change) => {
  // Without a HOME, the home of this user would be used.
  const xdg = "export XDG_CONFIG_HOME=/proc/config XDG_DATA_HOME=/proc/data";
  const script = [
    ...[change, xdg, "lenden methods -q >&2", "echo $?"],
    ...[`lenden ${payoutOf("HOME-1").join(" ")}`, "echo $?"],
  ];
  const { stdout, stderr } = await shell(script.join("\n"), account.env());
  expect(stdout).toBe("0\n1\n");
  expect(stderr).toMatch(/error: .*\/proc\/.*Nothing was sent\./);
});

test.runIf(userInfo().uid === 0)(
  "names a ledger that belongs to root after sudo, and sends nothing",
  async () => {
    const merchant = await openMerchantApart();
    await merchant.id(payoutOf("SUDO-1"));
    const before = await merchant.moneyRequests();
    const config = scratchFolder();
    chownSync(config, 4711, 4711);
    const env = builtEnv({ ...merchant.env, LENDEN_CONFIG_DIR: config });
    const user = ["--reuid=4711", "--regid=4711", "--clear-groups"];
    const line = [...tool, ...payoutOf("SUDO-2")];
    const { code, stderr } = await runProgram(["setpriv", ...user, ...line], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*permission denied.*Nothing was sent\./);
    expect(stderr).toContain(merchant.dataFolder);
    expect(await merchant.moneyRequests()).toEqual(before);
  },
);

test("rejects a wrong key with exit 4, and moves nothing", async () => {
  const merchant = await openMerchantApart();
  const wrong = { ...merchant.env, LENDEN_API_KEY: "sk_sandbox_AbC-0123456789ab-XyZ" };
  for (const line of [["methods"], payoutOf("KEY-1")])
    expect(await built(line, { env: wrong })).toMatchObject({ code: 4 });
  expect(await merchant.books("payouts")).toEqual([]);
});

test("writes a negative total as a number in CSV", async () => {
  const merchant = await openMerchantApart();
  const id = await merchant.id(payoutOf("NET-1").map((word) => (word === "5" ? "1750.50" : word)));
  await merchant.set("payout", id, "Completed");
  await merchant.lenden(["payout", "list", "--refresh"]);
  const { stdout } = await merchant.lenden(["report", "-o", "csv"]);
  expect(stdout).toMatch(/(?:^|,)-1750\.50(?:,|\r?$)/m);
  expect(stdout).not.toContain("'-");
});
