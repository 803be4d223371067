import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lenden } from "../support/lenden.ts";
import { closedPort } from "../support/server.ts";
import { openPrompts, openTerminal, terminalTest } from "../terminal/terminal.ts";
import { key, liveKey, place, secret, url } from "./setup.ts";

describe("the environment lock", () => {
  test("keeps a key of one environment from the host of the other", async () => {
    const { profile, add, stored } = place();
    await add("test");
    const live = ["add", "live", "--key-stdin", "--base-url"];
    const codes = [
      await profile([...live, "https://sandbox.example/other"], liveKey),
      await profile([...live, "https://pay.example"], liveKey),
      await profile(["set", "base-url", url, "--profile", "live"]),
      await profile(["set", "base-url", "https://PAY.example", "--profile", "test"]),
    ].map(({ code }) => code);
    expect(codes).toEqual([4, 0, 4, 4]);
    expect(stored().profiles).toMatchObject({
      test: { baseUrl: url },
      live: { baseUrl: "https://pay.example/cp/api/v1", environment: "production" },
    });
  });
});

describe("profiles", () => {
  test("are added, listed, chosen, changed, renamed and removed", async () => {
    const { profile, add, stored } = place();
    await add("shop");
    await add("other");
    const list = async () => {
      const { stdout } = await profile(["list", "--json"]);
      const found: { name: string; current: boolean }[] = JSON.parse(stdout);
      return found.map(({ name, current }) => (current ? `*${name}` : name));
    };
    expect(await list()).toEqual(["*shop", "other"]);
    expect((await profile(["use", "other"])).stdout).toBe("Profile other is in use.\n");
    await profile(["set", "method", "bkash"]);
    await profile(["set", "number-format", "e164", "--profile", "shop"]);
    expect(stored().profiles).toMatchObject({
      other: { method: "bkash" },
      shop: { numberFormat: "e164" },
    });
    await profile(["set", "method", ""]);
    expect(stored().profiles.other).not.toHaveProperty("method");
    await profile(["rename", "other", "main"]);
    expect(await list()).toEqual(["shop", "*main"]);
    expect((await profile(["remove", "main"])).code).toBe(0);
    expect(await list()).toEqual(["shop"]);
    expect(stored().current).toBeUndefined();
  });

  test.each([
    [["add", "shop", "--key-stdin", "--base-url", url], "Profile shop already exists"],
    [["rename", "other", "shop"], "Profile shop already exists"],
    [["rename", "unknown", "new"], "Profile unknown does not exist"],
    [["use", "unknown"], "Profile unknown does not exist"],
    [["remove", "unknown"], "Profile unknown does not exist"],
    [["use", "constructor"], "Profile constructor does not exist"],
    [["set", "api-key", "x"], "one of: base-url"],
    [["set", "constructor", "x"], "one of: base-url"],
    [["set", "redirect-url", "http://shop.example"], "https:"],
    [["set", "number-format", "roman"], "one of: local"],
    [["set", "base-url", ""], "Cannot remove the base URL"],
    [["set", "confirm-above", "25,000"], "25000"],
  ])("are unchanged after the invalid command profile %j", async (line, why) => {
    const { profile, add, file } = place();
    await add("shop");
    await add("other");
    const before = readFileSync(file, "utf8");
    const { code, stderr } = await profile(line, key);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test.each(["constructor", "tostring", "0", "a".repeat(32)])("may be named %s", async (name) => {
    const { profile, add, stored } = place();
    expect((await profile(["show", name])).code).toBe(2);
    expect((await add(name)).code).toBe(0);
    expect(Object.keys(stored().profiles)).toEqual([name]);
    expect((await profile(["show", name])).stdout).toContain(url);
    expect((await profile(["rename", name, "shop"])).code).toBe(0);
    expect((await profile(["rename", "shop", name])).code).toBe(0);
    expect((await profile(["remove", name])).code).toBe(0);
    expect(stored().profiles).toEqual({});
  });

  test.each(["__proto__", "prototype.x", "", "Shop", "-x", "a/b", "..", "দোকান", "a".repeat(33)])(
    "may not be named %j",
    async (name) => {
      const { file, profile } = place();
      const line = ["add", "--key-stdin", "--base-url", url, "--", name];
      expect((await profile(line, key)).code).toBe(2);
      expect(existsSync(file)).toBe(false);
    },
  );
});

describe("profile add --replace", () => {
  const newKey = "sk_sandbox_NEW-ABCDEFGHIJKL-XYZ";
  const replace = ["add", "shop", "--key-stdin", "--replace", "--base-url"];

  /** A profile that was used: its operations are recorded in the account `dhaka`. */
  async function used() {
    const opened = place();
    await opened.add("shop", ["--method", "bkash"]);
    const stored = opened.stored();
    const shop = { ...stored.profiles.shop, account: "dhaka" };
    writeFileSync(opened.file, JSON.stringify({ ...stored, profiles: { shop } }));
    return opened;
  }

  test("keeps and names every setting that is not given, and the new key joins the account", async () => {
    const { profile, stored } = await used();
    const settings = {
      "callback-url": "https://shop.example/callback",
      "time-zone": "Asia/Kolkata",
      "confirm-above": "5000",
      ledger: `postgres://ann@127.0.0.1:${await closedPort()}/lenden`,
      "ledger-password-command": "pass show lenden",
    };
    for (const [name, value] of Object.entries(settings))
      expect(await profile(["set", name, value])).toMatchObject({ code: 0 });
    const before = stored().profiles.shop;
    const line = [...replace, `${url}/v2`, "--method", "nagad", "--json"];
    const { code, stdout } = await profile(line, newKey);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).kept.toSorted()).toEqual(Object.keys(settings).toSorted());
    expect(stored().profiles.shop).toEqual({
      ...before,
      baseUrl: `${url}/v2`,
      apiKey: { text: newKey },
      method: "nagad",
    });
    const said = await profile(["add", "shop", "--key-stdin", "--replace"], newKey);
    expect(said).toMatchObject({ code: 0, stderr: expect.stringMatching(/keeps: .*ledger.*\./) });
  });

  test("keeps the key if only the payout secret is given", async () => {
    const { folder, profile, stored } = await used();
    const before = stored().profiles.shop;
    const secretFile = join(folder, "secret");
    writeFileSync(secretFile, secret);
    const line = ["add", "shop", "--replace", "--secret-file", secretFile];
    expect(await profile(line)).toMatchObject({ code: 0 });
    expect(stored().profiles.shop).toEqual({ ...before, payoutSecret: { text: secret } });
  });

  test("rejects another server non-interactively, which may be another merchant", async () => {
    const { profile, file } = await used();
    const before = readFileSync(file, "utf8");
    const other = [...replace, "https://new.example", "--json"];
    const { code, stderr } = await profile(other, newKey);
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 4,
      error: {
        reason: "profile.other-server",
        hint: expect.stringContaining("LENDEN_ACCOUNT=dhaka"),
      },
    });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test.each([
    ["joins the account that LENDEN_ACCOUNT names", "dhaka", "dhaka"],
    ["leaves the account if LENDEN_ACCOUNT names another one", "khulna", undefined],
  ])("%s", async (_, named, account) => {
    const { profile, stored } = await used();
    const env = { LENDEN_ACCOUNT: named };
    expect((await profile([...replace, "https://new.example"], newKey, env)).code).toBe(0);
    expect(stored().profiles.shop?.account).toBe(account);
  });

  test("leaves the account for a local sandbox, and keeps its other settings", async () => {
    const { profile, stored } = await used();
    expect((await profile([...replace, "http://127.0.0.1:4242"], newKey)).code).toBe(0);
    expect(stored().profiles.shop).not.toHaveProperty("account");
    expect(stored().profiles.shop).toHaveProperty("method", "bkash");
  });

  test.each([[[]], [["--environment", "production"]]])(
    "rejects a key of the other environment %j",
    async (more) => {
      const { profile, file } = await used();
      const before = readFileSync(file, "utf8");
      const line = [...replace, "https://pay.example", ...more, "--json"];
      const { code, stderr } = await profile(line, liveKey);
      expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
        code: 4,
        error: { reason: "account.environment-differs" },
      });
      expect(readFileSync(file, "utf8")).toBe(before);
    },
  );

  test("does not join the account after profile set moved the profile to another server", async () => {
    const { profile, stored } = await used();
    await profile(["set", "base-url", `${url}/v2`]);
    expect(stored().profiles.shop?.account).toBe("dhaka");
    await profile(["set", "base-url", "https://new.example"]);
    expect((await profile([...replace, "https://new.example"], newKey)).code).toBe(0);
    expect(stored().profiles.shop).not.toHaveProperty("account");
  });

  terminalTest("asks in a terminal about another server, and the default is no", async () => {
    for (const [answer, account] of [
      ["", undefined],
      ["y", "dhaka"],
    ] as const) {
      const { folder, stored } = await used();
      const env = { LENDEN_CONFIG_DIR: folder, NO_COLOR: "1" };
      const line = ["profile", ...replace.filter((word) => word !== "--key-stdin")];
      const command = ["--key-command", `printf ${newKey}`];
      const terminal = await openTerminal([...line, "https://new.example", ...command], { env });
      await terminal.answer(
        "Is the account on new.example the same as dhaka on sandbox.example?",
        answer,
      );
      expect((await terminal.ended()).code).toBe(0);
      expect(stored().profiles.shop?.account).toBe(account);
    }
  });
});

