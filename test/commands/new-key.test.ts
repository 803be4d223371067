import { expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import {
  inDatabase,
  type Merchant,
  openMerchant,
  paidPayment,
  paymentOf,
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

test.each([
  ["as it was", "A", "5,01712345678"],
  ["with another amount", "A", "4,01712345678"],
  ["to another number", "A-lendenB", "5,01812345678"],
  ["for a long reference", "X".repeat(60), "5,01712345678"],
])(
  "a row that was refused, and went on %s, is not paid again with a new API key, however long ago that was",
  async (_, ref, mended) => {
    const ill = faults("createPayout:status-400");
    const merchant = await openMerchant({ faults: ill });
    const file = fileOf(`${header}\n${ref},5,01712345678,nagad\nB,6,01912345678,nagad\n`);
    expect((await merchant.lenden(send(file))).code).toBe(6);
    ill.splice(0);
    const failed = ["payout", "batch", "export", file, "--only", "failed"];
    const again = (await merchant.lenden(failed)).stdout.replace("5,01712345678", mended);
    expect((await merchant.lenden(send(fileOf(again), "--name", "again"))).code).toBe(0);
    const lendenAnew = await withNewKey(merchant);
    for (const days of [0, 40]) {
      await age(merchant, days);
      for (const verb of ["check", "send"]) {
        const { code, stdout, stderr } = await lendenAnew(["payout", "batch", verb, file]);
        expect([code, stdout + stderr]).toEqual([
          2,
          expect.stringMatching(
            /With another API key this very payout was refused at .*ledger show OP/,
          ),
        ]);
      }
    }
    expect(await merchant.books("payouts")).toHaveLength(2);
    const nextMonth = fileOf(`${header}\nC,5,01712345678,nagad\n`, "next.csv");
    expect((await lendenAnew(send(nextMonth))).code).toBe(0);
  },
);

test("a row in doubt with another API key waits until somebody says what came of it", async () => {
  const ill = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  const file = fileOf(`${header}\nA,5,01712345678,nagad\nB,6,01812345678,nagad\n`);
  expect((await merchant.lenden(send(file, "--timeout", "1s"))).code).toBe(75);
  ill.splice(0);
  const lendenAnew = await withNewKey(merchant);
  const { code, stderr } = await lendenAnew(send(file, "--allow-duplicates"));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/very payout is in doubt since/)]);
  const ids = new Set(stderr.match(/OP\w+/g));
  expect(ids.size).toBeGreaterThan(0);
  for (const id of ids)
    expect((await lendenAnew(["ledger", "resolve", id, "--not-created"])).code).toBe(0);
  expect((await lendenAnew(send(file))).code).toBe(0);
  expect(await merchant.books("payouts")).toHaveLength(2);
});

test("what another key left refused is not made again by a batch, or a payout, that this key had begun in vain", async () => {
  const ill = faults("createPayout:status-400");
  const merchant = await openMerchant({ faults: ill });
  const file = fileOf(`${header}\nA,5,01712345678,nagad\n`);
  expect((await merchant.lenden(send(file))).code).toBe(6);
  expect((await merchant.lenden(payoutOf("S"))).code).toBe(3);
  const lendenAnew = await withNewKey(merchant);
  ill.splice(0, 1, ...faults("createPayout:status-401"));
  await merchant.inLedger((ledger) => ledger.exec("UPDATE operations SET amount_paisa = 1"));
  expect((await lendenAnew(send(file, "--allow-duplicates"))).code).toBe(4);
  expect((await lendenAnew(payoutOf("S", "--again"))).code).toBe(4);
  await merchant.inLedger((ledger) =>
    ledger.exec("UPDATE operations SET amount_paisa = 500 WHERE amount_paisa = 1"),
  );
  ill.splice(0);
  await age(merchant, 40);
  for (const line of [send(file), payoutOf("S")]) {
    const { code, stderr } = await lendenAnew(line);
    expect([2, 3]).toContain(code);
    expect(stderr).toMatch(/[Ww]ith another API key/);
  }
  expect(await merchant.books("payouts")).toEqual([]);
  expect((await lendenAnew(send(file, "--allow-duplicates"))).code).toBe(0);
});

