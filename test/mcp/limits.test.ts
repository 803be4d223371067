import { expect, test } from "vitest";
import {
  type Merchant,
  openMerchantApart,
  openProductionMerchant,
  paidPayment,
  payoutOf,
} from "../support/merchant.ts";
import { connect, payouts, planOf, usualDirectories } from "./client.ts";

test("I13: an agent pays ten invoices, a limit stops the eleventh, and the list shows whose they were", async () => {
  const merchant = await openMerchantApart();
  await merchant.json(["limits", "set", "--agent-payout", "200", "--agent-day", "1045"]);
  const client = await connect(merchant, { isBounded: false });
  const rows = payouts(11);
  for (const row of rows.slice(0, 10)) {
    const { data } = await client.call("send_plan", { plan: await planOf(client, [row]) });
    expect(data).toMatchObject({ sent: { rows: 1 } });
  }

  const { data, isError } = await client.call("plan_payouts", { rows: rows.slice(10) });

  expect({ data, isError }).toMatchObject({
    data: { error: { reason: "limits.agent-day", effect: "nothing-sent", left: "0.00" } },
  });
  expect(await merchant.count("payouts")).toBe(10);
  await merchant.json(payoutOf("OWN"));
  expect(JSON.parse(await listed(merchant, "agent"))).toHaveLength(10);
  expect(await listed(merchant, "script")).toContain('"reference":"OWN"');
});

test("a refund above a limit is no plan, so no person is asked", async () => {
  const merchant = await openMerchantApart();
  await merchant.json(["limits", "set", "--refund-day", "30"]);
  const payment = await paidPayment(merchant);
  const { call } = await connect(merchant);
  const to = { payment, account_type: "personal", account_number: "01712345678" };

  const { data } = await call("plan_refund", { ...to, amount: "40" });

  expect(data).toMatchObject({ error: { reason: "limits.refund-day", effect: "nothing-sent" } });
  expect((await call("plan_refund", { ...to, amount: "30" })).data).toMatchObject({ refund: null });
});

async function listed(merchant: Merchant, actor: string): Promise<string> {
  return (await merchant.lenden(["ledger", "list", "--actor", actor, "--json"])).stdout;
}

test("in production it sends within the limits of agents, once a person has typed the total", async () => {
  const merchant = await openProductionMerchant();
  const env = { ...merchant.env, ...usualDirectories() };
  const limits = ["limits", "set", "--agent-payout", "101", "--agent-day", "300"];
  expect((await merchant.lenden(limits, env)).code).toBe(0);
  const client = await connect(
    { env },
    { isBounded: false, person: () => ({ action: "accept", content: { total: "201" } }) },
  );

  const above = await client.call("plan_payouts", { rows: payouts(3) });
  expect(above.data).toMatchObject({ error: { reason: "limits.agent-payout" } });
  const plan = await planOf(client, payouts(2));
  expect((await client.call("send_plan", { plan })).data).toMatchObject({ sent: { rows: 2 } });

  expect(client.asked()).toBe(1);
  expect(await merchant.books("payouts")).toHaveLength(2);
});
