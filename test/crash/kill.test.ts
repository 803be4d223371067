import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { createRandom } from "../../src/sandbox/random.ts";
import { faults } from "../sandbox/running.ts";
import { runs, until } from "../support/helpers.ts";
import { type Ended, ended } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchantApart,
  paidPayment,
  paymentOf,
  payoutNumber,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";

const seed = Number(process.env.LENDEN_SEED ?? Date.now() % 1_000_000);
const atOnce = runs(5, 20);
const batches = runs(1, 5);
const killsEach = runs(1, 2);
const kills = atOnce * batches * killsEach;

const badService = [
  "createPayout:lost-reply:0.25",
  "createPayout:hang-after:0.1",
  "createPayout:status-503:0.25",
  "createPayout:garbage:0.2",
];
/** After these times the service answers again, and is well again, so that a test ends. */
const hangMs = runs(8_000, 20_000);
const illMs = runs(12_000, 25_000);

/** Kills a child that long after its start; how it ended, with null for what was killed. */
async function killedAfter(ms: number, merchant: Merchant, line: string[]): Promise<Ended> {
  const child = merchant.start(line);
  const end = ended(child);
  await delay(ms);
  child.kill("SIGKILL");
  return end;
}

interface Told {
  reference: string;
  ends: Pick<Ended, "code" | "stderr">[];
}

/** The same command again until it ends well; every way it ended is kept. */
async function sendUntilDone(merchant: Merchant, index: number, ms: number[]): Promise<Told> {
  const reference = `KILL-${index}`;
  const line = payoutNumber(index, reference, "--json", "--timeout", "14s");
  const ends: Told["ends"] = [];
  for (const killMs of ms) ends.push(await killedAfter(killMs, merchant, line));
  for (let tries = 0; tries < 8; tries += 1) {
    const end = await ended(merchant.start(line));
    ends.push(end);
    if (end.code !== 75 && end.code !== 69) break;
  }
  return { reference, ends };
}

test.concurrent(
  `P8, P9, P12, P13: ${kills} times kill -9 at random moments of a payout, and each reference is paid once`,
  async ({ onTestFailed, onTestFinished }) => {
    onTestFailed(() => void process.stderr.write(`LENDEN_SEED=${seed}\n`));
    const random = createRandom("kills", seed);
    for (let batch = 0; batch < batches; batch += 1) {
      const ill: Fault[] = faults(...badService);
      const merchant = await openMerchantApart(
        { faults: ill, seed, latencyMs: 20 },
        onTestFinished,
      );
      await merchant.id(["methods"]);
      const healing = [
        setTimeout(
          () =>
            ill.splice(
              ill.findIndex(({ kind }) => kind === "hang-after"),
              1,
            ),
          hangMs,
        ),
        setTimeout(() => ill.splice(0), illMs),
      ];
      const told = await Promise.all(
        Array.from({ length: atOnce }, (_, index) => {
          const longestMs = index % 3 === 0 ? 3_000 : 1_000;
          const ms = Array.from({ length: killsEach }, () => 50 + random.share() * longestMs);
          return sendUntilDone(merchant, index, ms);
        }),
      );
      for (const timer of healing) clearTimeout(timer);
      await expectPaidOnce(merchant, told);
      await merchant.close();
    }
  },
  batches * 110_000,
);

async function expectPaidOnce(merchant: Merchant, told: Told[]): Promise<void> {
  const books = await merchant.books("payouts");
  for (const { reference, ends } of told) {
    const codes = ends.map(({ code }) => code);
    const last = ends.at(-1);
    expect([reference, ...codes, last?.stderr]).toEqual([
      reference,
      ...codes.slice(0, -1),
      0,
      last?.stderr,
    ]);
    for (const { code } of ends) expect([null, 0, 75, 69]).toContain(code);
    const paid = books.filter(({ merchantRef }) => merchantRef === reference);
    expect([reference, ...paid]).toMatchObject([reference, { amountPaisa: 500n }]);
    const { state, remoteId, amount } = await merchant.json(["ledger", "show", reference]);
    expect([state, remoteId, amount]).toEqual(["CONFIRMED", paid[0]?.id, "5"]);
  }
  expect(books).toHaveLength(told.length);
  expect(await merchant.json(["ledger", "resolve"])).toEqual([]);
  expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
}

test.concurrent("P9: a payout that was killed in flight waits ten seconds before it is sent again", async ({
  onTestFinished,
}) => {
  const ill = faults("createPayout:hang-after");
  const merchant = await openMerchantApart({ faults: ill }, onTestFinished);
  const child = merchant.start(payoutOf("QUIET"));
  await until(async () => (await merchant.books("payouts")).length === 1);
  const killedMs = Date.now();
  child.kill("SIGKILL");
  await ended(child);
  ill.splice(0);
  const { code, stderr, stdout } = await merchant.built(payoutOf("QUIET"));
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain("no new payout was created");
  expect(stderr).toContain("An earlier run of QUIET ended without a response");
  expect(Date.now() - killedMs).toBeGreaterThan(9_000);
  expect(await merchant.books("payouts")).toHaveLength(1);
});

