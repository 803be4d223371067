import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { lenden } from "../support/lenden.ts";
import {
  inDatabase,
  type Merchant,
  openMerchant,
  paidPayment,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";

const newKey = "sk_sandbox_NEW-ABCDEFGHIJKL-KEY";

/** The dashboard gave the merchant another key of the same account: lenden as it runs from then on. */
async function withNewKey(merchant: Merchant): Promise<Merchant["lenden"]> {
  const [account] = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT name FROM accounts").all(),
  );
  await merchant.close();
  await inDatabase(merchant.booksFile, (books) =>
    books.prepare("UPDATE account SET apiKey = ?").run(newKey),
  );
  await merchant.comeBack();
  const env = { ...merchant.env, LENDEN_API_KEY: newKey, LENDEN_ACCOUNT: String(account?.name) };
  return (args, options = {}) => lenden(args, { ...options, env });
}

test("I10: a refund belongs to one operation, with any API key", async () => {
  const ill = faults("createRefund:lost-reply");
  ill.splice(0);
  const merchant = await openMerchant({ faults: ill });
  const payment = await paidPayment(merchant);
  const made = await merchant.id(refundOf(payment, "40"));
  ill.push(...faults("createRefund:status-500"));
  const again = await merchant.lenden(refundOf(payment, "40", "--again"));
  const [, id = ""] = /ledger resolve (OP\w+)/.exec(again.stderr) ?? [];
  const lendenAnew = await withNewKey(merchant);
  const taken = await lendenAnew(["ledger", "resolve", id, "--created", made]);
  expect([taken.code, taken.stderr]).toEqual([5, expect.stringContaining("already belongs to OP")]);
  await lendenAnew(["sandbox", "set", "refund", made, "Cancelled"]);
  expect((await lendenAnew(["refund", "wait", made])).code).toBe(10);
  expect((await lendenAnew(["ledger", "show", made])).stdout).toContain("Cancelled");
});

test("a refund whose outcome is unknown counts with a new API key until it is resolved", async () => {
  const ill = faults("createRefund:lost-reply");
  const merchant = await openMerchant({ faults: ill });
  const payment = await paidPayment(merchant);
  const once = refundOf(payment, "40");
  expect((await merchant.lenden(once)).code).toBe(75);
  ill.splice(0);
  const lendenAnew = await withNewKey(merchant);
  const same = await lendenAnew(refundOf(payment, "40"));
  expect([same.code, same.stderr]).toEqual([3, expect.stringContaining("Duplicate refund")]);
  const more = await lendenAnew(refundOf(payment, "70"));
  const [, id = ""] = /ledger resolve (OP\w+)/.exec(same.stderr) ?? [];
  expect([more.code, more.stderr]).toEqual([
    3,
    expect.stringMatching(new RegExp(`Cannot refund BDT 70.*\\n.*show ${id}`)),
  ]);
  expect((await lendenAnew(["ledger", "resolve", id, "--not-created"])).code).toBe(0);
  expect((await lendenAnew(refundOf(payment, "40"))).code).toBe(0);
});

test("P25b: a payout whose outcome is unknown is not resent with another API key", async () => {
  const ill = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  expect((await merchant.lenden(payoutOf("DOUBT", "--timeout", "1s"))).code).toBe(75);
  ill.splice(0);
  const [{ id = "" } = {}] = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT id FROM operations").all(),
  );
  const lendenAnew = await withNewKey(merchant);
  const { code, stderr } = await lendenAnew(["ledger", "resolve", String(id)]);
  expect([code, stderr]).toEqual([75, expect.stringContaining("another API key of this account")]);
  expect((await lendenAnew(["ledger", "show", String(id)])).code).toBe(0);
  expect(await merchant.books("payouts")).toEqual([]);
});
