import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { guaranteesOf, type Result, storeVerification } from "../../src/verification/stored.ts";
import { openSecondApi, openShop } from "../support/either-api.ts";
import type { Deviation } from "../support/fake-api.ts";
import { scratchFolder, soon, until } from "../support/helpers.ts";
import { ended, lenden, startBuilt } from "../support/lenden.ts";
import { openMerchant, payoutOf } from "../support/merchant.ts";

/** A shop whose API deviates, and the results of its verify-api. */
async function verifiedShop(...deviations: string[]) {
  const keepsNumbers = !deviations.includes("number-without-zero");
  const all = keepsNumbers ? ["number-as-sent", ...deviations] : deviations;
  const api = await openSecondApi(onTestFinished, all);
  const shop = await openShop(api);
  const { code, json = {} } = await shop.lenden("verify-api", "--pause", "1m");
  const results: Result[] = JSON.parse(JSON.stringify(Object.values(json)));
  const named = (wanted: Result["verdict"]) =>
    results
      .filter(({ verdict }) => verdict === wanted)
      .map(({ name }) => name)
      .sort();
  const payouts = () => api.server.requests.filter(({ path }) => path.startsWith("/payout/create"));
  const before = payouts().length;
  return {
    api,
    shop,
    code,
    results,
    refuted: named("refuted"),
    send: (reference: string) => {
      const what = ["--amount", "500", "--to", "01712345678", "--method-id", api.methodId];
      return shop.lenden("payout", "send", ...what, "--ref", reference);
    },
    /** How many payouts were requested since. */
    sent: () => payouts().length - before,
  };
}

/**
 * What an API may do otherwise, and what verify-api finds. The deviations of one line do not disturb each other:
 * `npm test` tries them together, and `npm run test:deep` each alone.
 */
const deviating: Partial<Record<Deviation, string>>[] = [
  {
    "number-without-zero": "number-format",
    "payout-without-time": "payout-fields",
    "payment-without-method": "payment-fields",
    "refund-without-account": "refund-fields",
    "unknown-id-is-an-error": "unknown-id",
    "other-created-at": "created-at",
    "cancels-twice": "cancel-twice",
    "unknown-method-creates": "bad-method rejections",
  },
  {
    "wrong-signature-creates": "bad-signature rejections",
    "another-recipient-changes": "ref-recipient references",
    "another-method-creates": "ref-method references",
    "forgets-references": "ref-later references",
  },
  { "another-amount-creates": "ref-amount references" },
  { "another-amount-changes": "ref-amount references" },
  { "rejects-with-a-page": "rejection-shape cancel-twice" },
  { "methods-without-code": "method-fields" },
  { "other-date": "clock created-at" },
];

const isDeep = process.env.LENDEN_DEEP === "1";
const cases = deviating
  .flatMap((together) =>
    isDeep ? Object.entries(together).map((one) => Object.fromEntries([one])) : [together],
  )
  .map((together) => {
    const found = Object.values(together).flatMap((names) => names.split(" "));
    const isGuard = (name: string) => name === "references" || name === "rejections";
    return {
      name: Object.keys(together).join(", "),
      deviations: Object.keys(together),
      refuted: found.filter((name) => !isGuard(name)).sort(),
      guards: [...new Set(found.filter(isGuard))].sort(),
    };
  });

