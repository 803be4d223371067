import { describe, expect, onTestFinished, test } from "vitest";
import { startFakeApi } from "../support/fake-api.ts";
import { scratchFolder } from "../support/helpers.ts";
import { type Merchant, openMerchantApart } from "../support/merchant.ts";
import { connect, payouts, planOf, versions } from "./client.ts";

describe.each(versions)("send_plan with protocol version %s", (version) => {
  test("asks for the total, sends it once confirmed, and asks only once", async () => {
    const merchant = await openMerchantApart();
    const client = await connect(merchant, {
      version,
      person: ({ message }) => {
        expect(message).toMatch(/^Send plan B\w+ \(3 rows, BDT 303\.00 in total\) \(sandbox\)\./);
        expect(message).not.toContain("Rahim");
        return { action: "accept", content: { total: " BDT 303 " } };
      },
    });
    const plan = await planOf(
      client,
      payouts(3).map((row) => ({ ...row, name: "Rahim" })),
    );
    expect(await client.call("send_plan", { plan })).toMatchObject({
      isError: false,
      data: { sent: { rows: 3, total: "303" } },
    });
    expect(await client.call("send_plan", { plan })).toMatchObject({
      isError: false,
      data: { sent: { rows: 0 }, warnings: [{ reason: "batch.already-sent" }] },
    });
    expect(client.asked()).toBe(1);
    expect(await merchant.count("payouts")).toBe(3);
  });

  test("sends nothing if the person declines, cancels or types anything else", async () => {
    const merchant = await openMerchantApart();
    const answers = [
      ["declined", { action: "decline" }],
      ["cancelled", { action: "cancel" }],
      ["wrong-total", { action: "accept", content: { total: "302" } }],
      ["wrong-total", { action: "accept", content: { total: "303.00" } }],
      ["wrong-total", { action: "accept", content: { total: 303 } }],
      ["wrong-total", { action: "accept", content: { total: "" } }],
      ["wrong-total", { action: "accept" }],
    ] as const;
    const client = await connect(merchant, {
      version,
      person: ({ times }) => answers[times - 1]?.[1],
    });
    const plan = await planOf(client, payouts(3));
    for (const [reason] of answers)
      expect(await client.call("send_plan", { plan })).toMatchObject({
        isError: false,
        data: {
          ...{ needsPerson: true, plan, reason, total: "303" },
          command: `lenden payout batch send ${plan}`,
        },
      });
    expect(client.asked()).toBe(answers.length);
    expect(await merchant.count("payouts")).toBe(0);
    expect((await client.call("show", { id: plan })).data).toMatchObject({
      states: { unsent: { rows: 3 } },
    });
  });
});

test("without --allow-send there is no tool that sends", async () => {
  const merchant = await openMerchantApart();
  const { call } = await connect(merchant, { args: [] });
  const plan = await planOf({ call }, payouts(1));
  await expect(call("send_plan", { plan })).rejects.toThrow(/send_plan/);
  expect(await merchant.count("payouts")).toBe(0);
});

test("asks about the account of a refund, and rejects another refund with the same plan ID", async () => {
  const api = await startFakeApi();
  onTestFinished(() => api.close());
  // The two notes were searched for: with this payment, both refunds have one plan ID.
  const payment = "1000000000000000000001";
  const [at, paymentMethod] = [new Date().toISOString(), "bKash"];
  api.payments.push({
    ...{ transactionId: payment, amount: 10_000, description: "shoes", status: "Completed" },
    ...{ paymentMethod, createdAt: at, updatedAt: at },
  });
  const folder = scratchFolder();
  const { call, asked } = await connect(
    {
      env: {
        ...{ LENDEN_BASE_URL: api.baseUrl, LENDEN_API_KEY: api.apiKey },
        ...{ LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: folder },
      },
    },
    {
      person: ({ message }) => {
        expect(message).toContain('(BDT 5.00 of one payment, to personal account "01812345678")');
        return { action: "accept", content: { total: "5" } };
      },
    },
  );
  const order = { payment, account_type: "personal" };
  const small = { ...order, amount: "5", account_number: "01812345678", note: "n10003684" };
  const large = { ...order, amount: "5000", account_number: "01799999999", note: "n8927809" };
  const { plan } = (await call("plan_refund", small)).data;
  expect((await call("send_plan", { plan })).data).toMatchObject({ existing: false });

  const { data } = await call("plan_refund", large);

  expect(data).toMatchObject({ error: { reason: "batch.expectation-differs", operation: plan } });
  expect(asked()).toBe(1);
  expect(api.refunds).toMatchObject([{ amount: 5 }]);
});

test("the same payment under a new reference is no plan", async () => {
  const merchant = await openMerchantApart();
  const client = await connect(merchant);
  await client.call("send_plan", { plan: await planOf(client, payouts(2)) });
  const renamed = payouts(2).map((row) => ({ ...row, ref: `NEW-${row.ref}` }));

  const { data } = await client.call("plan_payouts", { rows: renamed });

  expect(data).toMatchObject({
    error: { reason: "batch.invalid-file", hint: expect.not.stringContaining("--") },
  });
  await expectPaidOnce(merchant, 2);
});

async function expectPaidOnce(merchant: Merchant, rows: number): Promise<void> {
  const books = await merchant.books("payouts");
  expect(books).toHaveLength(rows);
  expect(new Set(books.map(({ merchantRef }) => merchantRef)).size).toBe(rows);
}
