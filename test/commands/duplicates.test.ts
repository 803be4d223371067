import { describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import {
  jumpingHost,
  openMerchant,
  openMerchantApart,
  paidPayment,
  paymentOf,
  payoutOf,
  refundOf,
} from "../merchant.ts";
import { openProductionMerchant } from "../production-merchant.ts";
import { faults } from "../sandbox/running.ts";

const sending = ["payout", "send", "--amount", "500", "--to", "01712345678", "--method", "bkash"];

/** The same command with other values of some flags. */
function withFlags(line: string[], flags: Record<string, string>): string[] {
  return line.map((word, index) => flags[line[index - 1] ?? ""] ?? word);
}

/** A merchant whose ledger a test makes older. */
async function merchantWithAge(rules: string[] = []) {
  const ill = faults(...rules);
  const merchant = await openMerchant({ faults: ill });
  const run = (line: string[]) => merchant.lenden(line, { host: jumpingHost() });
  const pass = (hours: number) =>
    merchant.inLedger((ledger) => {
      const earlier = (column: string) =>
        `${column} = strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '-${60 * hours} minutes')`;
      ledger.exec(`UPDATE operations SET ${earlier("created_at")}, ${earlier("updated_at")}`);
      ledger.exec(`UPDATE events SET ${earlier("at")}`);
    });
  return { merchant, run, pass, heal: () => void ill.splice(0) };
}

describe("payout send without --ref", () => {
  test("rejects the same amount to the same recipient within 24 hours", async () => {
    const { merchant, run, pass } = await merchantWithAge();
    expect(await run(sending)).toMatchObject({ code: 0 });
    const [first] = await merchant.books("payouts");
    for (const same of [
      sending,
      withFlags(sending, { "--to": "+880 1712-345678" }),
      withFlags(sending, { "--method": "nagad" }),
      withFlags(sending, { "--amount": "500.00" }),
    ]) {
      const second = await run(same);
      expect(second).toMatchObject({ code: 3, stdout: "" });
      expect(second.stderr).toContain(String(first?.merchantRef));
      expect(second.stderr).toContain("Nothing was sent.");
      expect(second.stderr).toContain("--again");
    }
    await pass(23);
    expect(await run(sending)).toMatchObject({ code: 3 });
    expect(await merchant.books("payouts")).toHaveLength(1);
    await pass(2);
    expect(await run(sending)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("sends another amount, another recipient, and with --again the same", async () => {
    const merchant = await openMerchant();
    for (const line of [
      sending,
      withFlags(sending, { "--amount": "500.01" }),
      withFlags(sending, { "--to": "01812345678" }),
      [...sending, "--again"],
    ])
      expect(await merchant.lenden(line)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(4);
  });

  test("is rejected at any age while the outcome of the earlier payout is unknown", async () => {
    const { merchant, run, pass, heal } = await merchantWithAge(["createPayout:lost-reply"]);
    const first = await run(sending);
    expect(first.code).toBe(75);
    heal();
    const [made] = await merchant.books("payouts");
    await pass(20);
    const second = await run(sending);
    expect(second).toMatchObject({ code: 3, stdout: "" });
    expect(second.stderr).toContain(`--ref ${made?.merchantRef}`);
    await pass(10);
    expect(await run(sending)).toMatchObject({ code: 3 });
    expect(await merchant.books("payouts")).toHaveLength(1);
  });

  test("counts a payout that was sent again from then on", async () => {
    const { merchant, run, pass } = await merchantWithAge();
    expect(await run(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    await pass(30);
    await merchant.inLedger((ledger) =>
      ledger.exec("UPDATE operations SET state = 'NOT_SENT', status = NULL, remote_id = NULL"),
    );
    expect(await run(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    const line = withFlags(sending, { "--amount": "5" });
    expect(await run(line)).toMatchObject({ code: 3 });
  });

  test("resolves the earlier payout with the reference that the error names", async () => {
    const { merchant, run, heal } = await merchantWithAge(["createPayout:lost-reply"]);
    expect(await run(sending)).toMatchObject({ code: 75 });
    heal();
    const [, reference = ""] = /--ref (LD-\w+)/.exec((await run(sending)).stderr) ?? [];
    expect(await run([...sending, "--ref", reference])).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(1);
  });

  test("sends again after a payout that was rejected, never left or was cancelled", async () => {
    const { merchant, run, heal } = await merchantWithAge(["createPayout:status-400"]);
    expect(await run(sending)).toMatchObject({ code: 3 });
    heal();
    await merchant.close();
    expect(await run([...sending, "--method-id", "665f1c2ab8e4"])).toMatchObject({ code: 2 });
    const direct = sending.map((word) => (word === "--method" ? "--method-id" : word));
    const unsent = withFlags(direct, { "--method-id": "665f1c2ab8e4" });
    expect(await run(unsent)).toMatchObject({ code: 69 });
    await merchant.comeBack();
    expect(await run(sending)).toMatchObject({ code: 0 });
    const [first] = await merchant.books("payouts");
    await merchant.set("payout", String(first?.id), "Cancelled");
    expect(await run(sending)).toMatchObject({ code: 3 });
    expect(await run(["payout", "get", String(first?.id)])).toMatchObject({ code: 0 });
    expect(await run(sending)).toMatchObject({ code: 0 });
  });

  test("sends one payout when several processes send it at the same moment", async () => {
    const merchant = await openMerchantApart();
    const ended = await Promise.all(Array.from({ length: 5 }, () => merchant.built(sending)));
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 3, 3, 3, 3]);
    expect(await merchant.books("payouts")).toHaveLength(1);
  });

  test("is rejected while a batch is still to send the same row", async () => {
    const { merchant, run, heal } = await merchantWithAge(["createPayout:status-401"]);
    const file = fileOf(
      "ref,amount,to,method\nB-1,5,01812345678,bkash\nB-2,500,01712345678,bkash\n",
    );
    const batch = ["payout", "batch", "send", file];
    expect(await run(batch)).toMatchObject({ code: 4 });
    heal();
    for (const line of [sending, [...sending, "--ref", "INV-1"]]) {
      const rejected = await run(line);
      expect(rejected).toMatchObject({ code: 3, stdout: "" });
      expect(rejected.stderr).toContain("B-2");
    }
    expect(await run(batch)).toMatchObject({ code: 0 });
    expect(await run(sending)).toMatchObject({ code: 3 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test.each([
    ["the same payout", sending],
    ["another payout", withFlags(sending, { "--amount": "7" })],
  ])("with a reference that a batch is still to send is rejected: %s", async (_, line) => {
    const { merchant, run } = await merchantWithAge(["createPayout:status-401"]);
    const rows = Array.from({ length: 40 }, (_, row) => `B-${row},${row + 1},01812345678,bkash\n`);
    const file = fileOf(`ref,amount,to,method\n${rows.join("")}B-40,500,01712345678,bkash\n`);
    const batch = ["payout", "batch", "send", file, "--concurrency", "1"];
    expect(await run(batch)).toMatchObject({ code: 4 });
    const rejected = await run([...line, "--ref", "B-40", "--again"]);
    expect(rejected).toMatchObject({ code: 3, stdout: "" });
    expect(rejected.stderr).toMatch(/Reference B-40 belongs to batch B\w{6}, .*Nothing was sent\./);
    expect(await merchant.books("payouts")).toEqual([]);
  });

  test("treats a reference that lenden generated as no reference", async () => {
    const merchant = await openMerchant();
    expect(await merchant.lenden(sending)).toMatchObject({ code: 0 });
    const generated = ["--ref", "LD-01KASW0000000000000000000Z"];
    expect(await merchant.lenden([...sending, ...generated])).toMatchObject({ code: 3 });
    expect(await merchant.books("payouts")).toHaveLength(1);
  });
});

describe("payout send with a new --ref", () => {
  test("sends a second payout and warns", async () => {
    const merchant = await openMerchant();
    expect(await merchant.json(payoutOf("INV-1"))).not.toHaveProperty("warnings");
    const second = await merchant.lenden(payoutOf("INV-2"));
    expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining("INV-1") });
    expect(await merchant.json(payoutOf("INV-3"))).toMatchObject({
      warnings: [
        { reason: "payout.possible-duplicate", message: expect.stringContaining("INV-2") },
      ],
    });
    expect(await merchant.json(payoutOf("INV-3"))).toMatchObject({ existing: true });
    expect(await merchant.books("payouts")).toHaveLength(3);
  });

  test("is rejected while the outcome of the earlier payout is unknown, unless --again", async () => {
    const { merchant, run, heal } = await merchantWithAge(["createPayout:lost-reply"]);
    expect(await run(payoutOf("INV-1"))).toMatchObject({ code: 75 });
    heal();
    const second = await run(payoutOf("INV-2"));
    expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining("INV-1") });
    const raw = ["merchantRef=INV-3", "amount=5", "recipientNumber=8801712345678"];
    const fields = [...raw, "paymentMethodId=665f1c2ab8e4"].flatMap((one) => ["-f", one]);
    const byHand = ["api", "POST", "/payout/create-by-server", ...fields];
    expect(await run(byHand)).toMatchObject({ code: 3, stdout: "" });
    expect(await merchant.books("payouts")).toHaveLength(1);
    expect(await run(payoutOf("INV-2", "--again"))).toMatchObject({ code: 0 });
    expect(await run([...byHand, "--again"])).toMatchObject({ code: 0 });
  });
});

describe("in production", () => {
  test("a payout without --ref is rejected for any API key and base URL of the environment", async () => {
    const merchant = await openProductionMerchant();
    expect(await merchant.lenden(sending)).toMatchObject({ code: 0 });
    expect(await merchant.lenden(sending)).toMatchObject({ code: 3, stdout: "" });
    const elsewhere = { LENDEN_BASE_URL: merchant.otherBaseUrl };
    expect(await merchant.lenden(sending, elsewhere)).toMatchObject({ code: 3 });
    await merchant.rotateKey("public-NEW-ABCDEFGHIJKL-NEW");
    const rotated = { LENDEN_API_KEY: "public-NEW-ABCDEFGHIJKL-NEW" };
    const third = await merchant.lenden(sending, { ...elsewhere, ...rotated });
    expect(third).toMatchObject({ code: 3, stderr: expect.stringContaining("Nothing was sent.") });
    expect(await merchant.books("payouts")).toHaveLength(1);
    const explicit = await merchant.lenden([...sending, "--ref", "INV-9"], rotated);
    expect(explicit).toMatchObject({ code: 0 });
    expect(explicit.stderr).toContain("Earlier payout: ");
    expect(await merchant.books("payouts")).toHaveLength(2);
    await merchant.inLedger((ledger) =>
      ledger.exec("UPDATE operations SET created_at = '2026-01-01T00:00:00.000Z'"),
    );
    await merchant.inLedger((ledger) =>
      ledger.exec("UPDATE events SET at = '2026-01-01T00:00:00.000Z'"),
    );
    const sameReference = [...sending, "--ref", "INV-9"];
    expect(await merchant.lenden(sameReference, elsewhere)).toMatchObject({ code: 3 });
    expect(await merchant.lenden(sameReference, rotated)).toMatchObject({ code: 0 });
    expect(
      await merchant.lenden([...sameReference, "--again"], { ...elsewhere, ...rotated }),
    ).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("a batch counts what was sent with any base URL of the environment", async () => {
    const merchant = await openProductionMerchant();
    expect(await merchant.lenden(sending)).toMatchObject({ code: 0 });
    const file = fileOf("ref,amount,to,method\nC-1,500,01712345678,bkash\n");
    const batch = ["payout", "batch", "send", file, "--expect-total", "500", "--expect-count", "1"];
    const elsewhere = { LENDEN_BASE_URL: merchant.otherBaseUrl };
    expect(await merchant.lenden(batch, elsewhere)).toMatchObject({ code: 2, stdout: "" });
    expect(await merchant.books("payouts")).toHaveLength(1);
    const allowed = [...batch, "--allow-duplicates"];
    expect(await merchant.lenden(allowed, elsewhere)).toMatchObject({ code: 0 });
    expect(await merchant.lenden([...sending, "--ref", "C-1"])).toMatchObject({ code: 3 });
  });

  test("a payment and a refund are rejected for any base URL of the environment", async () => {
    const merchant = await openProductionMerchant();
    const elsewhere = { LENDEN_BASE_URL: merchant.otherBaseUrl };
    const urls = ["--redirect-url", "https://a.example", "--callback-url", "https://b.example"];
    const pay = [...paymentOf("Order 1"), ...urls];
    const paid = (await merchant.lenden([...pay, "-q"])).stdout.trim();
    expect(await merchant.lenden(pay, elsewhere)).toMatchObject({ code: 3 });
    expect(await merchant.books("payments")).toHaveLength(1);
    await merchant.complete("payments", paid);
    expect(await merchant.lenden(refundOf(paid, "60"))).toMatchObject({ code: 0 });
    expect(await merchant.lenden(refundOf(paid, "50"), elsewhere)).toMatchObject({ code: 3 });
    expect(await merchant.lenden(refundOf(paid, "40"), elsewhere)).toMatchObject({ code: 0 });
    expect(await merchant.books("refunds")).toHaveLength(2);
  });
});

describe("pay create", () => {
  test("rejects the same amount, description, method and payer for ten minutes", async () => {
    const { merchant, run, pass } = await merchantWithAge();
    const line = paymentOf("Order 1", "--payer", "01712345678");
    expect(await run(line)).toMatchObject({ code: 0 });
    const second = await run(line);
    expect(second).toMatchObject({ code: 3, stdout: "" });
    expect(second.stderr).toContain("--again");
    const raw = ["amount=100", "description=Order 1", "paymentMethodId=665f1c2ab8e4"];
    const body = [...raw, "suggestedPayerNumber=8801712345678", "redirect_url=x", "callback_url=y"];
    const byHand = ["api", "POST", "/payment/create", ...body.flatMap((one) => ["-f", one])];
    expect(await run(byHand)).toMatchObject({ code: 3, stdout: "" });
    expect(await merchant.books("payments")).toHaveLength(1);
    expect(await run(withFlags(line, { "--payer": "01812345678" }))).toMatchObject({ code: 0 });
    expect(await run(withFlags(line, { "--method": "nagad" }))).toMatchObject({ code: 0 });
    expect(await run([...line, "--again"])).toMatchObject({ code: 0 });
    await pass(11 / 60);
    expect(await run(line)).toMatchObject({ code: 0 });
  });

  test("creates the same payment again once the first is known to be Completed", async () => {
    const merchant = await openMerchant();
    const id = await merchant.id(paymentOf("Order 1"));
    await merchant.set("payment", id, "Completed");
    expect(await merchant.lenden(paymentOf("Order 1"))).toMatchObject({ code: 3 });
    expect(await merchant.lenden(["pay", "get", id])).toMatchObject({ code: 0 });
    expect(await merchant.lenden(paymentOf("Order 1"))).toMatchObject({ code: 0 });
  });
});

describe("a raw refund", () => {
  const raw = (transactionId: string, amount: number, ...more: string[]) => {
    const fields = [`transactionId=${transactionId}`, `amount=${amount}`];
    const account = ["accountType=PERSONAL_ACCOUNT", "accountNumber=01812345678"];
    const all = [...fields, ...account].flatMap((one) => ["-f", one]);
    return ["api", "POST", "/refund/create-a-request", ...all, ...more];
  };

  test("is rejected when the refunds would exceed the payment, also with --again", async () => {
    const merchant = await openMerchant();
    const paid = await paidPayment(merchant);
    expect(await merchant.lenden(refundOf(paid, "60"))).toMatchObject({ code: 0 });
    for (const more of [[], ["--again"]])
      expect(await merchant.lenden(raw(paid, 50, ...more))).toMatchObject({ code: 3, stdout: "" });
    expect(await merchant.lenden(raw(paid, 40))).toMatchObject({ code: 0 });
    expect(await merchant.lenden(refundOf(paid, "0.01"))).toMatchObject({ code: 3 });
    expect(await merchant.books("refunds")).toHaveLength(2);
  });

  test("is rejected when the same refund exists, and for a payment that is not Completed", async () => {
    const merchant = await openMerchant();
    const paid = await paidPayment(merchant);
    expect(await merchant.lenden(raw(paid, 40))).toMatchObject({ code: 0 });
    expect(await merchant.lenden(raw(paid, 40))).toMatchObject({ code: 3, stdout: "" });
    expect(await merchant.lenden(raw(paid, 40, "--again"))).toMatchObject({ code: 0 });
    const open = await merchant.id(paymentOf("still open"));
    expect(await merchant.lenden(raw(open, 10))).toMatchObject({ code: 3, stdout: "" });
    expect(await merchant.books("refunds")).toHaveLength(2);
  });
});
