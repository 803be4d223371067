import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { sign } from "../../src/contract/signature.ts";
import { until } from "../merchant.ts";
import { built, lenden, type Outcome, scratchFolder } from "../run.ts";
import { tool } from "../tool.js";

const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";
const liveKey = "public-ABC-ABCDEFGHIJKL-XYZ";
const secret = "a-payout-secret-of-27-chars";
const url = "https://sandbox.example/cp/api/v1";

/** A config folder of its own, and the profile commands in it. */
function place(folder = scratchFolder()) {
  const env = { LENDEN_CONFIG_DIR: folder };
  const file = join(folder, "profiles.json");
  const profile = (line: string[], stdin?: string) =>
    lenden(["profile", ...line], { env, ...(stdin === undefined ? {} : { stdin }) });
  const add = (name: string, more: string[] = []) =>
    profile(["add", name, "--key-stdin", "--base-url", url, ...more], `${key}\n`);
  const stored = (): { current?: string; profiles: Record<string, Record<string, unknown>> } =>
    JSON.parse(readFileSync(file, "utf8"));
  return { folder, file, env, profile, add, stored };
}

/** A lock that somebody else holds takes the tool some 13 seconds to give up on: begun at once. */
let whileLocked: Promise<{ outcome: Outcome; before: string; after: string }> | undefined;

/** So is the crowd, which waits for its own lock almost as long. */
const crowd = place();
const crowdNames = Array.from({ length: 20 }, (_, index) => `shop-${index}`);
let crowding: Promise<Outcome[]> | undefined;

