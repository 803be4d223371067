import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sign } from "../../src/api/signature.ts";
import { commands } from "../../src/commands/index.ts";
import { until } from "../merchant.ts";
import { lenden } from "../run.ts";
import { key, place, secret, url } from "./profile-place.ts";

describe("where key and secret come from", () => {
  test("standard input: the key is the first line, the secret the second", async () => {
    const { profile, stored } = place();
    const line = ["add", "shop", "--key-stdin", "--secret-stdin", "--base-url", url, "--json"];
    const { code, stdout, stderr } = await profile(line, `${key}\r\n ${secret} \n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stored().profiles.shop).toEqual({
      environment: "sandbox",
      baseUrl: url,
      apiKey: { text: key },
      payoutSecret: { text: secret },
    });
    expect(JSON.parse(stdout)).toMatchObject({
      name: "shop",
      apiKey: "sk_sandbox_…XYZ",
      payoutSecret: "…ars",
    });
  });

  test("files, with or without a line end or a byte order mark", async () => {
    const { folder, profile, stored } = place();
    const [keyFile, secretFile] = [join(folder, "key.txt"), join(folder, "secret.txt")];
    writeFileSync(keyFile, `\ufeff${key}\n`);
    writeFileSync(secretFile, secret);
    const line = [
      "add",
      "shop",
      "--base-url",
      url,
      "--key-file",
      keyFile,
      "--secret-file",
      secretFile,
    ];
    expect((await profile(line)).code).toBe(0);
    expect(stored().profiles.shop).toMatchObject({
      apiKey: { text: key },
      payoutSecret: { text: secret },
    });
  });

  test("commands are kept, not what they print, and run without a shell", async () => {
    const { folder, profile, stored, env } = place();
    const print = `printf '%s\\n' ${key}`;
    const line = ["add", "shop", "--base-url", url, "--key-command", print];
    const { code, stdout } = await profile([...line, "--secret-command", "echo $HOME; id"]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("ABCDEFGH");
    expect(stored().profiles.shop).toMatchObject({ apiKey: { command: print } });
    const verify = ["payout", "verify", "--amount", "5", "--ref", "A", "--timestamp", "1763614800"];
    const verified = await lenden([...verify, "--signature", sign("5:A:1763614800", "$HOME; id")], {
      env: { ...env, PATH: process.env.PATH },
    });
    expect(verified.code).toBe(0);
    expect(readdirSync(folder)).toEqual(["profiles.json"]);
  });

  test("all that is missing is named at once", async () => {
    const { code, stderr } = await place().profile(["add", "shop"]);
    expect(code).toBe(2);
    expect(stderr).toContain("There is no API key");
    expect(stderr).toContain("--base-url is missing");
  });

  test.each([
    ["nothing at all", ["add", "shop"], "", "There is no API key"],
    ["two ways", ["add", "shop", "--key-stdin", "--key-file", "x"], key, "not several"],
    [
      "a file that is not there",
      ["add", "shop", "--key-file", "/nowhere"],
      "",
      "--key-file: /nowhere cannot be read: file not found (ENOENT).",
    ],
    [
      "a secret's file that is not there",
      ["add", "shop", "--key-stdin", "--secret-file", "./secret.txt"],
      key,
      "--secret-file: ./secret.txt cannot be read: file not found (ENOENT).",
    ],
    [
      "a folder",
      ["add", "shop", "--key-file", "/tmp"],
      "",
      "--key-file: /tmp cannot be read: it is a directory (EISDIR).",
    ],
    [
      "a file that is too large",
      ["add", "shop", "--key-file", "/dev/zero"],
      "",
      "--key-file: /dev/zero: this holds more than 1 MiB.",
    ],
    [
      "a key in place of its file",
      ["add", "shop", "--key-file", "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ"],
      "",
      "--key-file: the file (its name looks like a secret) cannot be read: file not found",
    ],
    [
      "a secret in place of its file",
      ["add", "shop", "--key-stdin", "--secret-file", "vgjRgtABCDEFGHIJKLvirxsUs"],
      key,
      "--secret-file: the file (its name looks like a secret) cannot be read: file not found",
    ],
    ["empty standard input", ["add", "shop", "--key-stdin"], "", "An API key begins with"],
    [
      "something else",
      ["add", "shop", "--key-stdin"],
      "sk_live_ABCDEFGH",
      "An API key begins with",
    ],
    [
      "the secret first",
      ["add", "shop", "--key-stdin", "--secret-stdin"],
      `${secret}\n${key}`,
      "An API key begins",
    ],
    [
      "no second line",
      ["add", "shop", "--key-stdin", "--secret-stdin"],
      `${key}\n`,
      "payout secret",
    ],
    [
      "no second line, nor an end of the first",
      ["add", "shop", "--key-stdin", "--secret-stdin"],
      key,
      "secret",
    ],
    ["no text", ["add", "shop", "--key-stdin"], "public-\u0000", "copy it again"],
  ])("%s is refused and keeps nothing", async (_, line, stdin, why) => {
    const { file, profile } = place();
    const { code, stdout, stderr } = await profile([...line, "--base-url", url], stdin);
    expect({ code, stdout, kept: existsSync(file) }).toEqual({ code: 2, stdout: "", kept: false });
    expect(stderr).toContain(why);
    expect(stderr).not.toContain("ABCDEFGH");
    expect(stderr).not.toContain(secret);
  });

  test.each([
    ["fails", "false", "exit code 1"],
    ["prints nothing", "true", "printed nothing"],
    ["is not there", "/nowhere/pass show", "ENOENT"],
    ["prints no key", "echo hello-ABCDEFGH", "cannot be used"],
    ["prints without end", "yes ABCDEFGH", "more than 64 KiB"],
    ["is killed", "sh -c 'kill -9 $$'", "ended by SIGKILL"],
    ["complains with the key itself", `sh -c 'echo ${key} >&2; exit 3'`, "exit code 3"],
    ["names no program", '""', "no program is named"],
  ])("a command that %s is an access failure", async (_, command, why) => {
    const { profile, file } = place();
    const { code, stderr } = await profile([
      "add",
      "shop",
      "--base-url",
      url,
      "--key-command",
      command,
    ]);
    expect({ code, kept: existsSync(file) }).toEqual({ code: 4, kept: false });
    expect(stderr).toContain(why);
    expect(stderr).not.toContain("ABCDEFGH");
  });

  test("a command that takes more than a minute is killed and not waited for", async () => {
    const { env, folder } = place();
    const script = `echo $$ >'${folder}/pid'; exec sleep 600`;
    const line = ["profile", "add", "--base-url", url, "--key-command", `sh -c "${script}"`];
    const { code, stderr } = await lenden(line, {
      env: { ...env, PATH: process.env.PATH },
      host: { sleep: () => until(() => existsSync(join(folder, "pid"))) },
    });
    expect(code).toBe(4);
    expect(stderr).toContain("no answer in 60 s");
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    await until(() => !existsSync(`/proc/${pid}`));
  });

  test("what a command says on stderr is not what it prints, however much it is", async () => {
    const { env, stored } = place();
    const script = `yes complaint | head -c 200000 >&2; echo ${key}`;
    const line = [
      "profile",
      "add",
      "shop",
      "--base-url",
      url,
      "--key-command",
      `sh -c '${script}'`,
    ];
    const { code, stderr } = await lenden(line, { env: { ...env, PATH: process.env.PATH } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(Object.keys(stored().profiles)).toEqual(["shop"]);
  });

  test("no command has a flag that takes a key or a secret itself", async () => {
    const flags = commands.flatMap(({ flags: own }) =>
      Object.values(own).map(({ usage }) => usage),
    );
    const suspicious = flags.filter((usage) => /key|secret|token|password/i.test(usage));
    expect(
      suspicious.filter((usage) => / </.test(usage) && !/-(?:file|command) </.test(usage)),
    ).toEqual([
      // A field of a body, not a key of an account.
      "-f, --field <key=value>",
    ]);
    for (const wrong of [`--key=${key}`, `--api-key=${key}`, `--secret=${secret}`]) {
      const { code, stderr } = await place().profile(["add", "shop", wrong]);
      expect(code).toBe(2);
      expect(stderr).not.toContain(wrong.split("=")[1]);
    }
  });
});