/** Kills `line` once the service has its request, which it never answers. */
async function killInFlight(
  merchant: Merchant,
  line: string[],
  table: "payments" | "payouts" | "refunds",
): Promise<void> {
  const before = (await merchant.books(table)).length;
  const child = merchant.start(line);
  await until(async () => (await merchant.books(table)).length > before);
  child.kill("SIGKILL");
  await ended(child);
}

test.concurrent("P9, I3: a payout killed in its second run waits ten seconds in its third", async ({
  onTestFinished,
}) => {
  const ill = faults("createPayout:hang-after");
  const merchant = await openMerchantApart({ faults: ill }, onTestFinished);
  await killInFlight(merchant, payoutOf("THIRD"), "payouts");
  const second = merchant.start(payoutOf("THIRD"));
  await until(async () => (await hangingRequests(merchant)) === 2);
  const killedMs = Date.now();
  second.kill("SIGKILL");
  await ended(second);
  ill.splice(0);
  expect(await merchant.built(payoutOf("THIRD"))).toMatchObject({ code: 0 });
  expect(Date.now() - killedMs).toBeGreaterThan(9_000);
}, 40_000);

/** The journal notes a request before the fault keeps its answer back. */
async function hangingRequests(merchant: Merchant): Promise<number> {
  return (await merchant.moneyRequests()).length;
}

test.concurrent("P9, I1: a payout that was proved unsent, then killed in flight, is never called unsent again", async ({
  onTestFinished,
}) => {
  const merchant = await openMerchantApart(
    { faults: faults("createPayout:hang-after") },
    onTestFinished,
  );
  await merchant.id(["methods"]);
  const line = payoutOf("UNSENT", "--timeout", "1s");
  await merchant.close();
  expect(await merchant.built(line)).toMatchObject({ code: 69 });
  await merchant.comeBack();
  await killInFlight(merchant, payoutOf("UNSENT"), "payouts");
  await merchant.close();
  const { code, stderr } = await merchant.built(line);
  expect(stderr).not.toContain("nothing was sent");
  expect(code).toBe(75);
});

test.concurrent.for(["payment", "refund"] as const)(
  "a %s that was killed in flight is rejected until it is resolved, or with --again",
  async (kind, { onTestFinished }) => {
    const ill: Fault[] = [];
    const merchant = await openMerchantApart({ faults: ill }, onTestFinished);
    const paid = kind === "refund" ? await paidPayment(merchant) : "";
    const line = kind === "refund" ? refundOf(paid, "40") : paymentOf("Order 42");
    const table = kind === "refund" ? "refunds" : "payments";
    const before = (await merchant.books(table)).length;
    ill.push(...faults(`create${kind === "refund" ? "Refund" : "Payment"}:hang-after`));
    await killInFlight(merchant, line, table);
    ill.splice(0);
    for (let again = 0; again < 3; again += 1) {
      const { code, stderr } = await merchant.built(line);
      expect(code).toBe(3);
      expect(stderr).toMatch(/INTENT.*Nothing was sent/);
    }
    expect(await merchant.books(table)).toHaveLength(before + 1);
    const made = String((await merchant.books(table)).at(-1)?.id);
    const { operation } = await merchant.json(["ledger", "show", "@last"]);
    expect(await merchant.lenden(["ledger", "resolve"])).toMatchObject({ code: 75 });
    const adopt = ["ledger", "resolve", String(operation), "--created", made];
    expect(await merchant.json(adopt)).toMatchObject([{ state: "CONFIRMED", remoteId: made }]);
    expect(await merchant.built(line)).toMatchObject({ code: 3 });
    expect(await merchant.built([...line, "--again"])).toMatchObject({ code: 0 });
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
  },
);

test.concurrent(
  `a payment and a refund that are killed at random moments (${runs(4, 60)}) are sent once each`,
  async ({ onTestFailed, onTestFinished }) => {
    onTestFailed(() => void process.stderr.write(`LENDEN_SEED=${seed}\n`));
    const random = createRandom("once", seed);
    const merchant = await openMerchantApart(
      {
        latencyMs: 30,
        seed,
        faults: faults("createPayment:lost-reply:0.3", "createRefund:garbage:0.3"),
      },
      onTestFinished,
    );
    const paid = await paidThroughFaults(merchant);
    const before = (await merchant.moneyRequests()).length;
    const lines = Array.from({ length: runs(4, 60) }, (_, index) =>
      index % 2 === 0 ? paymentOf(`Order ${index}`) : refundOf(paid, `0.${index + 10}`),
    );
    for (let start = 0; start < lines.length; start += 8) {
      await Promise.all(
        lines.slice(start, start + 8).map(async (line) => {
          await killedAfter(50 + random.share() * 1_200, merchant, line);
          for (let tries = 0; tries < 2; tries += 1) {
            const { code } = await merchant.built(line);
            expect([0, 3, 75]).toContain(code);
          }
        }),
      );
    }
    const asked = (await merchant.moneyRequests()).slice(before).map(({ request }) => request);
    const bodies = asked.map((request) => JSON.stringify(request));
    expect(new Set(bodies).size).toBe(bodies.length);
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
  },
  runs(30_000, 120_000),
);

async function paidThroughFaults(merchant: Merchant): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    const { code, stdout } = await merchant.lenden(paymentOf(`paid ${tries}`, "-q"));
    if (code !== 0) continue;
    await merchant.set("payment", stdout.trim(), "Completed");
    return stdout.trim();
  }
}
