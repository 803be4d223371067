import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { tool } from "../tool.js";

const account = testAccount();
const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";

/** Code that leaves a mark where it runs, and a folder full of what a careless program would load. */
function strangers() {
  const folder = scratchFolder();
  const mark = join(folder, "mark");
  const code = `require("node:fs").appendFileSync(${JSON.stringify(mark)}, __filename + "\\n");`;
  const places = ["dist", "node_modules/libsql", "node_modules/@napi-rs/keyring"];
  for (const place of places) mkdirSync(join(folder, place), { recursive: true });
  const names = ["stranger", "dist/main"].map((n) => `${n}.cjs`);
  for (const name of [...names, ...places.slice(1).map((place) => `${place}/index.js`)])
    writeFileSync(join(folder, name), code);
  writeFileSync(join(folder, "package.json"), '{ "version": "6.6.6" }');
  const env = {
    NODE_OPTIONS: `--require=${join(folder, "stranger.cjs")}`,
    NODE_PATH: join(folder, "node_modules"),
  };
  const isMarked = () => existsSync(mark);
  return { folder, env, isMarked };
}

describe("lenden as one file", () => {
  test("loads no code from the disk, with any environment and directory", async () => {
    const { folder, env, isMarked } = strangers();
    writeFileSync(join(folder, "pay.csv"), "amount,to,method\n5,01712345678,bkash\n");
    const own = { ...account.env(), LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: folder, ...env };
    const [program, ...before] = tool;
    const run = async (...line: string[]) =>
      (await promisify(execFile)(program, [...before, ...line], { cwd: folder, env: own })).stdout;
    expect(await run("--version")).not.toContain("6.6.6");
    expect(await run("payout", "batch", "send", "pay.csv", "-q")).toMatch(/\S/);
    expect(await run("payout", "list", "-q")).toMatch(/^PO\w+\n$/);
    expect(await run("__complete", "--typed=", "payout", "get")).toMatch(/^PO/);
    expect(await run("doctor")).toMatch(/passed +access/);
    expect(isMarked()).toBe(false);
    // The same folder and environment are no trap for nothing: another Node steps into it.
    execFileSync(process.execPath, ["-e", "0"], { env });
    expect(isMarked()).toBe(true);
  });

  test.each(["--inspect", "--eval=0", "--node-options=--inspect", "--require=./x.cjs", "-e", "-p"])(
    "reads %s as a flag of lenden, not of Node",
    async (flag) => {
      const outcome = await built([flag]);
      expect(outcome.code).toBe(2);
      expect(outcome).toEqual(await lenden([flag]));
    },
  );

  test("carries the completion scripts and the number of its version", async () => {
    for (const [shell, file] of [
      ["bash", "lenden.bash"],
      ["zsh", "_lenden"],
      ["fish", "lenden.fish"],
      ["powershell", "lenden.ps1"],
    ] as const) {
      const { stdout } = await built(["completion", shell]);
      expect(stdout.trimEnd()).toBe(readFileSync(resolve("completions", file), "utf8").trimEnd());
    }
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect((await built(["--version"])).stdout).toBe(`${version}\n`);
  });

  test("has no keychain, writes nothing, and names the alternatives", async () => {
    const folder = scratchFolder();
    const line = ["profile", "add", "shop", "--key-stdin", "--base-url", "https://shop.example"];
    const options = { env: { LENDEN_CONFIG_DIR: folder }, stdin: `${key}\n` };
    const { code, stderr } = await built([...line, "--keychain"], options);
    expect(code).toBe(4);
    expect(stderr).toContain("this executable has no keychain");
    expect(stderr).toContain("--key-command");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("prints no experimental warning of Node", async () => {
    expect((await built(["demo"])).stderr).not.toMatch(/warn/i);
    expect((await built(["payout", "list"], { env: account.env() })).stderr).not.toMatch(/warn/i);
  });
});
