import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadCommands } from "../../src/cli/command/table.ts";
import { entries } from "../../src/commands/index.ts";
import { until } from "../support/helpers.ts";
import { builtEnv, lenden } from "../support/lenden.ts";
import { openMerchant } from "../support/merchant.ts";
import { closedPort } from "../support/server.ts";
import { tool } from "../tool.js";
import { key, place, secret, url, verifyLine } from "./setup.ts";

const commands = await loadCommands(entries);
const path = { PATH: process.env.PATH };
const add = ["add", "shop", "--base-url", url];

describe("profile add takes key and secret", () => {
  test("from standard input: the key is the first line, the secret the second", async () => {
    const { profile, stored } = place();
    const line = [...add, "--key-stdin", "--secret-stdin", "--json"];
    const { code, stdout, stderr } = await profile(line, `${key}\r\n ${secret} \n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stored().profiles.shop).toEqual({
      environment: "sandbox",
      baseUrl: url,
      apiKey: { text: key },
      payoutSecret: { text: secret },
    });
    const shown = { name: "shop", apiKey: "sk_sandbox_…XYZ", payoutSecret: "…ars" };
    expect(JSON.parse(stdout)).toMatchObject(shown);
  });

  test("from files, with or without a line end or a byte order mark", async () => {
    const { folder, profile, stored } = place();
    const [keyFile, secretFile] = [join(folder, "key.txt"), join(folder, "secret.txt")];
    writeFileSync(keyFile, `\ufeff${key}\n`);
    writeFileSync(secretFile, secret);
    expect((await profile([...add, "--key-file", keyFile, "--secret-file", secretFile])).code).toBe(
      0,
    );
    const expected = { apiKey: { text: key }, payoutSecret: { text: secret } };
    expect(stored().profiles.shop).toMatchObject(expected);
  });

  test.each([`${key}\r\n`, `  ${key} \t\r\n`, `\ufeff${key}\r\n\r\n`])(
    "from a file that Windows or a person wrote: %j",
    async (text) => {
      const { folder, profile, stored } = place();
      const file = join(folder, "key.txt");
      writeFileSync(file, text);
      expect((await profile([...add, "--key-file", file])).code).toBe(0);
      expect(stored().profiles.shop).toMatchObject({ apiKey: { text: key } });
    },
  );

  test("and names UTF-16, which it does not read", async () => {
    const { folder, profile } = place();
    const file = join(folder, "key.txt");
    writeFileSync(file, `\ufeff${key}\r\n`, "utf16le");
    const { code, stderr } = await profile([...add, "--key-file", file]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("not UTF-8") });
    expect(stderr).not.toContain("ABCDEFGH");
  });

  test("from a pipe of the shell, and rejects a named pipe, which could hang", async () => {
    const { folder, env, stored } = place();
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const line of [
      ["profile", ...add, "--key-file", pipe],
      ["profile", ...add, "--key-stdin", "--secret-file", pipe],
      ["api", "POST", "/payment/create", "--input", pipe],
    ]) {
      const withKey = { ...env, LENDEN_API_KEY: key, LENDEN_BASE_URL: url };
      const { code, stderr } = await lenden([...line, "--json"], { env: withKey, stdin: key });
      const { error } = JSON.parse(stderr);
      expect({ code, reason: error.reason }).toEqual({ code: 2, reason: "input.not-a-file" });
    }
    const script = 'printf %s "$KEY" | "$@" --key-file /dev/stdin';
    execFileSync("sh", ["-c", script, "sh", ...tool, "profile", ...add], {
      env: builtEnv({ ...env, KEY: key }),
    });
    expect(stored().profiles.shop).toMatchObject({ apiKey: { text: key } });
  });

  test("from commands, which are stored and run without a shell", async () => {
    const { profile, stored, env } = place();
    const print = `printf '%s\\n' ${key}`;
    const line = [...add, "--key-command", print, "--secret-command", "echo $HOME; id"];
    const { code, stdout } = await profile(line, "", path);
    expect(code).toBe(0);
    expect(stdout).not.toContain("ABCDEFGH");
    expect(stored().profiles.shop).toMatchObject({ apiKey: { command: print } });
    const verified = await lenden(verifyLine("$HOME; id"), { env: { ...env, ...path } });
    expect(verified.code).toBe(0);
  });

  test("and --check stores nothing unless the API accepts the key", async () => {
    const { baseUrl, apiKey, close } = await openMerchant();
    const { profile, stored, file } = place();
    const line = ["add", "shop", "--base-url", baseUrl, "--key-stdin", "--check"];
    const rejected = await profile(line, key);
    expect(rejected.code).toBe(4);
    expect(rejected.stderr).toMatch(/denied access \(HTTP 401\).*The profile was not stored\./);
    expect(existsSync(file)).toBe(false);
    const accepted = await profile(line, apiKey);
    expect([accepted.code, accepted.stderr]).toEqual([0, expect.stringContaining("accepts this")]);
    expect(stored().profiles.shop).toMatchObject({ apiKey: { text: apiKey } });
    await close();
    const unreachable = await profile([...line, "--replace"], key);
    expect(unreachable.code).toBe(69);
    expect(stored().profiles.shop).toMatchObject({ apiKey: { text: apiKey } });
  });

  test("never from a flag: no flag of any command takes a secret, and none is echoed", async () => {
    const flags = commands.flatMap(({ flags: own }) => Object.values(own));
    const secretFlags = flags
      .map(({ usage }) => usage)
      .filter((usage) => /(?:key|secret|token|password).* </i.test(usage));
    expect(secretFlags.filter((usage) => !/-(?:file|command) </.test(usage))).toEqual([]);
    for (const wrong of [`--key=${key}`, `--api-key=${key}`, `--secret=${secret}`]) {
      const { code, stderr } = await place().profile(["add", "shop", wrong]);
      expect(code).toBe(2);
      expect(stderr).not.toContain(wrong.split("=")[1]);
    }
  });
});

describe("profile add rejects, and stores nothing", () => {
  const stdin = "--key-stdin";
  test.each([
    ["no source", [], "", "No API key is given"],
    ["two sources", [stdin, "--key-file", "x"], key, "not several"],
    ["a missing file", ["--key-file", "/nowhere"], "", "/nowhere cannot be read: not found"],
    ["a directory", ["--key-file", "/tmp"], "", "--key-file: /tmp is a directory"],
    ["a device", ["--key-file", "/dev/zero"], "", "/dev/zero is not a regular file"],
    ["a key as file name", ["--key-file", key], "", "its name looks like a secret"],
    [
      "a secret as file name",
      [stdin, "--secret-file", "vgjRgtABCDEFGHIJKLvirxsUs"],
      key,
      "its name looks like a secret",
    ],
    ["empty input", [stdin], "", "The line is empty"],
    ["another text", [stdin], "sk_live_ABCDEFGH", "An API key begins with"],
    ["the secret first", [stdin, "--secret-stdin"], `${secret}\n${key}`, "An API key begins"],
    ["no second line", [stdin, "--secret-stdin"], `${key}\n`, "--secret-stdin: The line is empty"],
    ["control characters", [stdin], "public-\u0000", "Copy it again"],
  ])("%s", async (_, line, input, why) => {
    const { file, profile } = place();
    const { code, stdout, stderr } = await profile([...add, ...line], input);
    expect({ code, stdout, isStored: existsSync(file) }).toEqual({
      code: 2,
      stdout: "",
      isStored: false,
    });
    expect(stderr).toContain(why);
    expect(stderr).not.toContain("ABCDEFGH");
    expect(stderr).not.toContain(secret);
  });

  test.each([
    ["fails", "false", "exit code 1"],
    ["prints nothing", "true", "its output is empty"],
    ["does not exist", "/nowhere/pass show", "ENOENT"],
    ["prints no key", "echo hello-ABCDEFGH", "Cannot use the API key"],
    ["prints without end", "yes ABCDEFGH", "more than 64 KiB"],
    ["prints the key on stderr", `sh -c 'echo ${key} >&2; exit 3'`, "exit code 3"],
    ["is empty", '""', "no program is named"],
  ])("a command that %s (exit 4)", async (_, command, why) => {
    const { profile, file } = place();
    const { code, stderr } = await profile([...add, "--key-command", command], "", path);
    expect({ code, isStored: existsSync(file) }).toEqual({ code: 4, isStored: false });
    expect(stderr).toContain(why);
    expect(stderr).not.toContain("ABCDEFGH");
  });

  test("a command that takes more than a minute, which is killed", async () => {
    const { env, folder } = place();
    const script = `echo $$ >'${folder}/pid'; exec sleep 600`;
    const line = ["profile", ...add, "--key-command", `sh -c "${script}"`];
    const { code, stderr } = await lenden(line, {
      env: { ...env, ...path },
      host: { sleep: () => until(() => existsSync(join(folder, "pid"))) },
    });
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining("no response in 60 s"),
    });
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    await until(() => !existsSync(`/proc/${pid}`));
  });
});

describe("a secret in quotes, as docker --env-file passes it", () => {
  const payout = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method", "bkash"];
  const server = "postgres://ann@127.0.0.1:9/lenden";

  test.each([
    ["LENDEN_PAYOUT_SECRET", "payout secret", payout],
    ["LENDEN_PAYOUT_SECRET", "payout secret", ["api", "POST", "/payout/create-by-server"]],
    ["LENDEN_API_KEY", "API key", payout],
    ["LENDEN_CALLBACK_SECRET", "callback secret", ["callback", "listen", "--port", "0"]],
    ["LENDEN_LEDGER_PASSWORD", "LENDEN_LEDGER_PASSWORD", payout],
  ])("in %s is named before anything is sent (exit 4): %s, %j", async (variable, what, line) => {
    for (const quote of ['"', "'"]) {
      const merchant = await openMerchant();
      const { LENDEN_API_KEY: apiKey = "" } = merchant.env;
      const text = variable === "LENDEN_API_KEY" ? apiKey : "the-secret-of-the-account";
      const forwarding = ["--forward-to", "http://127.0.0.1:9/"];
      const env = {
        ...merchant.env,
        ...(variable === "LENDEN_LEDGER_PASSWORD" ? { LENDEN_LEDGER_URL: server } : {}),
        [variable]: quote + text + quote,
      };
      const body = JSON.stringify({
        ...{ amount: 5, merchantRef: "A", recipientNumber: "01712345678", paymentMethodId: "M1" },
      });
      const argv =
        line[0] === "callback"
          ? [...line, ...forwarding]
          : line[0] === "api"
            ? [...line, "--input", "-"]
            : line;
      const { code, stderr } = await lenden([...argv, "--json"], { env, stdin: body });
      expect({ code, stderr }).toEqual({
        code: 4,
        stderr: expect.stringMatching(new RegExp(`${what}.* is in quotes`)),
      });
      expect(stderr).not.toContain(text);
      expect(await merchant.requests()).toEqual([]);
    }
  });

  test("in a file or from a command is rejected too", async () => {
    const { profile, file, folder, env, add: added } = place();
    const secretFile = join(folder, "secret");
    writeFileSync(secretFile, `"${secret}"\n`);
    const fromFile = await profile([...add, "--key-stdin", "--secret-file", secretFile], key);
    expect(fromFile).toMatchObject({ code: 2, stderr: expect.stringContaining("is in quotes") });
    expect(existsSync(file)).toBe(false);
    await added("shop", ["--secret-command", `cat ${secretFile}`]);
    const printed = await lenden(verifyLine(), { env: { ...env, ...path } });
    expect(printed).toMatchObject({ code: 4, stderr: expect.stringContaining("is in quotes") });
  });
});

test("the programs that print secrets get none of lenden's other secrets", async () => {
  const { profile, folder, env, stored } = place();
  const seen = (name: string) => join(folder, name);
  const printing = (name: string, text: string) => `sh -c "env > '${seen(name)}'; echo ${text}"`;
  const secrets = {
    LENDEN_PAYOUT_SECRET: "canary-one",
    LENDEN_CALLBACK_SECRET: "canary-two",
    LENDEN_LEDGER_PASSWORD: "canary-three",
  };
  const line = [...add, "--key-command", printing("key", key)];
  expect(
    await profile([...line, "--secret-command", printing("secret", secret)], "", path),
  ).toMatchObject({ code: 0 });
  const server = `postgres://ann@127.0.0.1:${await closedPort()}/lenden`;
  const ledger = ["--ledger", server, "--ledger-password-command", printing("ledger", "five")];
  await profile([...line, ...ledger, "--replace"], "", path);
  expect(stored().profiles.shop).toMatchObject({ ledger: server });
  const all = { ...env, ...path, ...secrets };
  const { LENDEN_PAYOUT_SECRET: _, LENDEN_LEDGER_PASSWORD: __, ...others } = all;
  await lenden([...verifyLine(), "-v"], { env: { ...others, LENDEN_API_KEY: key } });
  await lenden(["methods", "--timeout", "2s"], { env: all });
  await lenden(["payout", "list", "--timeout", "2s"], { env: { ...others, LENDEN_API_KEY: key } });
  for (const name of ["key", "secret", "ledger"]) {
    const text = readFileSync(seen(name), "utf8");
    expect(text).toContain("PATH=");
    expect(text).not.toMatch(/canary|LENDEN_API_KEY/);
  }
});

test("a rejected signature names the sources of payout secret and API key", async () => {
  const merchant = await openMerchant();
  const { LENDEN_BASE_URL, LENDEN_CONFIG_DIR } = merchant.env;
  const env = { LENDEN_CONFIG_DIR, LENDEN_BASE_URL };
  const line = ["profile", ...["add", "shop", "--key-stdin"]];
  expect((await lenden(line, { env, stdin: merchant.apiKey })).code).toBe(0);
  const payout = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method", "bkash"];
  const { code, stderr } = await lenden(payout, {
    env: { ...env, LENDEN_PAYOUT_SECRET: "the-secret-of-another-account" },
  });
  expect(code).toBe(4);
  expect(stderr.replace(/\s+/g, " ")).toContain(
    "The payout secret came from LENDEN_PAYOUT_SECRET, the API key from profile shop.",
  );
});