test("a reference that another key used for another payout is asked about, where that was refused", async () => {
  const ill = faults("createPayout:status-400");
  const merchant = await openMerchant({ faults: ill });
  const file = fileOf(`${header}\nA,5,01712345678,nagad\n`);
  expect((await merchant.lenden(send(file))).code).toBe(6);
  ill.splice(0);
  const lendenAnew = await withNewKey(merchant);
  const mended = fileOf(`${header}\nA,5,01912345678,nagad\n`);
  const { code, stderr } = await lendenAnew(send(mended));
  expect([code, stderr]).toEqual([2, expect.stringContaining("another payout of this reference")]);
  expect((await lendenAnew(send(mended, "--allow-duplicates"))).code).toBe(0);
});

test.each([
  ["createPayout:status-400", 3, "ended REFUSED"],
  ["createPayout:status-500", 75, "is in doubt since"],
])(
  "a single payout that ended so (%s) with another API key is not made again",
  async (fault, code, says) => {
    const ill = faults(fault);
    const merchant = await openMerchant({ faults: ill });
    expect((await merchant.lenden(payoutOf("SINGLE", "--timeout", "1s"))).code).toBe(code);
    ill.splice(0);
    const lendenAnew = await withNewKey(merchant);
    for (const days of [0, 40]) {
      await age(merchant, days);
      const refused = await lendenAnew(payoutOf("SINGLE"));
      expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(says)]);
    }
    expect((await lendenAnew(["ledger", "show", "SINGLE"])).code).toBe(0);
    const other = payoutOf("SINGLE").map((word) => word.replace("01712345678", "01912345678"));
    expect((await lendenAnew(other)).code).toBe(0);
    expect(await merchant.books("payouts")).toHaveLength(1);
  },
);

test("a doubtful payment request is not made again with a new API key", async () => {
  const merchant = await openMerchant({ faults: faults("createPayment:lost-reply") });
  expect((await merchant.lenden(paymentOf("ORDER-1"))).code).toBe(75);
  const lendenAnew = await withNewKey(merchant);
  expect((await lendenAnew(paymentOf("ORDER-1"))).code).toBe(3);
  expect(await merchant.books("payments")).toHaveLength(1);
});

test("one refund is the refund of one operation, with whatever API key", async () => {
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

test("what another API key sent goes out with this one only if that is meant, and is paid once", async () => {
  const merchant = await openMerchant();
  const file = fileOf(`${header}\nA,5,01712345678,nagad\nB,6,01812345678,nagad\n`);
  expect((await merchant.lenden(send(file))).code).toBe(0);
  const lendenAnew = await withNewKey(merchant);
  await age(merchant, 40);
  const refused = await lendenAnew(send(file));
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(
      /With another API key this very payout was sent at [\s\S]*--allow-duplicates/,
    ),
  ]);
  const meant = await lendenAnew(send(file, "--allow-duplicates"));
  expect([meant.code, meant.stderr]).toEqual([
    0,
    expect.stringContaining("Other key: 2 rows that another API key sent, as allowed"),
  ]);
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
  expect([more.code, more.stderr]).toEqual([
    3,
    expect.stringMatching(new RegExp(`too much.*\\n.*show ${id}`)),
  ]);
  expect((await lendenAnew(["ledger", "resolve", id, "--not-created"])).code).toBe(0);
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
  expect([code, stderr]).toEqual([3, expect.stringContaining("sent with another API key")]);
  expect((await lendenAnew(["ledger", "show", String(id)])).code).toBe(0);
  expect(await merchant.books("payouts")).toEqual([]);
});
