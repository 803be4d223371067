import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../run.ts";
import { apiKey, doctor } from "./running.ts";

const shop = {
  environment: "sandbox",
  baseUrl: "http://127.0.0.1:1/cp/api/v1",
  apiKey: { text: apiKey },
  payoutSecret: { text: "s3cret" },
};

/** A folder in which this is the profile in use. */
function having(profile: object): Record<string, string> {
  const folder = scratchFolder();
  const profiles = { version: 1, current: "shop", profiles: { shop: profile } };
  writeFileSync(join(folder, "profiles.json"), JSON.stringify(profiles), { mode: 0o600 });
  return { LENDEN_CONFIG_DIR: folder };
}

test("a profile says which it is, and where its key and its secret lie", async () => {
  const { of } = await doctor(having(shop));
  expect(of.profile).toMatchObject({ state: "passed", says: "shop (from profile use)" });
  expect(of["base-url"]?.says).toBe(`${shop.baseUrl} (from profile shop)`);
  expect(of.key).toMatchObject({
    state: "passed",
    says: "sk_sandbox_…XyZ, written in profile shop; for sandbox",
  });
  expect(of["payout-secret"]).toMatchObject({
    state: "passed",
    says: "there, written in profile shop",
  });
});

test("without a profile it says how to make one, and what needs one is skipped or fails", async () => {
  const { of, code, withState } = await doctor();
  expect(of.profile).toMatchObject({
    state: "failed",
    todo: expect.stringContaining("lenden profile add"),
  });
  expect(withState("failed")).toEqual(["profile", "base-url", "key"]);
  expect(withState("skipped")).toEqual([
    ...["proxy", "name", "connection", "certificate", "access", "clock", "whitelist"],
  ]);
  expect(code).toBe(1);
});

test("a profile that there is not, or a damaged file, fails, and nothing is shown of it", async () => {
  const unknown = await doctor({ ...having(shop), LENDEN_PROFILE: "other" });
  expect(unknown.of.profile).toMatchObject({ state: "failed", todo: "There are: shop." });
  const env = having(shop);
  writeFileSync(join(env.LENDEN_CONFIG_DIR ?? "", "profiles.json"), `{"${apiKey}`);
  const damaged = await doctor(env);
  expect(damaged.of.profile).toMatchObject({ state: "failed" });
  expect(damaged.of.key?.state).toBe("skipped");
  expect(damaged.outcome.stdout + damaged.outcome.stderr).not.toContain(apiKey);
});

test("a variable that hides what the profile has is a warning", async () => {
  const { of } = await doctor({ ...having(shop), LENDEN_BASE_URL: "http://127.0.0.1:2" });
  expect(of.profile).toMatchObject({
    state: "warning",
    says: expect.stringContaining("LENDEN_BASE_URL overrides the base URL of profile shop."),
  });
});

describe("the key", () => {
  test("printed by a command: which profile's it is; one that fails, fails", async () => {
    const printing = await doctor(having({ ...shop, apiKey: { command: `echo ${apiKey}` } }));
    expect(printing.of.key?.says).toBe(
      "sk_sandbox_…XyZ, printed by the command of profile shop; for sandbox",
    );
    const failing = await doctor(having({ ...shop, apiKey: { command: "false" } }));
    expect(failing.of.key).toMatchObject({
      state: "failed",
      says: expect.stringContaining("exit code 1"),
    });
  });

  test("of the other environment fails, and nobody is asked", async () => {
    const { of } = await doctor({
      ...having(shop),
      LENDEN_API_KEY: "public-AbC-0123456789ab-XyZ",
    });
    expect(of.key).toMatchObject({ state: "failed", says: expect.stringContaining("production") });
    expect(of.access?.state).toBe("skipped");
  });
});

test("a payout secret that is missing is a warning, one that is none fails", async () => {
  const { payoutSecret: _, ...without } = shop;
  expect((await doctor(having(without))).of["payout-secret"]).toMatchObject({ state: "warning" });
  const { of } = await doctor(having({ ...shop, payoutSecret: { text: apiKey } }));
  expect(of["payout-secret"]).toMatchObject({ state: "failed" });
});

test.each(["nonsense", "ftp://shop.example", "file:///etc"])(
  "the base URL %s fails, and is gone to by nobody",
  async (baseUrl) => {
    const { of } = await doctor(having({ ...shop, baseUrl }));
    expect(of["base-url"]?.state).toBe("failed");
    expect(of.name?.state).toBe("skipped");
  },
);
