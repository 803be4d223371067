import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { createRandom } from "../../src/sandbox/random.ts";
import { faults } from "../sandbox/running.ts";
import { runs, until } from "../support/helpers.ts";
import { type Ended, ended, lenden } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchantApart,
  paidPayment,
  paymentOf,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";

const seed = Number(process.env.LENDEN_SEED ?? Date.now() % 1_000_000);
/** Kills a child that long after its start; how it ended, with null for what was killed. */
async function killedAfter(ms: number, merchant: Merchant, line: string[]): Promise<Ended> {
  const child = merchant.start(line);
  const end = ended(child);
  await delay(ms);
  child.kill("SIGKILL");
  return end;
}

test.concurrent("P9: a payout that was killed in flight waits ten seconds before it is sent again", async ({
  onTestFinished,
}) => {
  const ill = faults("createPayout:hang-after");
  const merchant = await openMerchantApart({ faults: ill }, onTestFinished);
  const child = merchant.start(payoutOf("QUIET"));
  await until(async () => (await merchant.count("payouts")) === 1);
  const killedMs = Date.now();
  child.kill("SIGKILL");
  await ended(child);
  ill.splice(0);
  const { code, stderr, stdout } = await merchant.built(payoutOf("QUIET"));
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain("no new payout was created");
  expect(stderr).toContain("an earlier run ended without a result");
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
  await until(async () => (await merchant.count(table)) > before);
  child.kill("SIGKILL");
  await ended(child);
}

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
      expect(stderr).toMatch(/outcome is unknown.*Nothing was sent/);
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

test.concurrent(`a payment and a refund that are killed at random moments (${runs(4, 60)}) are sent once each`, async ({
  onTestFailed,
  onTestFinished,
}) => {
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
  const inThisProcess = (line: string[]) => lenden(line, { env: merchant.env });
  const lines = Array.from({ length: runs(4, 60) }, (_, index) =>
    index % 2 === 0 ? paymentOf(`Order ${index}`) : refundOf(paid, `0.${index + 10}`),
  );
  for (let start = 0; start < lines.length; start += 8) {
    await Promise.all(
      lines.slice(start, start + 8).map(async (line) => {
        await killedAfter(50 + random.share() * 1_200, merchant, line);
        for (const run of [merchant.built, inThisProcess]) {
          const { code } = await run(line);
          expect([0, 3, 75]).toContain(code);
        }
      }),
    );
  }
  const asked = (await merchant.moneyRequests()).slice(before).map(({ request }) => request);
  const bodies = asked.map((request) => JSON.stringify(request));
  expect(new Set(bodies).size).toBe(bodies.length);
  expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
}, 600_000);

async function paidThroughFaults(merchant: Merchant): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    const { code, stdout } = await merchant.lenden(paymentOf(`paid ${tries}`, "-q"));
    if (code !== 0) continue;
    await merchant.set("payment", stdout.trim(), "Completed");
    return stdout.trim();
  }
}
