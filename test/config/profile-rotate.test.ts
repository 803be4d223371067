import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { errorOf, jumpingHost, lenden } from "../support/lenden.ts";
import { inDatabase, openMerchant, openProductionMerchant, payoutOf } from "../support/merchant.ts";
import { openPrompts } from "../terminal/terminal.ts";
import { key, liveKey } from "./setup.ts";

const newKey = "public-NEW-ABCDEFGHIJKL-KEY";
const withoutVariables = {
  LENDEN_API_KEY: undefined,
  LENDEN_PAYOUT_SECRET: undefined,
  LENDEN_BASE_URL: undefined,
};

/** A production merchant whose key and secret are in the profile `shop`, and the tool without variables for them. */
async function openShop() {
  const ill = faults("createPayout:status-500");
  const rules = ill.splice(0);
  const merchant = await openProductionMerchant({ faults: ill });
  const run = (args: string[]) =>
    merchant.lendenUnasked(args, withoutVariables, { ...jumpingHost() });
  const file = join(merchant.folder, "profiles.json");
  const stored = () => JSON.parse(readFileSync(file, "utf8")).profiles.shop;
  const add = ["profile", "add", "shop", "--base-url", merchant.baseUrl];
  const secrets = ["--key-file", fileOf(liveKey), "--secret-file", fileOf(merchant.payoutSecret)];
  const settings = ["--method", "bkash", "--confirm-above", "5000", "--time-zone", "Asia/Kolkata"];
  expect(await run([...add, ...secrets, ...settings])).toMatchObject({ code: 0 });
  const rotate = ["profile", "rotate", "--key-file", fileOf(newKey)];
  const breaks = (isBroken: boolean) => ill.splice(0, ill.length, ...(isBroken ? rules : []));
  return { merchant, run, file, stored, rotate, breaks };
}