describe("a production profile that moves to another host", () => {
  const other = "https://evil.example/cp/api/v1";
  const replace = ["add", "live", "--replace", "--base-url", other];
  const own = ["--key-stdin", "--secret-stdin"];

  async function withSecrets() {
    const opened = place();
    const line = ["add", "live", ...own, "--base-url", "https://pay.example"];
    expect(await opened.profile(line, `${liveKey}\n${secret}`)).toMatchObject({ code: 0 });
    return opened;
  }

  test.each([
    ["neither is given", replace],
    ["the API tests the key", [...replace, "--check"]],
    ["the payout secret is not given", [...replace, "--key-stdin"]],
    ["the key is not given", [...replace, "--secret-stdin"]],
    ["the base URL is set", ["set", "base-url", other]],
  ])("keeps key and secret from it if %s, also with --yes", async (_, line) => {
    const { profile, file } = await withSecrets();
    const before = readFileSync(file, "utf8");
    const given = line.includes("--secret-stdin") ? secret : liveKey;
    const { code, stderr } = await profile([...line, "--yes", "--json"], given);
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 4,
      error: { reason: "account.host-differs" },
    });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("needs both again, and the other paths of its host need none", async () => {
    const { profile, stored } = await withSecrets();
    const path = "https://pay.example/v2";
    expect(await profile(["set", "base-url", path])).toMatchObject({ code: 0 });
    expect(stored().profiles.live?.baseUrl).toBe(path);
    const moved = await profile([...replace, ...own], `${liveKey}\n${secret}`);
    expect(moved).toMatchObject({ code: 0 });
    expect(stored().profiles.live?.baseUrl).toBe(other);
  });

  test("is asked for another URL in a terminal if Enter kept its key", async () => {
    const { env, file } = await withSecrets();
    const before = readFileSync(file, "utf8");
    const terminal = openPrompts(["profile", "add", "live", "--replace"], { env, columns: 200 });
    await terminal.answer("API key (Enter keeps", "");
    await terminal.answer("Payout secret (", "");
    await terminal.answer("Base URL of the API:", other);
    await terminal.shows(/must be given again for another host, evil.example/);
    await terminal.press("C-c");
    expect((await terminal.ended()).code).toBe(130);
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});

describe("the ledger of a production profile", () => {
  const ledger = "postgres://ann@db.example/lenden";
  const live = ["add", "live", "--key-stdin", "--base-url", "https://pay.example"];

  async function withLedger() {
    const opened = place();
    expect(await opened.profile([...live, "--ledger", ledger], liveKey)).toMatchObject({ code: 0 });
    return opened;
  }

  test.each([
    [["set", "ledger", ""]],
    [["set", "ledger", "postgres://ann@other.example/lenden"]],
    [["add", "live", "--replace", "--key-stdin", "--ledger", "postgres://ann@db.example/other"]],
  ])("is removed or replaced only after a confirmation: profile %j", async (line) => {
    const { profile, file, stored } = await withLedger();
    const before = readFileSync(file, "utf8");
    const refused = await profile([...line, "--json"], liveKey);
    expect({ code: refused.code, error: JSON.parse(refused.stderr).error }).toMatchObject({
      code: 4,
      error: { reason: "profile.change-not-confirmed" },
    });
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await profile([...line, "--yes"], liveKey)).toMatchObject({ code: 0 });
    expect(stored().profiles.live?.ledger).not.toBe(ledger);
  });

  test("can get another login without a confirmation", async () => {
    const { profile, stored } = await withLedger();
    const line = ["set", "ledger", "postgres://ben@db.example/lenden"];
    expect(await profile(line)).toMatchObject({ code: 0 });
    expect(stored().profiles.live?.ledger).toBe("postgres://ben@db.example/lenden");
  });

  test("asks in a terminal, and the default is no", async () => {
    for (const [answer, code] of [
      ["", 4],
      ["y", 0],
    ] as const) {
      const { env, stored } = await withLedger();
      const terminal = openPrompts(["profile", "set", "ledger", ""], { env });
      await terminal.answer("Remove the ledger of profile live?", answer);
      expect((await terminal.ended()).code).toBe(code);
      expect(stored().profiles.live?.ledger).toBe(code === 0 ? undefined : ledger);
    }
  });
});

test("a user without a home directory works with environment variables alone", async () => {
  const env = {
    LENDEN_CONFIG_DIR: "/dev/null/.config/lenden",
    LENDEN_DATA_DIR: "/dev/null/.local/share/lenden",
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: secret,
    LENDEN_BASE_URL: url,
  };
  const sign = ["payout", "sign", "--amount", "5", "--ref", "A"];
  expect((await lenden(sign, { env })).code).toBe(0);
  const { code, stderr } = await lenden(["profile", "use", "shop", "--json"], { env });
  expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
    code: 1,
    error: { reason: "profiles.not-written" },
  });
});
