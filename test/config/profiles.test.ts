import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lenden } from "../run.ts";
import { key, liveKey, place, secret, url } from "./profile-place.ts";

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