beforeAll(async () => {
  crowding = Promise.all(
    crowdNames.map((name) =>
      built(["profile", "add", name, "--key-stdin", "--base-url", url, "-q"], {
        env: crowd.env,
        stdin: key,
      }),
    ),
  );
  const { folder, file, add } = place();
  await add("shop");
  const before = readFileSync(file, "utf8");
  const release = await lock(folder, { lockfilePath: join(folder, "profiles.lock") });
  const args = ["profile", "add", "other", "--key-stdin", "--base-url", url, "--json"];
  whileLocked = built(args, { env: { LENDEN_CONFIG_DIR: folder }, stdin: key }).then(
    async (outcome) => {
      await release();
      return { outcome, before, after: readFileSync(file, "utf8") };
    },
  );
});

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

  test.each([
    ["nothing at all", ["add", "shop"], "", "There is no API key"],
    ["two ways", ["add", "shop", "--key-stdin", "--key-file", "x"], key, "not several"],
    ["a file that is not there", ["add", "shop", "--key-file", "/nowhere"], "", "ENOENT"],
    ["a folder", ["add", "shop", "--key-file", "/tmp"], "", "EISDIR"],
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

describe("the environment lock holds what is kept", () => {
  test.each([
    ["a sandbox key for production", ["--environment", "production"], key, url],
    ["a production key for the sandbox", ["--environment", "sandbox"], liveKey, url],
    ["a production key over http:", [], liveKey, "http://127.0.0.1:4242"],
    ["a key over http: to elsewhere", [], key, "http://sandbox.example"],
    ["no base URL", [], key, undefined],
  ])("%s is refused (exit 4)", async (_, more, given, baseUrl) => {
    const { profile, file } = place();
    const address = baseUrl === undefined ? [] : ["--base-url", baseUrl];
    const { code } = await profile(["add", "shop", "--key-stdin", ...address, ...more], given);
    expect({ code, kept: existsSync(file) }).toEqual({ code: 4, kept: false });
  });

  test("a key of one environment never gets the address of the other", async () => {
    const { profile, add, stored } = place();
    await add("test");
    const live = ["add", "live", "--key-stdin", "--base-url"];
    expect((await profile([...live, "https://sandbox.example/other"], liveKey)).code).toBe(4);
    expect((await profile([...live, "https://pay.example"], liveKey)).code).toBe(0);
    expect((await profile(["set", "base-url", url, "--profile", "live"])).code).toBe(4);
    expect(
      (await profile(["set", "base-url", "https://PAY.example", "--profile", "test"])).code,
    ).toBe(4);
    expect(stored().profiles).toMatchObject({
      test: { baseUrl: url },
      live: { baseUrl: "https://pay.example/cp/api/v1", environment: "production" },
    });
  });
});

describe("the life of a profile", () => {
  test("the first is in use, others are not; list, show, use, set, rename, remove", async () => {
    const { profile, add, stored } = place();
    await add("shop");
    await add("other");
    expect(stored().current).toBe("shop");
    const list = async () => {
      const { stdout } = await profile(["list", "--json"]);
      const found: { name: string; current: boolean }[] = JSON.parse(stdout);
      return found.map(({ name, current }) => (current ? `*${name}` : name));
    };
    expect(await list()).toEqual(["*shop", "other"]);
    expect((await profile(["use", "other"])).stdout).toBe("Profile other is in use.\n");
    expect((await profile(["set", "method", "bkash"])).code).toBe(0);
    expect((await profile(["set", "number-format", "e164", "--profile", "shop"])).code).toBe(0);
    expect(stored().profiles).toMatchObject({
      other: { method: "bkash" },
      shop: { numberFormat: "e164" },
    });
    expect((await profile(["set", "method", ""])).code).toBe(0);
    expect(stored().profiles.other).not.toHaveProperty("method");
    expect((await profile(["rename", "other", "main"])).code).toBe(0);
    expect(await list()).toEqual(["shop", "*main"]);
    expect((await profile(["remove", "main"])).code).toBe(0);
    expect(await list()).toEqual(["shop"]);
    expect(stored().current).toBeUndefined();
  });

  test.each([
    [["add", "shop", "--key-stdin", "--base-url", url], "There already is a profile shop"],
    [["rename", "other", "shop"], "There already is a profile shop"],
    [["rename", "nobody", "new"], "There is no profile nobody"],
    [["use", "nobody"], "There is no profile nobody"],
    [["remove", "nobody"], "There is no profile nobody"],
    [["use", "constructor"], "There is no profile constructor"],
    [["set", "api-key", "x"], "not one of: base-url"],
    [["set", "constructor", "x"], "not one of: base-url"],
    [["set", "redirect-url", "http://shop.example"], "begins with https:"],
    [["set", "number-format", "roman"], "not one of: local"],
    [["set", "base-url", ""], "needs a base URL"],
    [["set", "confirm-above", "25,000"], "Did you mean 25000?"],
    [["set", "confirm-above", "0"], "above zero"],
  ])("profile %j is refused and changes nothing", async (line, why) => {
    const { profile, add, file } = place();
    await add("shop");
    await add("other");
    const before = readFileSync(file, "utf8");
    const { code, stderr } = await profile(line, key);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("--replace replaces it, all of it", async () => {
    const { profile, add, stored } = place();
    await add("shop", ["--method", "bkash"]);
    const line = ["add", "shop", "--key-stdin", "--base-url", "https://new.example", "--replace"];
    expect((await profile(line, "sk_sandbox_new")).code).toBe(0);
    expect(stored().profiles.shop).toEqual({
      environment: "sandbox",
      baseUrl: "https://new.example/cp/api/v1",
      apiKey: { text: "sk_sandbox_new" },
    });
  });

  test.each(["constructor", "tostring", "hasownproperty", "0", "a".repeat(32)])(
    "the name %s is a name like any other",
    async (name) => {
      const { profile, add, stored } = place();
      expect((await profile(["show", name])).code).toBe(4);
      expect((await add(name)).code).toBe(0);
      expect(Object.keys(stored().profiles)).toEqual([name]);
      expect((await profile(["show", name])).stdout).toContain(url);
      expect((await profile(["rename", name, "shop"])).code).toBe(0);
      expect((await profile(["rename", "shop", name])).code).toBe(0);
      expect((await profile(["remove", name])).code).toBe(0);
      expect(stored().profiles).toEqual({});
    },
  );

  test.each([
    "__proto__",
    "prototype.x",
    "a.b",
    "",
    "Shop",
    "-x",
    "_x",
    "a/b",
    "..",
    "দোকান",
    "a".repeat(33),
  ])("the name %j is none", async (name) => {
    const { file, profile } = place();
    const line = ["add", "--key-stdin", "--base-url", url, "--", name];
    expect((await profile(line, key)).code).toBe(2);
    expect(existsSync(file)).toBe(false);
  });
});

test("without any account it is said how to try lenden, and with one it is not", async () => {
  const { env, add } = place();
  expect((await lenden(["methods"], { env })).stderr).toContain("'lenden sandbox start'");
  await add("shop");
  const { stderr } = await lenden(["payout", "sign", "--amount", "5", "--ref", "A"], { env });
  expect(stderr).toContain("There is no payout secret (tried: LENDEN_PAYOUT_SECRET, profile shop)");
  expect(stderr).not.toContain("sandbox start");
});

test("whose home is no folder, as many a service's user, goes by the environment alone", async () => {
  const env = {
    LENDEN_CONFIG_DIR: "/dev/null/.config/lenden",
    LENDEN_DATA_DIR: "/dev/null/.local/share/lenden",
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: secret,
    LENDEN_BASE_URL: url,
  };
  const sign = ["payout", "sign", "--amount", "5", "--ref", "A"];
  expect((await lenden(sign, { env })).code).toBe(0);
  const { code, stderr } = await lenden(["profile", "use", "shop"], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("cannot be made or used")]);
});

describe("the file", () => {
  const modes = (...paths: string[]) =>
    paths.map((path) => (lstatSync(path).mode & 0o777).toString(8));

  test.each(["000", "022", "077"])(
    "is 0600 in a folder of 0700 under umask %s, new and existing",
    async (umask) => {
      const folder = join(scratchFolder(), "deep", "lenden");
      const { file, env } = place(folder);
      const run = (name: string) => {
        const script = `umask ${umask}; exec "$@"`;
        const args = ["-c", script, "sh", ...tool, "profile", "add", name];
        return spawnSync("sh", [...args, "--key-stdin", "--base-url", url], {
          env: { ...env, PATH: process.env.PATH },
          input: key,
        }).status;
      };
      expect(run("first")).toBe(0);
      expect(modes(file, folder)).toEqual(["600", "700"]);
      chmodSync(file, 0o644);
      chmodSync(folder, 0o755);
      expect(run("second")).toBe(0);
      expect(modes(file, folder)).toEqual(["600", "700"]);
      expect(readdirSync(folder)).toEqual(["profiles.json"]);
    },
  );

  test("that others may read is mended when it is read", async () => {
    const { file, add, profile } = place();
    await add("shop");
    chmodSync(file, 0o666);
    await profile(["list"]);
    expect(modes(file)).toEqual(["600"]);
  });

  test.each([["list"], ["show"], ["use", "shop"], ["remove", "shop"]])(
    "that is a symbolic link is refused: profile %s",
    async (...line) => {
      const { file, add, profile, folder } = place();
      await add("shop");
      const target = join(folder, "elsewhere.json");
      renameSync(file, target);
      symlinkSync(target, file);
      const before = readFileSync(target, "utf8");
      const { code, stderr } = await profile(line.filter(Boolean));
      expect(code).toBe(4);
      expect(stderr).toContain("is not followed");
      expect(readFileSync(target, "utf8")).toBe(before);
    },
  );

  test.each([["add"], ["list"]])(
    "in a folder that is a symbolic link is refused: profile %s",
    async (command) => {
      const real = place();
      await real.add("shop");
      const link = join(scratchFolder(), "link");
      symlinkSync(real.folder, link);
      const linked = place(link);
      const before = readFileSync(real.file, "utf8");
      const { code } =
        command === "add" ? await linked.add("other") : await linked.profile(["list"]);
      expect(code).toBe(4);
      expect(readFileSync(real.file, "utf8")).toBe(before);
    },
  );

  test.each([
    ["cut off", (text: string) => text.slice(0, -20)],
    ["empty", () => ""],
    ["no JSON", () => `${key}\n`],
    ["of another shape", () => JSON.stringify({ version: 1, profiles: { shop: { apiKey: key } } })],
    ["of a later version", (text: string) => text.replace('"version": 1', '"version": 2')],
    ["null", () => "null"],
  ])("that is damaged (%s) is neither wiped nor shown", async (_, damage) => {
    const { file, add, profile, env } = place();
    await add("shop");
    const damaged = damage(readFileSync(file, "utf8").replaceAll("\t", " "));
    writeFileSync(file, damaged);
    for (const line of [["list"], ["show"], ["remove", "shop"], ["use", "shop"]]) {
      const { code, stdout, stderr } = await profile(line);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain("damaged");
      expect(stderr).not.toContain("ABCDEFGH");
    }
    expect((await add("other")).code).toBe(4);
    const debug = await lenden(["methods"], { env: { ...env, LENDEN_DEBUG: "1" } });
    expect(debug.stderr).not.toContain("ABCDEFGH");
    expect(readFileSync(file, "utf8")).toBe(damaged);
  });

  test.skipIf(!canMount())("that no longer fits the disk stays the old one", async () => {
    await onSmallDisk(async (folder) => {
      const { file, add, profile, stored } = place(join(folder, "lenden"));
      expect((await add("shop")).code).toBe(0);
      const before = readFileSync(file, "utf8");
      const long = ["--redirect-url", `https://shop.example/${"x".repeat(12_000)}`];
      // Full, and with so few pages left that the new file can be begun, and not ended.
      for (const pages of [0, 1, 2, 3]) {
        fill(folder, pages);
        const { code, stderr } = await add(`more-${pages}`, long);
        expect(code).toBe(1);
        expect(stderr).not.toContain("ABCDEFGH");
        expect(readFileSync(file, "utf8")).toBe(before);
      }
      expect((await profile(["list", "-q"])).stdout).toBe("shop\n");
      rmSync(join(folder, "filler"));
      expect((await add("other")).code).toBe(0);
      expect(Object.keys(stored().profiles)).toEqual(["shop", "other"]);
    });
  });

  test.skipIf(!canMount())(
    "that never fitted the disk does not stay as a damaged one",
    async () => {
      await onSmallDisk(async (folder) => {
        const { add } = place(join(folder, "lenden"));
        mkdirSync(join(folder, "lenden"));
        // One page is left: the file can be begun, and not ended.
        fill(folder, 1);
        const long = `https://shop.example/${"x".repeat(8_000)}`;
        expect((await add("shop", ["--redirect-url", long])).code).toBe(1);
        rmSync(join(folder, "filler"));
        const again = await add("shop");
        expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: "" });
      });
    },
  );

  test.skipIf(!canMount())("on a read-only disk is not said to be another lenden's", async () => {
    await onSmallDisk(async (disk) => {
      const folder = join(disk, "lenden");
      const { add, profile } = place(folder);
      expect((await add("shop")).code).toBe(0);
      expect(succeeds("mount", "-o", "remount,ro", disk)).toBe(true);
      const { code, stderr } = await profile(["set", "confirm-above", "5"]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/could not be written to .*profiles\.json\.\n.*read-only/);
    });
  });

  test("keeps all of twenty profiles that twenty processes add at once", async () => {
    const outcomes = (await crowding) ?? [];
    expect(outcomes.map(({ code, stdout }) => `${code} ${stdout.trim()}`)).toEqual(
      crowdNames.map((name) => `0 ${name}`),
    );
    expect(Object.keys(crowd.stored().profiles).sort()).toEqual(crowdNames.toSorted());
    expect(readdirSync(crowd.folder)).toEqual(["profiles.json"]);
  });

  test("that another lenden is changing is left alone (exit 7)", async () => {
    const { outcome, before, after } = (await whileLocked) ?? { outcome: undefined };
    expect(outcome?.code).toBe(7);
    expect(JSON.parse(outcome?.stderr ?? "")).toMatchObject({ error: { kind: "locked" } });
    expect(after).toBe(before);
  });
});

function canMount(): boolean {
  const folder = scratchFolder();
  return mountSmall(folder) && succeeds("umount", folder);
}

async function onSmallDisk(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = scratchFolder();
  expect(mountSmall(folder)).toBe(true);
  try {
    await use(folder);
  } finally {
    succeeds("umount", folder);
  }
}

function mountSmall(folder: string): boolean {
  return succeeds("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder);
}

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0;
}

/** Writes until nothing more goes in, but for some pages of 4 KiB. */
function fill(folder: string, pagesLeft: number): void {
  const filler = join(folder, "filler");
  for (let size = 64 * 1024; size > 0; size = Math.floor(size / 2)) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full for this size; a smaller one may still fit.
    }
  }
  truncateSync(filler, statSync(filler).size - pagesLeft * 4096);
}