describe("verify-api", () => {
  test("finds that all assumptions hold with the local sandbox, and leaves nothing unknown", async () => {
    const merchant = await openMerchant();
    const { code, stdout } = await merchant.lenden(["verify-api", "--pause", "1ms", "--json"]);
    const results: Result[] = JSON.parse(stdout);
    expect(results.filter(({ verdict }) => verdict !== "holds")).toEqual([]);
    expect(code).toBe(0);
    expect(await merchant.json(["ledger", "list", "--unknown"])).toEqual([]);
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
  });

  test.each(cases)("finds all that an API does otherwise: $name", async (expected) => {
    const found = await verifiedShop(...expected.deviations);
    expect(found).toMatchObject({ code: 11, refuted: expected.refuted });
    const refuted = found.results.filter(({ verdict }) => verdict === "refuted");
    expect(refuted.filter(({ hint, otherwise }) => hint !== otherwise)).toEqual([]);
    const guards = refuted.flatMap(({ guard }) => guard ?? []);
    expect([...new Set(guards)].sort()).toEqual(expected.guards);
    expect((await found.shop.lenden("ledger", "list", "--unknown")).json).toEqual({});
  });

  test("does not doubt rejections because the API accepts a wrong signature", async () => {
    const { code, refuted, results } = await verifiedShop("wrong-signature-accepted");
    expect([code, refuted]).toEqual([11, ["bad-signature"]]);
    expect(results.flatMap(({ verdict, guard }) => (verdict === "refuted" ? guard : []))).toEqual([
      null,
    ]);
  });

  test("records a second payout of a used reference as one of its own", async () => {
    const { api, shop } = await verifiedShop("another-amount-creates");
    const second = api.server.payouts.find(
      ({ merchantRef }, place, all) =>
        place > all.findIndex((other) => other.merchantRef === merchantRef),
    );
    const { payoutId = "" } = second ?? {};
    await api.set("payout", payoutId, "Completed");
    const { json = {} } = await shop.lenden("payout", "list", "--refresh");
    expect(Object.values(json)).toContainEqual(
      expect.objectContaining({ payoutId, status: "Completed", amount: second?.amount }),
    );
  });

  test("is shown by doctor, without a request to the API", async () => {
    const { shop, api } = await verifiedShop("cancels-twice", "number-as-sent");
    const verification = async () => {
      const { json = {} } = await shop.lenden("doctor");
      return Object.values(json).find((one) => Object(one).check === "verification");
    };
    expect(await verification()).toMatchObject({
      state: "warning",
      message: expect.stringMatching(/^API verified .*: 15 of 16 assumptions hold.*cancel-twice/),
    });
    await api.server.close();
    expect(await verification()).toMatchObject({ state: "warning" });
  });

  test("sends no request with a production key", async () => {
    const env = {
      LENDEN_BASE_URL: "https://127.0.0.1:1/cp/api/v1",
      LENDEN_API_KEY: "public-ABC-ABCDEFGHIJKL-XYZ",
      LENDEN_PAYOUT_SECRET: "s3cret",
    };
    const { code, stderr } = await lenden(["verify-api", "--json"], { env });
    expect([code, JSON.parse(stderr).error.reason]).toEqual([4, "account.production"]);
  });

  test("ends with exit 4 or 69 if the API rejects the secret or cannot be reached", async () => {
    const api = await openSecondApi(onTestFinished);
    const env = { ...api.env, LENDEN_CONFIG_DIR: scratchFolder() };
    const verify = async (more: Record<string, string>) =>
      (await lenden(["verify-api", "--json"], { env: { ...env, ...more }, host: { sleep: soon } }))
        .code;
    expect(await verify({ LENDEN_PAYOUT_SECRET: "another" })).toBe(4);
    expect(await verify({ LENDEN_BASE_URL: "http://127.0.0.1:1/cp/api/v1" })).toBe(69);
    expect(readdirSync(join(env.LENDEN_CONFIG_DIR, "data")).join(" ")).not.toContain("verified");
  });

  test("cannot decide what depends on a payout that the API rejects", async () => {
    const api = await openSecondApi(onTestFinished);
    const shop = await openShop(api);
    api.trouble("payout", "rejected");
    const { code, json = {} } = await shop.lenden("verify-api");
    expect(Object.values(json)).toContainEqual(
      expect.objectContaining({ name: "ref-later", verdict: "undecided" }),
    );
    expect([code, (await shop.lenden("ledger", "list", "--unknown")).json]).toEqual([11, {}]);
  });

  test("sends nothing in a dry run, and lists what it would try", async () => {
    const merchant = await openMerchant();
    const dry = await merchant.lenden(["verify-api", "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stderr: expect.stringContaining(merchant.baseUrl) });
    expect(dry.stdout).toContain("Would be tried: The first payout is sent again after the pause.");
    const results: Result[] = JSON.parse(
      (await merchant.lenden(["verify-api", "--dry-run", "--json"])).stdout,
    );
    expect(results.map(({ verdict }) => verdict)).toEqual(Array(16).fill("skipped"));
    expect(await merchant.requests()).toEqual([]);
    expect(await merchant.json(["ledger", "list"])).toEqual([]);
  });

  test("marks its operations in lists, and @last ignores them", async () => {
    const merchant = await openMerchant();
    const own = await merchant.id(payoutOf("OWN-1"));
    await merchant.lenden(["verify-api", "--pause", "1ms"]);
    for (const line of ["payout list", "ledger list", "pay list"]) {
      const { stdout } = await merchant.lenden(line.split(" "));
      expect(stdout.split("\n")[0]).toMatch(/TEST$/);
      expect(stdout).toMatch(/verify-api$/m);
      const csv = await merchant.lenden([...line.split(" "), "-o", "csv"]);
      // The last columns are the login and the actor.
      expect(csv.stdout).toMatch(/,verify-api,[^,\r]+,script\r\n/);
    }
    const payouts: unknown = await merchant.json(["payout", "list"]);
    expect(payouts).toContainEqual(expect.objectContaining({ payoutId: own, test: false }));
    expect(payouts).toContainEqual(expect.objectContaining({ test: true }));
    expect(await merchant.id(["payout", "get", "@last"])).toBe(own);
    expect(await merchant.json(["ledger", "show", "@last"])).toMatchObject({ reference: "OWN-1" });
    expect((await merchant.lenden(["pay", "get", "@last"])).code).toBe(9);
  });

  test("leaves tests that are not sent again by ledger resolve", async () => {
    const merchant = await openMerchant();
    await merchant.lenden(["verify-api", "--pause", "1ms"]);
    const at = new Date().toISOString();
    await merchant.inLedger((ledger) =>
      ledger.exec(`
        INSERT INTO events (number, operation, at, event, data, commit_id, hash, login)
          SELECT (SELECT max(number) FROM events) + number, number, '${at}', 'look',
            '{"state":"UNCERTAIN"}', '', '', login FROM operations WHERE kind = 'payout';
        UPDATE operations SET state = 'UNCERTAIN', phase = 'unresolved', code = NULL,
          message = NULL, updated_at = '${at}' WHERE kind = 'payout'`),
    );
    const sent = (await merchant.moneyRequests()).length;
    const { code, stderr } = await merchant.lenden(["ledger", "resolve"]);
    expect([code, (await merchant.moneyRequests()).length]).toEqual([75, sent]);
    const open: { operation: string; reference: string | null; resolveWith: string[] }[] =
      JSON.parse((await merchant.lenden(["ledger", "list", "--unknown", "--json"])).stdout);
    expect(open.some(({ reference }) => reference === null)).toBe(true);
    for (const { operation, reference, resolveWith } of open) {
      expect(stderr).toContain(`lenden ledger resolve ${reference ?? operation} --not-created`);
      expect(resolveWith).toHaveLength(2);
    }
    const [{ operation = "" } = {}] = open;
    const one = await merchant.lenden(["ledger", "resolve", operation, "--not-created"]);
    expect(one.code).toBe(0);
  });

  test("leaves no payout that counts as a duplicate", async () => {
    const merchant = await openMerchant();
    await merchant.lenden(["verify-api", "--pause", "1ms"]);
    const file = join(scratchFolder(), "pay.csv");
    writeFileSync(file, "ref,amount,to,method\nA-1,1,01700000001,bkash\n");
    const checked = await merchant.json(["payout", "batch", "check", file]);
    expect(checked).toMatchObject({ comparison: { firstPayouts: { recipients: 1 } } });
    const same = ["payout", "send", "--amount", "1", "--to", "01700000001", "--method", "bkash"];
    const codes = [await merchant.lenden(same), await merchant.lenden(same)];
    expect(codes.map(({ code }) => code)).toEqual([0, 3]);
    // Real payouts stay duplicates, although the newest one of the recipient is a test.
    await merchant.lenden(["verify-api", "--pause", "1ms"]);
    expect(await merchant.lenden(same)).toMatchObject({ code: 3 });
    expect(await merchant.lenden(["payout", "batch", "check", file])).toMatchObject({ code: 2 });
  });
});

test("an interrupted verify-api stores what it refuted", async () => {
  const api = await openSecondApi(onTestFinished, ["number-as-sent", "another-amount-creates"]);
  const folder = scratchFolder();
  const env = { ...api.env, LENDEN_CONFIG_DIR: scratchFolder(), LENDEN_DATA_DIR: folder };
  const child = startBuilt(["verify-api", "--pause", "1m", "--json"], env);
  const end = ended(child);
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  await until(() => printed.includes("ref-method"));
  child.kill("SIGINT");
  expect(await end).toMatchObject({ code: 130 });
  const names = readdirSync(folder).filter((name) => name.startsWith("verified-"));
  expect(names).toHaveLength(1);
  expect(readFileSync(join(folder, names[0] ?? ""), "utf8")).toContain('"verdict":"refuted"');
});

describe("after verify-api refuted that references are kept", () => {
  test("P25c: a payout of unknown outcome is not sent again, by no command", async () => {
    const { api, shop, send, sent } = await verifiedShop("forgets-references");
    api.trouble("payout", "lost");
    expect(await send("INV-1")).toMatchObject({
      code: 75,
      error: { hint: expect.stringContaining("ledger resolve INV-1 --not-created") },
    });
    api.heal();
    shop.pass(0.1);
    for (const ended of [await send("INV-1"), await shop.lenden("ledger", "resolve", "INV-1")])
      expect(ended).toMatchObject({ code: 75, error: { reason: "payout.reference-unreliable" } });
    expect(sent()).toBe(1);
  });

  test("P25c: a batch sends its other rows", async () => {
    const { api, shop, sent } = await verifiedShop("forgets-references");
    const file = join(scratchFolder(), "pay.csv");
    const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((row) => `R-${row},${row},0171234567${row}`);
    writeFileSync(file, `ref,amount,to\n${rows.join("\n")}\n`);
    const batch = ["payout", "batch", "send", file, "--method-id", api.methodId, "--yes"];
    api.trouble("payout", "lost");
    await shop.lenden(...batch, "--concurrency", "1");
    api.heal();
    const first = sent();
    expect(await shop.lenden(...batch)).toMatchObject({ code: 75 });
    expect([first, sent()]).toEqual([5, 8]);
  });
});

describe("after verify-api refuted that a rejection proves anything", () => {
  test("P17c: a rejected payout is of unknown outcome, and its hint names no new reference", async () => {
    const { api, shop, send } = await verifiedShop("wrong-signature-creates");
    expect(await shop.lenden("verify-api")).toMatchObject({ code: 11 });
    expect((await shop.lenden("ledger", "list", "--unknown")).json).toEqual({});
    api.trouble("payout", "rejected");
    const { code, error } = await send("INV-1");
    expect([code, error.reason]).toEqual([75, "payout.outcome-unknown"]);
    expect(error.hint).toContain("ledger resolve INV-1 --not-created");
  });

  test("P17c: a rejected payment and a rejected refund are of unknown outcome", async () => {
    const { api, shop } = await verifiedShop("wrong-signature-creates");
    const pay = ["pay", "create", "--amount", "100", "--method-id", api.methodId];
    const paid = await shop.id(...pay, "--description", "one");
    await api.set("payment", paid, "Completed");
    for (const kind of ["payment", "refund"] as const) api.trouble(kind, "rejected");
    const account = ["--account-type", "personal", "--account-number", "01812345678"];
    const refund = ["refund", "create", "--payment", paid, "--amount", "5", ...account];
    expect(await shop.lenden(...pay, "--description", "two")).toMatchObject({ code: 75 });
    expect(await shop.lenden(...refund)).toMatchObject({ code: 75 });
  });
});

describe("the stored results of verify-api", () => {
  const of = (account: string, more: Partial<Result> = {}, environment = "sandbox") => ({
    at: "2026-11-25T06:00:00.000Z",
    environment,
    account,
    baseUrl,
    results: [{ ...refutedLater, ...more }],
  });
  const baseUrl = "https://sandbox.example/cp/api/v1";
  const shop = { environment: "sandbox", account: "shop", baseUrl };
  const strict = { references: false, rejections: true };
  const usual = { references: true, rejections: true };

  test("count for their account, and for every production account", () => {
    const folder = scratchFolder();
    storeVerification(folder, of("shop"));
    expect(guaranteesOf(folder, shop)).toEqual(strict);
    expect(guaranteesOf(folder, { ...shop, account: "other" })).toEqual(usual);
    expect(guaranteesOf(folder, { ...shop, environment: "production" })).toEqual(strict);
  });

  test("of a local sandbox show nothing about the provider", () => {
    const folder = scratchFolder();
    storeVerification(folder, { ...of("shop"), baseUrl: "http://127.0.0.1:4242/cp/api/v1" });
    expect(guaranteesOf(folder, { ...shop, environment: "production" })).toEqual(usual);
  });

  test.each(["http://127.0.0.1:4242/cp/api/v1", "https://other.example/cp/api/v1"])(
    "stay refuted, whatever an account of the same name has at %s",
    (elsewhere) => {
      const folder = scratchFolder();
      storeVerification(folder, of("shop"));
      storeVerification(folder, { ...of("shop", { verdict: "holds" }), baseUrl: elsewhere });
      expect(guaranteesOf(folder, shop)).toEqual(strict);
      expect(guaranteesOf(folder, { ...shop, environment: "production" })).toEqual(strict);
      expect(guaranteesOf(folder, { ...shop, baseUrl: elsewhere })).toEqual(usual);
    },
  );

  test("stay refuted until the assumption holds", () => {
    const folder = scratchFolder();
    const verdicts = ["refuted", "undecided", "skipped", "holds"] as const;
    const relied = verdicts.map((verdict) => {
      storeVerification(folder, of("shop", { verdict }));
      return guaranteesOf(folder, shop).references;
    });
    expect(relied).toEqual([false, false, false, true]);
  });

  test("replace the file of an earlier version", () => {
    const folder = scratchFolder();
    storeVerification(folder, of("shop"));
    const [name = ""] = readdirSync(folder);
    const earlier = "verified-0123456789abcdef01234567.json";
    renameSync(join(folder, name), join(folder, earlier));
    expect(guaranteesOf(folder, shop)).toEqual(strict);
    storeVerification(folder, of("shop", { verdict: "holds" }));
    expect([guaranteesOf(folder, shop), readdirSync(folder)]).toEqual([usual, [name]]);
  });

  test("stay refuted after a run that did not reach the assumption", () => {
    const folder = scratchFolder();
    storeVerification(folder, of("shop"));
    storeVerification(folder, of("shop", { name: "clock", verdict: "holds" }));
    expect(guaranteesOf(folder, shop)).toEqual(strict);
  });

  test("rely on nothing if the file cannot be read", () => {
    const folder = scratchFolder();
    storeVerification(folder, of("shop", { verdict: "holds" }));
    writeFileSync(join(folder, readdirSync(folder)[0] ?? ""), '{"at":');
    expect(guaranteesOf(folder, shop)).toEqual({ references: false, rejections: false });
  });
});

const refutedLater: Result = {
  name: "ref-later",
  expected: "",
  tried: "",
  seen: "",
  otherwise: "",
  hint: null,
  verdict: "refuted",
  guard: "references",
};
