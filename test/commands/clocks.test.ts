import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, jumpingHost, lenden, type RunOptions, typedBy } from "../support/lenden.ts";
import { type Merchant, openMerchant, payoutNumber, payoutOf } from "../support/merchant.ts";

const hourMs = 60 * 60_000;

/** A machine whose clock is wrong by some hours. */
function wrongBy(hours: number): RunOptions {
  return { host: jumpingHost(hours * hourMs) };
}

/** The clock of a machine that is wrong until a retry pauses for the first time. */
function correctedAfter(hours: number, corrects: () => void): RunOptions {
  const { now, sleep } = jumpingHost();
  let wrongMs = hours * hourMs;
  return {
    host: {
      now: () => now() + wrongMs,
      sleep: async (ms, signal) => {
        await sleep(ms, signal);
        wrongMs = 0;
        corrects();
      },
    },
  };
}

/** Limits that let one payout through, and an API that is ill when a test says so. */
async function limited(): Promise<{ merchant: Merchant; ill: Fault[] }> {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const limits = ["--day", "7", "--repeat", "reject", "--agent-payout", "6", "--agent-day", "7"];
  await merchant.json(["limits", "set", ...limits]);
  return { merchant, ill };
}

/** Lists methods with a wrong clock, so that its next payout sees no response before it is sent. */
async function knowsMethods(merchant: Merchant, hours: number): Promise<void> {
  expect((await merchant.lenden(["methods"], wrongBy(hours))).code).toBe(0);
}

test.each(["person", "agent"])(
  "P3: 'ledger resolve' of a %s sends no repeat that a clock ahead let through",
  async (actor) => {
    const { merchant, ill } = await limited();
    await merchant.json(["limits", "set", "--day", "100", "--agent-day", "100"]);
    const env = actor === "agent" ? { LENDEN_ACTOR: "agent" } : {};
    const run = (line: string[], options?: RunOptions) =>
      lenden([...line, "--json"], { env: { ...merchant.env, ...env }, ...options });
    expect((await run(payoutOf("A"))).code).toBe(0);
    await knowsMethods(merchant, 2);
    ill.push(...faults("createPayout:status-500"));
    expect((await run(payoutOf("B"), wrongBy(25))).code).toBe(75);
    ill.splice(0);
    const ended = await run(["ledger", "resolve", "B", "--yes"]);
    expect([ended.code, errorOf(ended)]).toMatchObject([4, { reason: "limits.repeat" }]);
    expect(await merchant.count("payouts")).toBe(1);
  },
);

test("P3: without limits, 'ledger resolve' names the command that repeats a payout on purpose", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  await merchant.json(payoutOf("A"));
  await knowsMethods(merchant, 2);
  ill.push(...faults("createPayout:status-500"));
  const order = payoutOf("B").filter((word) => !["--ref", "B"].includes(word));
  expect((await merchant.lenden(order, wrongBy(25))).code).toBe(75);
  ill.splice(0);
  const unknown = await merchant.lenden(["ledger", "list", "--unknown", "--json"]);
  const [{ reference }]: [{ reference: string }] = JSON.parse(unknown.stdout);
  const ended = await merchant.lenden(["ledger", "resolve", reference, "--yes", "--json"]);
  expect([ended.code, errorOf(ended)]).toMatchObject([3, { reason: "payout.duplicate" }]);
  expect(await merchant.count("payouts")).toBe(1);
  const again = typedBy(errorOf(ended).hint, "payout send");
  expect((await merchant.lenden(again, wrongBy(0))).code).toBe(0);
  expect(await merchant.books("payouts")).toMatchObject([{}, { merchantRef: reference }]);
});

test.each([["ledger", "resolve", "B", "--yes"], payoutNumber(2, "B")])(
  "P3: a payout that was opened again by a clock ahead is judged again: %s %s",
  async (...line) => {
    const { merchant, ill } = await limited();
    ill.push(...faults("createPayout:status-403"));
    expect((await merchant.lenden(payoutNumber(2, "B"), wrongBy(0))).code).toBe(4);
    ill.splice(0);
    expect((await merchant.lenden(payoutNumber(1, "A"))).code).toBe(0);
    await knowsMethods(merchant, 2);
    ill.push(...faults("createPayout:status-500"));
    expect((await merchant.lenden(payoutNumber(2, "B"), wrongBy(25))).code).toBe(75);
    ill.splice(0);
    const ended = await merchant.lenden([...line, "--json"]);
    expect([ended.code, errorOf(ended)]).toMatchObject([4, { reason: "limits.day" }]);
    expect(await merchant.count("payouts")).toBe(1);
  },
);

test("P3: a row that a clock ahead planned and sent is judged again by 'ledger resolve'", async () => {
  const { merchant, ill } = await limited();
  expect((await merchant.lenden(payoutNumber(1, "A"))).code).toBe(0);
  await knowsMethods(merchant, 2);
  ill.push(...faults("createPayout:status-500"));
  const file = join(scratchFolder(), "pay.csv");
  writeFileSync(file, "ref,amount,to\nROW,5,01710000011\n");
  const batch = ["payout", "batch", "send", file, "--method", "bkash", "--yes"];
  expect((await merchant.lenden(batch, wrongBy(25))).code).toBe(75);
  ill.splice(0);
  const ended = await merchant.lenden(["ledger", "resolve", "ROW", "--yes", "--json"]);
  expect([ended.code, errorOf(ended)]).toMatchObject([4, { reason: "limits.day" }]);
  expect(await merchant.count("payouts")).toBe(1);
});

test.each([
  ["rejected", 4],
  ["lost", 75],
])(
  "P25: a clock ahead whose request was %s does not make a payout younger",
  async (first, code) => {
    let laterMs = 0;
    const ill: Fault[] = [];
    const merchant = await openMerchant({ faults: ill, now: () => Date.now() + laterMs });
    await knowsMethods(merchant, 0);
    if (first === "lost") ill.push(...faults("createPayout:status-500"));
    expect((await merchant.lenden(payoutOf("LOST"), wrongBy(20))).code).toBe(code);
    ill.splice(0);
    ill.push(...faults("createPayout:lost-reply"));
    expect((await merchant.lenden(payoutOf("LOST"), wrongBy(0))).code).toBe(75);
    ill.splice(0);
    const { length } = await merchant.moneyRequests();
    laterMs = 43 * hourMs;
    expect((await merchant.lenden(["ledger", "resolve", "--yes"], wrongBy(43))).code).toBe(75);
    expect(await merchant.moneyRequests()).toHaveLength(length);
  },
);

test.each([
  ["payout", 25],
  ["payout", -25],
  ["batch", 25],
  ["batch", -25],
])(
  "P3: a %s that was judged by a clock %i h off is not sent once it is right",
  async (what, hours) => {
    const { merchant, ill } = await limited();
    const file = join(scratchFolder(), "pay.csv");
    writeFileSync(file, "amount,to\n3,01710000011\n3,01710000012\n");
    const batch = ["payout", "batch", "send", file, "--method", "bkash", "--yes"];
    await knowsMethods(merchant, Math.min(2, hours - 1));
    ill.push(...faults("createPayout:reset"));
    const options = correctedAfter(hours, () => ill.splice(0));
    const { code } = await merchant.lenden(
      what === "batch" ? batch : payoutNumber(2, "B"),
      options,
    );
    expect([4, 75]).toContain(code);
    expect(await merchant.count("payouts")).toBe(0);
  },
);
