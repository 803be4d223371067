import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { until } from "../support/helpers.ts";
import { ended, jumpingHost, lenden } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchant,
  paidPayment,
  paymentOf,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";
import { startService } from "../support/server.ts";

const groups = ["pay", "payout", "refund"] as const;
type Group = (typeof groups)[number];
const kindOf = { pay: "payment", payout: "payout", refund: "refund" };
const tableOf = { pay: "payments", payout: "payouts", refund: "refunds" } as const;

/** The line that creates one; `name` makes it a new one. */
async function creating(group: Group, merchant: Merchant, name = "WAIT"): Promise<string[]> {
  if (group === "pay") return paymentOf(name);
  if (group === "payout") return payoutOf(name);
  return refundOf(await paidPayment(merchant, name), "40");
}

async function create(group: Group, merchant: Merchant): Promise<string> {
  return merchant.id(await creating(group, merchant));
}

const often = ["--interval", "20ms"];

test.each(groups)("P24: '%s wait' ends 0 if Completed, and 10 if Cancelled", async (group) => {
  const merchant = await openMerchant();
  for (const [status, code] of [
    ["Completed", 0],
    ["Cancelled", 10],
  ] as const) {
    const id = await merchant.id(await creating(group, merchant, `WAIT-${status}`));
    const waiting = merchant.lenden([group, "wait", id, ...often, "--json"]);
    await merchant.set(kindOf[group], id, status);
    const waited = await waiting;
    expect(waited.code).toBe(code);
    expect(JSON.parse(waited.stdout)).toMatchObject({ status });
    expect(await merchant.json(["ledger", "show", id])).toMatchObject({ status });
    expect((await merchant.lenden([group, "wait", "@last", ...often])).code).toBe(code);
  }
});

test("P24: 'payout send' ends 10 without --wait if the new payout is Cancelled", async () => {
  const merchant = await openMerchant();
  const payout = ["payout", "send", "--amount", "5", "--to", "01955500003", "--method", "bkash"];
  const sent = await merchant.lenden([...payout, "--json"]);
  expect(sent.code).toBe(10);
  expect(JSON.parse(sent.stdout)).toMatchObject({ status: "Cancelled", existing: false });
});

test.each(groups)(
  "'%s wait' ends 8 when a timeout has elapsed, with the last record",
  async (group) => {
    const merchant = await openMerchant();
    const id = await create(group, merchant);
    const before = (await merchant.requests()).length;
    for (const timeout of [
      [...often, "--wait-timeout", "150ms"],
      ["--timeout", "300ms", "--wait-timeout", "15s"],
    ]) {
      const { code, stdout, stderr } = await merchant.lenden([group, "wait", id, ...timeout]);
      expect([code, stdout]).toEqual([8, expect.stringContaining("Processing")]);
      expect(stderr.match(/is Processing/g)).toHaveLength(1);
    }
    expect((await merchant.requests()).length - before).toBeLessThan(15);
  },
);

test.each(groups)("--wait after creating in '%s' ends 0, 10 and 8", async (group) => {
  const merchant = await openMerchant();
  for (const [status, code] of [
    ["Completed", 0],
    ["Cancelled", 10],
    [undefined, 8],
  ] as const) {
    const line = await creating(group, merchant, `NEW-${code}`);
    const records = () => merchant.books(tableOf[group]);
    const before = (await records()).length;
    const wait = ["--wait", ...often, "--wait-timeout", status ? "10s" : "100ms", "--json"];
    const waiting = merchant.lenden([...line, ...wait]);
    await until(async () => (await records()).length > before);
    if (status) await merchant.set(kindOf[group], String((await records()).at(-1)?.id), status);
    const waited = await waiting;
    expect(waited).toMatchObject({ code });
    expect(JSON.parse(waited.stdout)).toMatchObject({ status: status ?? "Processing" });
  }
});

test("wait shows every new status once, and continues after an unknown one", async () => {
  const statuses = ["Processing", "Processing", "Reviewing", "Reviewing", "Processing"];
  const { env, asked } = await startService(({ path }) => ({
    data: {
      transactionId: path.split("/").at(-1),
      amount: 5,
      status: statuses[asked.length - 1] ?? "Completed",
    },
  }));
  const { code, stderr } = await lenden(["pay", "wait", "TX1", ...often], { env });
  expect(code).toBe(0);
  expect(stderr.match(/(?<=is )\w+/g)).toEqual([
    "Processing",
    "Reviewing",
    "Processing",
    "Completed",
  ]);
  expect(asked).toHaveLength(6);
});

test("wait continues if the API fails for a while, but not if it fails from the start", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const id = await create("payout", merchant);
  const line = ["payout", "wait", id, ...often];
  ill.push(...faults("retrievePayout:status-503"));
  const failed = await merchant.lenden(line, { host: jumpingHost() });
  expect(failed).toMatchObject({ code: 69, stdout: "" });
  ill.splice(0);
  const checks = async () =>
    (await merchant.requests()).filter(({ path }) => path.includes("retrieve")).length;
  const first = await checks();
  const waiting = merchant.lenden(line, { host: jumpingHost() });
  await until(async () => (await checks()) > first + 1);
  ill.push(...faults("retrievePayout:status-503"));
  const before = await checks();
  await until(async () => (await checks()) > before + 4);
  ill.splice(0);
  await merchant.set("payout", id, "Completed");
  expect(await waiting).toMatchObject({ code: 0 });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends 'pay wait' with the last record and exit %i", async (signal, code) => {
  const merchant = await openMerchant();
  const child = merchant.start(["pay", "wait", await create("pay", merchant), "--json"]);
  const end = ended(child);
  await until(async () =>
    (await merchant.requests()).some(({ path }) => path.includes("retrieve")),
  );
  setTimeout(() => child.kill(signal), 150);
  const result = await end;
  expect(result.code).toBe(code);
  expect(JSON.parse(result.stdout)).toMatchObject({ status: "Processing" });
});
