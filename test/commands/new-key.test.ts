import { expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import {
  inDatabase,
  type Merchant,
  openMerchant,
  paidPayment,
  payoutOf,
  refundOf,
} from "../merchant.ts";
import { lenden } from "../run.ts";
import { faults } from "../sandbox/running.ts";

const header = "ref,amount,to,method";
const newKey = "sk_sandbox_NEW-ABCDEFGHIJKL-KEY";

/** The dashboard gave the merchant another key: lenden as it runs from then on. */
async function withNewKey(merchant: Merchant): Promise<Merchant["lenden"]> {
  await merchant.close();
  await inDatabase(merchant.booksFile, (books) =>
    books.prepare("UPDATE account SET apiKey = ?").run(newKey),
  );
  await merchant.comeBack();
  const env = { ...merchant.env, LENDEN_API_KEY: newKey };
  return (args, options = {}) => lenden(args, { ...options, env });
}

/** All that the ledger has happened days ago. */
function age(merchant: Merchant, days: number): Promise<number> {
  const earlier = `strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '-${days} days')`;
  return merchant.inLedger((ledger) => {
    ledger.prepare(`UPDATE batches SET created_at = ${earlier}`).run();
    return ledger.prepare(`UPDATE operations SET created_at = ${earlier}, resumed_at = NULL`).run();
  });
}

const send = (path: string, ...more: string[]) => ["payout", "batch", "send", path, ...more];

test("a row that was paid by a new reference is not paid again with a new API key, however long ago that was", async () => {
  const ill = faults("createPayout:status-400");
  const merchant = await openMerchant({ faults: ill });
  const file = fileOf(`${header}\nA,5,01712345678,nagad\nB,6,01812345678,nagad\n`);
  expect((await merchant.lenden(send(file))).code).toBe(6);
  ill.splice(0);
  const { stdout: mended } = await merchant.lenden([
    ...["payout", "batch", "export", file, "--only", "failed"],
  ]);
  expect((await merchant.lenden(send(fileOf(mended), "--name", "again"))).code).toBe(0);
  const lendenAnew = await withNewKey(merchant);
  for (const days of [0, 40]) {
    await age(merchant, days);
    const { code, stderr } = await lendenAnew(send(file));
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /line 2, to .* was sent the same amount at .* with another API key, as A-lenden2\./,
      ),
    ]);
  }
  expect(await merchant.books("payouts")).toHaveLength(2);
  const nextMonth = fileOf(`${header}\nC,5,01712345678,nagad\n`, "next.csv");
  expect((await lendenAnew(send(nextMonth))).code).toBe(0);
});

test("rows that were sent with another API key go out by their own references, and are paid once", async () => {
  const merchant = await openMerchant();
  const file = fileOf(`${header}\nA,5,01712345678,nagad\nB,6,01812345678,nagad\n`);
  expect((await merchant.lenden(send(file))).code).toBe(0);
  const lendenAnew = await withNewKey(merchant);
  expect((await lendenAnew(send(file))).code).toBe(0);
  expect(await merchant.books("payouts")).toHaveLength(2);
});

test("somebody who got the same amount with another API key within a day is paid again only if that is meant", async () => {
  const merchant = await openMerchant();
  expect((await merchant.lenden(payoutOf("SINGLE"))).code).toBe(0);
  const lendenAnew = await withNewKey(merchant);
  const file = fileOf(`${header}\nA,5,01712345678,bkash\n`);
  expect((await lendenAnew(send(file))).stderr).toContain("with another API key, as SINGLE.");
  expect((await lendenAnew(send(file, "--allow-duplicates"))).code).toBe(0);
  expect(await merchant.books("payouts")).toHaveLength(2);
});

test("a doubtful refund counts also with a new API key, until somebody says what came of it", async () => {
  const ill = faults("createRefund:lost-reply");
  const merchant = await openMerchant({ faults: ill });
  const payment = await paidPayment(merchant);
  const once = refundOf(payment, "40");
  expect((await merchant.lenden(once)).code).toBe(75);
  ill.splice(0);
  const lendenAnew = await withNewKey(merchant);
  const same = await lendenAnew(refundOf(payment, "40"));
  expect([same.code, same.stderr]).toEqual([3, expect.stringContaining("the same refund already")]);
  const more = await lendenAnew(refundOf(payment, "70"));
  const [, id = ""] = /ledger resolve (OP\w+)/.exec(same.stderr) ?? [];
  expect([more.code, more.stderr]).toEqual([3, expect.stringMatching(`too much[^]*show ${id}`)]);
  expect((await lendenAnew(["ledger", "resolve", id, "--not-made"])).code).toBe(0);
  expect((await lendenAnew(refundOf(payment, "40"))).code).toBe(0);
});

test("a doubtful payout is sent with no other API key than its own", async () => {
  const ill = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  expect((await merchant.lenden(payoutOf("DOUBT", "--timeout", "1s"))).code).toBe(75);
  ill.splice(0);
  const [{ id = "" } = {}] = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT id FROM operations").all(),
  );
  const lendenAnew = await withNewKey(merchant);
  const { code, stderr } = await lendenAnew(["ledger", "resolve", String(id)]);
  expect([code, stderr]).toEqual([3, expect.stringContaining("begun with another API key")]);
  expect((await lendenAnew(["ledger", "show", String(id)])).code).toBe(0);
  expect(await merchant.books("payouts")).toEqual([]);
});
