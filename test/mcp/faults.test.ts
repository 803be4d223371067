import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readFault } from "../../src/api/contract/fault.ts";
import { until } from "../support/helpers.ts";
import { type Merchant, openMerchantApart } from "../support/merchant.ts";
import { connect, payouts, planOf, sendUntilKnown, versions } from "./client.ts";

describe.each(versions)("with protocol version %s", (version) => {
  test("answers within two seconds while the API is slow, and pays once", async () => {
    const latencyMs = 8_000;
    const merchant = await openMerchantApart({ latencyMs });
    const client = await connect(merchant, { version });
    const times: [name: string, ms: number][] = [];
    const callOnce = async (name: string, given: Record<string, unknown>) => {
      const called = await client.callOnce(name, given);
      times.push([name, Math.round(called.ms)]);
      return called;
    };
    const call = async (name: string, given: Record<string, unknown>) => {
      let called = await callOnce(name, given);
      while (called.data.next !== undefined) called = await callOnce(name, given);
      return called;
    };
    const rows = payouts(5);
    expect((await callOnce("plan_payouts", { rows })).data).toMatchObject({ next: /In progress/ });
    const { data: planned } = await call("plan_payouts", { rows });
    const { batch: plan } = planned;
    expect((await callOnce("send_plan", { plan })).data).toMatchObject({
      ...{ batch: plan, rows: 5 },
      next: "Recorded; the outcome is still unknown. Call again with the same plan.",
    });
    const ended = await call("send_plan", { plan });
    expect(ended.data).toMatchObject({ states: { processing: { rows: 5 } }, sent: { rows: 5 } });
    const order = { amount: "5", description: "Order 7", method: "bkash" };
    const link = await call("create_payment_link", order);
    expect(link.data).toMatchObject({ payment_url: expect.stringContaining("http") });
    // Two seconds on an idle machine. On a busy one, a call that waited for the API would still take longer than this.
    expect(times.filter(([, ms]) => ms >= latencyMs - 1_000)).toEqual([]);
    expect(await merchant.count("payouts")).toBe(5);
    expect(await merchant.count("payments")).toBe(1);
  });
});

test("lost responses: the same plan is sent until it is finished, and pays each row once", async () => {
  const fault = readFault("createPayout:lost-reply:0.5");
  if (!fault.ok) throw new Error(fault.problem);
  const merchant = await openMerchantApart({ faults: [fault.value], seed: 7 });
  const client = await connect(merchant);
  const plan = await planOf(client, payouts(8));

  const { data, isError } = await sendUntilKnown(client, plan);

  expect({ data, isError }).toMatchObject({ isError: false, data: { states: allPaid(8) } });
  await expectPaidOnce(merchant, 8);
});

test("kill -9 in the middle of a plan: the next server finishes it, and pays each row once", async () => {
  const merchant = await openMerchantApart({ latencyMs: 150 });
  const first = await connect(merchant);
  const rows = payouts(30);
  const plan = await planOf(first, rows);
  const lost = first.call("send_plan", { plan }).catch(() => "lost");
  await until(async () => (await merchant.count("payouts")) >= 5);
  process.kill(first.pid, "SIGKILL");
  await Promise.race([lost, delay(1_000)]);

  const second = await connect(merchant);

  expect(await planOf(second, rows)).toBe(plan);
  const { data } = await sendUntilKnown(second, plan);
  expect(data).toMatchObject({ states: allPaid(30) });
  await expectPaidOnce(merchant, 30);
});

test.each(["the end of standard input", "SIGTERM"])(
  "after %s nothing new is sent, the rest stays planned, and no process remains",
  async (how) => {
    const merchant = await openMerchantApart({ latencyMs: 1_500 });
    const first = await connect(merchant);
    const plan = await planOf(first, payouts(20));
    const lost = first.callOnce("send_plan", { plan }).catch(() => "lost");
    await until(async () => (await merchant.count("payouts")) >= 4);
    if (how === "SIGTERM") process.kill(first.pid, "SIGTERM");
    else void first.client.close();
    const before = await merchant.count("payouts");
    await until(() => !isAlive(first.pid));
    // The call is answered before the process ends.
    if (how === "SIGTERM") expect(await lost).not.toBe("lost");
    const sent = await merchant.count("payouts");
    // The sandbox creates a payout before it waits.
    expect(sent).toBe(before);
    await delay(1_000);
    expect(await merchant.count("payouts")).toBe(sent);

    const second = await connect(merchant);

    const { data } = await second.call("show", { id: plan });
    expect(data).toMatchObject({ states: { processing: { rows: sent }, uncertain: { rows: 0 } } });
    await sendUntilKnown(second, plan);
    await expectPaidOnce(merchant, 20);
  },
);

test("a plan that another process sends is locked, and a cancelled one is not sent", async () => {
  const merchant = await openMerchantApart({ latencyMs: 100 });
  const client = await connect(merchant);
  const plan = await planOf(client, payouts(40));
  const other = merchant.start(["payout", "batch", "send", plan]);
  await until(async () => (await merchant.count("payouts")) > 0);
  const locked = await client.call("send_plan", { plan });
  expect(locked.data).toMatchObject({ error: { kind: "locked", operation: plan } });
  await once(other, "exit");
  await expectPaidOnce(merchant, 40);
  const [row] = payouts(1);
  const next = await planOf(client, [{ ...row, ref: "NEXT", to: "01898765432" }]);
  expect(await merchant.lenden(["payout", "batch", "cancel", next, "--yes"])).toMatchObject({
    code: 0,
  });

  const cancelled = await client.call("send_plan", { plan: next });

  expect(cancelled.data).toMatchObject({ error: { reason: "batch.cancelled" } });
  await expectPaidOnce(merchant, 40);
});

function allPaid(rows: number) {
  return { processing: { rows }, uncertain: { rows: 0 }, unsent: { rows: 0 } };
}

async function expectPaidOnce(merchant: Merchant, rows: number): Promise<void> {
  const books = await merchant.books("payouts");
  expect(books).toHaveLength(rows);
  expect(new Set(books.map(({ merchantRef }) => merchantRef)).size).toBe(rows);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
