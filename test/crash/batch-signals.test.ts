import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { until } from "../support/helpers.ts";
import { ended, startBuilt, wrote } from "../support/lenden.ts";
import { type Merchant, openMerchantApart } from "../support/merchant.ts";
import { expectPaidOnce, ownBooks, payeesOf, sendOf, statesOf } from "../support/payees.ts";
import { answering } from "../support/server.ts";

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "P22: one %s lets the rows in flight end, starts no other, shows how to resume, and ends with %i",
  async (name, expected) => {
    const ill = faults("createPayout:latency-4000");
    const merchant = await openMerchantApart({ faults: ill });
    const payees = payeesOf(name, 60);
    const child = merchant.start(sendOf(payees, "--concurrency", "6"));
    const end = ended(child);
    await until(async () => (await merchant.count("payouts")) === 6);
    child.kill(name);
    const { code, stderr } = await end;
    expect([code, await statesOf(merchant, payees)]).toEqual([
      expected,
      { processing: 6, unsent: 54 },
    ]);
    expect(stderr).toMatch(/not sent: 54\.[\s\S]*To resume/);
    expect(stderr).not.toMatch(/Warning|node:/);
    ill.splice(0);
    expect(await merchant.built(sendOf(payees, "--concurrency", "60"))).toMatchObject({ code: 0 });
    await expectPaidOnce(merchant, payees);
    expect(await merchant.moneyRequests()).toHaveLength(60);
  },
);

test("P22: the second signal exits at once (75), and the next run resolves the rows in flight", async () => {
  const ill = faults("createPayout:hang-after");
  const merchant = await openMerchantApart({ faults: ill });
  const payees = payeesOf("TWICE", 20);
  const child = merchant.start(sendOf(payees));
  const end = ended(child);
  await until(async () => (await merchant.count("payouts")) === 4);
  const isStopping = wrote(child, "Press Ctrl-C again");
  child.kill("SIGINT");
  await isStopping;
  child.kill("SIGINT");
  const leftMs = Date.now();
  const { code } = await end;
  const { uncertain = 0, unsent } = await statesOf(merchant, payees);
  expect([code, unsent]).toEqual([75, 20 - uncertain]);
  // Four were in flight, and a fifth one may have been claimed.
  expect([4, 5]).toContain(uncertain);
  // No response would arrive for thirty seconds.
  expect(Date.now() - leftMs).toBeLessThan(25_000);
  ill.splice(0);
  expect(await merchant.built(sendOf(payees))).toMatchObject({ code: 0 });
  await expectPaidOnce(merchant, payees);
});

/** A batch of twenty at a service that asks, whatever comes, to be left alone for forty seconds. */
async function askedToWait(...flags: string[]) {
  const merchant = await openMerchantApart();
  const [method] = await methodsOf(merchant);
  const wait = { status: 429, headers: { "retry-after": "40" }, body: "{}" };
  const { baseUrl, asked } = await answering((one) => (one.method === "GET" ? [method] : wait));
  const env = { ...merchant.env, LENDEN_BASE_URL: baseUrl };
  const child = startBuilt(sendOf(payeesOf("REST", 20), ...flags), env);
  const creations = () => asked.filter((one) => one.startsWith("POST")).length;
  const end = ended(child);
  await until(() => creations() === 4);
  return { child, end, creations };
}

test("P20, P22: a signal ends the pause that the API requested, and nothing is sent after it", async () => {
  const { child, end, creations } = await askedToWait();
  await delay(500);
  const [before, stoppedMs] = [creations(), Date.now()];
  child.kill("SIGINT");
  const { code, stderr } = await end;
  const says = /4 unknown[\s\S]*; unknown: 4; not sent: 16\.[\s\S]*To resume/;
  expect([code, stderr]).toEqual([75, expect.stringMatching(says)]);
  expect([creations(), Date.now() - stoppedMs < 30_000]).toEqual([before, true]);
});

test("P20: the end of --timeout ends that pause, and is named in the error", async () => {
  const startedMs = Date.now();
  const { end } = await askedToWait("--timeout", "10s");
  const { code, stderr } = await end;
  const says =
    /4 unknown[\s\S]*The time limit \(--timeout\) elapsed\. 0 of 20 rows accepted .*; unknown: 4; not sent: 16\.[\s\S]*To resume/;
  expect([code, stderr]).toEqual([75, expect.stringMatching(says)]);
  expect(stderr).not.toMatch(/nothing was sent|in a row/i);
  expect(Date.now() - startedMs).toBeLessThan(35_000);
});

async function methodsOf(merchant: Merchant): Promise<unknown[]> {
  const { stdout } = await merchant.built(["methods", "--json"]);
  const found: unknown = JSON.parse(stdout);
  return Array.isArray(found) ? found : [];
}

test("P23: a batch with stdout and stderr closed is sent to its end", async () => {
  const merchant = await openMerchantApart({
    faults: faults("createPayout:latency-50", "createPayout:status-422:0.2"),
  });
  const payees = payeesOf("CLOSED", 60);
  const child = merchant.start(sendOf(payees));
  const end = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  await until(async () => (await merchant.count("payouts")) > 3);
  child.stdout?.destroy();
  child.stderr?.destroy();
  const code = await end;
  const { processing = 0, refused = 0, unsent } = await statesOf(merchant, payees);
  expect([code, processing + refused, unsent]).toEqual([refused > 0 ? 6 : 0, 60, undefined]);
  expect(await ownBooks(merchant, payees)).toHaveLength(processing);
});
