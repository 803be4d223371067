import { expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { openProductionMerchant, type ProductionMerchant, payoutOf } from "../support/merchant.ts";

const first = "public-ABC-ABCDEFGHIJKL-XYZ";
const second = "public-NEW-ABCDEFGHIJKL-KEY";
const withoutKey = {
  LENDEN_API_KEY: undefined,
  LENDEN_PAYOUT_SECRET: undefined,
  LENDEN_BASE_URL: undefined,
};

function accountsOf({ inLedger }: ProductionMerchant): Promise<string[]> {
  return inLedger((ledger) =>
    ledger
      .prepare(
        "SELECT a.name FROM account_keys k JOIN accounts a ON a.number = k.account ORDER BY first_used_at",
      )
      .all()
      .map(({ name }) => String(name)),
  );
}

/** A merchant whose key and secret are in the profile `shop`, and the tool without variables for them. */
async function merchantWithProfile() {
  const merchant = await openProductionMerchant();
  const run = (...args: string[]) => merchant.lenden(args, withoutKey);
  const secret = fileOf(merchant.payoutSecret);
  const store = (key: string, ...more: string[]) =>
    merchant.lendenUnasked(
      ["profile", "add", "shop", "--base-url", merchant.baseUrl, ...more].concat([
        "--key-file",
        fileOf(key),
        "--secret-file",
        secret,
      ]),
      withoutKey,
    );
  expect(await store(first)).toMatchObject({ code: 0 });
  return { merchant, run, store };
}

test("the next key of a profile joins its account, also after the profile was renamed", async () => {
  const { merchant, run, store } = await merchantWithProfile();
  expect(await run(...payoutOf("ONE"))).toMatchObject({ code: 0 });
  await merchant.rotateKey(second);
  expect(await store(second, "--replace")).toMatchObject({ code: 0 });
  expect(
    await merchant.lendenUnasked(["profile", "rename", "shop", "store"], withoutKey),
  ).toMatchObject({
    code: 0,
  });
  expect(await run(...payoutOf("ONE", "-q"))).toMatchObject({ code: 0 });
  expect(await run(...payoutOf("TWO"))).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toHaveLength(2);
  expect(await accountsOf(merchant)).toEqual(["shop", "shop"]);
});

test("an unknown key of the environment gets its own account, unless LENDEN_ACCOUNT names another", async () => {
  const { merchant, run } = await merchantWithProfile();
  expect(await run(...payoutOf("ONE"))).toMatchObject({ code: 0 });
  await merchant.rotateKey(second);
  const newKey = { LENDEN_API_KEY: second };
  const alone = await merchant.lenden(payoutOf("TWO"), newKey);
  expect(alone).toMatchObject({ code: 0, stderr: expect.stringContaining("set LENDEN_ACCOUNT") });
  expect(await accountsOf(merchant)).toEqual(["shop", expect.stringMatching(/^key-[0-9a-f]{6}$/)]);
  const again = await merchant.lenden(payoutOf("ONE", "--again", "--json"), newKey);
  expect(JSON.parse(again.stdout)).toMatchObject({ merchantRef: "ONE", existing: true });
  const other = { ...newKey, LENDEN_ACCOUNT: "shop" };
  expect(await merchant.lenden(payoutOf("THREE"), other)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /LENDEN_ACCOUNT is shop, but .* account key-[0-9a-f]{6}\. Nothing was sent\./,
    ),
  });
  expect(await merchant.books("payouts")).toHaveLength(2);
});

test("reading needs no key, and names the accounts if it shows all of them", async () => {
  const { merchant, run } = await merchantWithProfile();
  expect(await run(...payoutOf("ONE"))).toMatchObject({ code: 0 });
  await merchant.rotateKey(second);
  await merchant.lenden(payoutOf("TWO"), { LENDEN_API_KEY: second });
  const list = (more: Record<string, string>) =>
    merchant.lendenUnasked(["payout", "list"], { ...withoutKey, ...more });
  const noProfile = { LENDEN_CONFIG_DIR: `${merchant.folder}/no-profile` };
  const all = await list(noProfile);
  expect(all).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ACCOUNT\n.*TWO.*key-.*\n.*ONE.*shop\n/),
  });
  const one = await list({ ...noProfile, LENDEN_ACCOUNT: "shop" });
  expect(one).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/TWO|ACCOUNT/) });
  expect((await list({})).stdout).toEqual(one.stdout);
});
