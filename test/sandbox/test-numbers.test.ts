import { describe, expect, test } from "vitest";
import { until } from "../support/helpers.ts";
import { completedPayment, paymentBody, type Sandbox, start } from "./running.ts";

type Create = (number: string) => Promise<{ status: number; body: { data?: unknown } }>;

/** How each kind of record is created with a number, and how its status is read. */
async function creators(sandbox: Sandbox): Promise<Record<string, Create>> {
  const transactionId = await completedPayment(sandbox);
  const refund = { transactionId, amount: 10, accountType: "PERSONAL_ACCOUNT" };
  return {
    payout: (recipientNumber) =>
      sandbox.payout({ recipientNumber, merchantRef: `REF-${recipientNumber.replace(/\D/g, "")}` }),
    payment: (suggestedPayerNumber) =>
      sandbox.post("/payment/create", { ...paymentBody, suggestedPayerNumber }),
    refund: (accountNumber) =>
      sandbox.post("/refund/create-a-request", { ...refund, accountNumber }),
  };
}

async function info(sandbox: Sandbox) {
  const { payments, payouts, refunds } = (await sandbox.get("/sandbox/info")).body.data;
  return Number(payments) + Number(payouts) + Number(refunds);
}

describe("test numbers", () => {
  test("the rejected number creates nothing, however it is written", async () => {
    const sandbox = await start();
    const create = await creators(sandbox);
    const before = await info(sandbox);
    for (const number of ["01955500001", "+8801955500001", "019-5550 0001"])
      for (const [kind, one] of Object.entries(create))
        expect(await one(number), kind).toMatchObject({
          status: 422,
          body: { code: "NUMBER_REJECTED" },
        });
    expect(await info(sandbox)).toBe(before);
  });

  test("a record of the cancelled number is created in Processing and is then Cancelled", async () => {
    const sandbox = await start();
    const paths = { payout: "payoutId", payment: "transactionId", refund: "refundRequestId" };
    for (const [kind, one] of Object.entries(await creators(sandbox))) {
      const { status, body } = await one("01955500003");
      expect(status, kind).toBe(200);
      const data: Record<string, unknown> = { ...Object(body.data) };
      expect(data.status, kind).toBe("Processing");
      const id = Object.entries(paths).find(([name]) => name === kind)?.[1] ?? "";
      const found = await sandbox.get(`/${kind}/retrieve/${data[id]}`);
      expect(found.body.data.status, kind).toBe("Cancelled");
    }
  });

  test("a request about the slow number creates its record long before it responds", async () => {
    const sandbox = await start();
    const before = await info(sandbox);
    const response = sandbox.payout({ recipientNumber: "01955500002" }).catch(() => "cut off");
    await until(async () => (await info(sandbox)) === before + 1);
    expect(await Promise.race([response, "waiting"])).toBe("waiting");
  });
});