describe("profile rotate", () => {
  test("changes the key alone: settings and account stay, and a payout is not sent twice", async () => {
    const { merchant, run, stored, rotate } = await openShop();
    expect(await run([...payoutOf("ONE"), "--yes"])).toMatchObject({ code: 0 });
    const before = stored();
    expect(before).toMatchObject({ account: "shop", confirmAbove: "5000" });
    await merchant.rotateKey(newKey);

    const { code, stdout } = await run([...rotate, "--json"]);

    expect(code).toBe(0);
    const { kept, warnings } = JSON.parse(stdout);
    expect(kept).toEqual(expect.arrayContaining(["base-url", "payout-secret", "confirm-above"]));
    expect(warnings).toEqual([expect.objectContaining({ reason: "profile.secret-untested" })]);
    expect(stored()).toEqual({ ...before, apiKey: { text: newKey } });
    const same = [...payoutOf("TWO"), "--yes", "--json"];
    const [, , ...flags] = payoutOf("ONE");
    const again = await run(["payout", "send", ...flags.slice(0, -2), "--yes", "--json"]);
    expect(again.code).toBe(3);
    expect(await run(same)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test.each([
    ["the API rejects the key", newKey, 4, "api.access-denied"],
    ["the key is of the other environment", key, 4, "account.environment-differs"],
  ])("changes nothing if %s", async (_, wrong, code, reason) => {
    const { run, file } = await openShop();
    const before = readFileSync(file, "utf8");
    const outcome = await run(["profile", "rotate", "shop", "--key-file", fileOf(wrong), "--json"]);
    expect({ code: outcome.code, error: errorOf(outcome) }).toMatchObject({
      code,
      error: { reason },
    });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("changes nothing if the API cannot be reached", async () => {
    const { run, file, rotate } = await openShop();
    const text = readFileSync(file, "utf8").replace(/localhost:\d+/, "localhost:1");
    writeFileSync(file, text);
    const outcome = await run([...rotate, "--json"]);
    expect({ code: outcome.code, error: errorOf(outcome) }).toMatchObject({
      code: 69,
      error: { message: expect.stringContaining("Profile shop is unchanged.") },
    });
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test.each([
    ["profile", "rotate", "shop", "--key-file", fileOf(newKey)],
    ["profile", "set", "method", "nagad"],
  ])("rejects --base-url, because it uses the stored one: %s %s", async (...line) => {
    const { merchant, run, file } = await openShop();
    await merchant.rotateKey(newKey);
    const before = readFileSync(file, "utf8");
    const outcome = await run([...line, "--base-url", "https://other.example", "--json"]);
    expect({ code: outcome.code, error: errorOf(outcome) }).toMatchObject({
      code: 2,
      error: { reason: "usage.invalid" },
    });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("replaces the payout secret alone, and says that it is not tested", async () => {
    const { run, stored } = await openShop();
    const before = stored();
    const line = ["profile", "rotate", "shop", "--secret-file", fileOf("another-secret")];
    const { code, stderr } = await run(line);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("cannot be tested without a payout"),
    });
    expect(stored()).toEqual({ ...before, payoutSecret: { text: "another-secret" } });
  });

  test("names the variables that take the place of a profile, and the profile", async () => {
    const { merchant, rotate, file } = await openShop();
    const before = readFileSync(file, "utf8");
    for (const line of [rotate, ["profile", "set", "method", "nagad"]]) {
      const { code, stderr } = await merchant.lendenUnasked(line);
      expect({ code, stderr }).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(/LENDEN_API_KEY and LENDEN_BASE_URL[\s\S]* shop/),
      });
    }
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("asks in a terminal, and Enter keeps what is stored", async () => {
    const merchant = await openMerchant();
    const { LENDEN_CONFIG_DIR = "", LENDEN_DATA_DIR = "" } = merchant.env;
    const env = { LENDEN_CONFIG_DIR, LENDEN_DATA_DIR };
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", merchant.baseUrl];
    await lenden([...add, "--method", "bkash"], { env, stdin: merchant.apiKey });
    const terminal = openPrompts(["profile", "rotate"], { env, columns: 100 });
    await terminal.answer("API key (Enter keeps", "public-ABC-ABCDEFGHIJKL-XYZ");
    await terminal.shows(/production key, but the profile is for sandbox[\s\S]*\? API key/);
    await terminal.answer("API key (Enter keeps", "");
    await terminal.answer("Payout secret (", "the-new-payout-secret");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toContain("lenden profile rotate shop --secret-stdin");
    const { profiles } = JSON.parse(readFileSync(join(LENDEN_CONFIG_DIR, "profiles.json"), "utf8"));
    expect(profiles.shop).toMatchObject({
      apiKey: { text: merchant.apiKey },
      payoutSecret: { text: "the-new-payout-secret" },
      method: "bkash",
    });
  });
});

describe("P25b: a new key in a production profile", () => {
  /** One payout has an unknown outcome, and one batch is open. */
  async function unfinished(count = 2, concurrency = 1) {
    const shop = await openShop();
    const { run, merchant, breaks } = shop;
    breaks(true);
    expect(await run([...payoutOf("DOUBT"), "--yes"])).toMatchObject({ code: 75 });
    const rows = Array.from(
      { length: count },
      (_, at) => `ROW-${at + 1},5,0181234${String(5670 + at)}`,
    );
    const file = fileOf(["ref,amount,to", ...rows, ""].join("\n"));
    const expected = ["--expect-total", String(5 * count), "--expect-count", String(count)];
    const send = ["payout", "batch", "send", file, "--yes", ...expected];
    expect(await run([...send, "--concurrency", String(concurrency)])).toMatchObject({ code: 75 });
    breaks(false);
    await merchant.rotateKey(newKey);
    return { ...shop, send };
  }

  test("names unknown payouts and open batches, and is confirmed", async () => {
    const { run, rotate, stored, file } = await unfinished();
    const before = readFileSync(file, "utf8");
    for (const line of [
      [...rotate, "--json"],
      ["profile", "add", "shop", "--replace", ...rotate.slice(2), "--json"],
    ]) {
      const outcome = await run(line);
      const { error } = JSON.parse(outcome.stderr);
      expect({ code: outcome.code, error }).toMatchObject({
        code: 4,
        error: {
          reason: "profile.change-not-confirmed",
          warnings: expect.arrayContaining([
            { reason: "profile.payouts-unknown", message: expect.stringContaining("DOUBT") },
            { reason: "profile.batches-open", message: expect.stringMatching(/B[0-9A-Z]{6}/) },
          ]),
        },
      });
      expect(readFileSync(file, "utf8")).toBe(before);
    }
    expect(await run([...rotate, "--yes"])).toMatchObject({ code: 0 });
    expect(stored()).toMatchObject({ apiKey: { text: newKey }, account: "shop" });
  });

  test("sends the other rows of a batch, and names how to resolve each unknown one", async () => {
    const { merchant, run, rotate, send } = await unfinished(12, 6);
    // At least the five unknown rows that stop a batch: how many more is a matter of timing.
    const { stdout } = await run(["payout", "batch", "status", "@last", "--json"]);
    const { states } = JSON.parse(stdout);
    expect(states.uncertain.rows).toBeGreaterThanOrEqual(5);
    expect(await run([...rotate, "--yes"])).toMatchObject({ code: 0 });
    const first = await run([...send, "--json"]);
    expect(first.code).toBe(75);
    expect(await merchant.books("payouts")).toHaveLength(states.unsent.rows);
    let end = first;
    for (let row = 0; row < states.uncertain.rows; row += 1) {
      expect(end.code).toBe(75);
      const { hint } = errorOf(end);
      const [, command = ""] =
        /'lenden (ledger resolve \S+ --not-created)'/.exec(String(hint)) ?? [];
      const resolved = await run([...command.split(" "), "--yes"]);
      expect({ hint, resolved }).toMatchObject({ resolved: { code: 0 } });
      end = await run([...send, "--json"]);
    }
    expect(end.code).toBe(0);
    expect(await merchant.books("payouts")).toHaveLength(12);
  });
});

describe("a new key of a local sandbox", () => {
  test("is a new account: the warning says that the batch is sent again", async () => {
    const ill = faults("createPayout:status-500");
    const merchant = await openMerchant({ faults: ill });
    const { LENDEN_CONFIG_DIR = "", LENDEN_DATA_DIR = "" } = merchant.env;
    const env = { LENDEN_CONFIG_DIR, LENDEN_DATA_DIR };
    const run = (line: string[]) => lenden(line, { env, host: jumpingHost() });
    const add = ["profile", "add", "shop", "--base-url", merchant.baseUrl];
    const secrets = ["--key-file", fileOf(merchant.apiKey)];
    const secret = ["--secret-file", fileOf(merchant.env.LENDEN_PAYOUT_SECRET ?? "")];
    expect(await run([...add, ...secrets, ...secret])).toMatchObject({ code: 0 });
    const send = [
      "payout",
      "batch",
      "send",
      fileOf("ref,amount,to,method\nA,5,01812345678,bkash\n"),
    ];
    expect(await run(send)).toMatchObject({ code: 75 });
    ill.splice(0);
    const next = "sk_sandbox_NEW-ABCDEFGHIJKL-KEY";
    await merchant.close();
    await inDatabase(merchant.booksFile, (books) =>
      books.prepare("UPDATE account SET apiKey = ?").run(next),
    );
    await merchant.comeBack();

    const rotated = await run(["profile", "rotate", "--key-file", fileOf(next), "--json"]);

    expect(rotated.code).toBe(0);
    const { warnings } = JSON.parse(rotated.stdout);
    expect(warnings).toEqual(
      expect.arrayContaining([
        { reason: "profile.batches-open", message: expect.stringContaining("a new account") },
        { reason: "profile.payouts-unknown", message: expect.stringContaining("a new account") },
      ]),
    );
    expect(await run(send)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(1);
  });
});
