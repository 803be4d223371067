import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRandom } from "../../src/sandbox/random.ts";
import { faults } from "../sandbox/running.ts";
import { runs, until } from "../support/helpers.ts";
import { type Ended, ended, lenden, wrote } from "../support/lenden.ts";
import { type Merchant, openMerchantApart, payoutNumber, payoutOf } from "../support/merchant.ts";

const seed = Number(process.env.LENDEN_SEED ?? Date.now() % 1_000_000);
const moments = runs(6, 100);
const atOnce = 8;

interface Signalled extends Ended {
  reference: string;
  name: "SIGINT" | "SIGTERM";
  times: number;
}

test(`P22: SIGINT and SIGTERM, once and twice, at ${moments} random moments: exit code, ledger and books agree`, async ({
  onTestFailed,
}) => {
  onTestFailed(() => void process.stderr.write(`LENDEN_SEED=${seed}\n`));
  const random = createRandom("signals", seed);
  const merchant = await openMerchantApart({
    latencyMs: 150,
    faults: faults("createPayout:latency-300"),
  });
  await merchant.id(["methods"]);
  for (let start = 0; start < moments; start += atOnce) {
    const all = await Promise.all(
      Array.from({ length: Math.min(atOnce, moments - start) }, (_, index) =>
        signalled(merchant, start + index, random.share() * 1_600),
      ),
    );
    for (const one of all) await expectAgreement(merchant, one);
  }
  expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
}, 600_000);

async function signalled(merchant: Merchant, number: number, ms: number): Promise<Signalled> {
  const reference = `SIGNAL-${number}`;
  const name = number % 2 === 0 ? "SIGINT" : "SIGTERM";
  const times = number % 4 < 2 ? 1 : 2;
  const child = merchant.start(payoutNumber(number, reference));
  const end = ended(child);
  await delay(ms);
  child.kill(name);
  if (times === 2) {
    await delay(40);
    child.kill(name);
  }
  return { ...(await end), reference, name, times };
}

/** What the exit code says is what the ledger says, and both are what the service's books say. */
async function expectAgreement(merchant: Merchant, one: Signalled): Promise<void> {
  const { reference, code, signal, name, times, stderr } = one;
  const paid = (await merchant.books("payouts")).filter(
    ({ merchantRef }) => merchantRef === reference,
  );
  expect([reference, paid.length]).toEqual([reference, Math.min(paid.length, 1)]);
  const shown = await lenden(["ledger", "show", reference, "--json"], { env: merchant.env });
  const state = shown.code === 0 ? String(JSON.parse(shown.stdout).state) : "none";
  const stopped = name === "SIGINT" ? 130 : 143;
  const ofSignal = signal === name ? stopped : code;
  const about = JSON.stringify({
    reference,
    code,
    signal,
    times,
    state,
    paid: paid.length,
    stderr,
    shown,
  });
  if (ofSignal === 75) {
    expect(state, about).toBe("UNCERTAIN");
    expect(stderr, about).toContain(reference);
    expect(times, about).toBe(2);
  } else if (ofSignal === 0) {
    expect([state, paid.length], about).toEqual(["CONFIRMED", 1]);
  } else {
    expect(ofSignal, about).toBe(stopped);
    // By the signal's own code nothing is uncertain: it is paid and confirmed, or never was sent.
    const expected = paid.length === 1 ? ["CONFIRMED"] : ["none", "NOT_SENT"];
    expect(expected, about).toContain(state);
  }
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "P22: one %s in flight lets the payout end, records it, and sets the exit code",
  async (name) => {
    const merchant = await openMerchantApart({ faults: faults("createPayout:latency-4000") });
    const child = merchant.start(payoutOf("ENDS", "--json"));
    const end = ended(child);
    await until(async () => (await merchant.count("payouts")) === 1);
    child.kill(name);
    const { code, stdout } = await end;
    expect(code).toBe(name === "SIGINT" ? 130 : 143);
    expect(JSON.parse(stdout)).toMatchObject({ merchantRef: "ENDS" });
    expect(await merchant.json(["ledger", "show", "ENDS"])).toMatchObject({ state: "CONFIRMED" });
  },
);

test.each(["SIGINT", "SIGTERM"] as const)(
  "P22: the second %s exits at once, and reports the unknown outcome",
  async (name) => {
    const merchant = await openMerchantApart({ faults: faults("createPayout:hang-after") });
    const child = merchant.start(payoutOf("LEAVES"));
    const end = ended(child);
    await until(async () => (await merchant.count("payouts")) === 1);
    const isStopping = wrote(child, "Press Ctrl-C again");
    child.kill(name);
    await isStopping;
    child.kill(name);
    const leftMs = Date.now();
    const { code, stderr } = await end;
    expect(code).toBe(75);
    expect(stderr).toContain("ledger resolve LEAVES");
    // No response would arrive for thirty seconds.
    expect(Date.now() - leftMs).toBeLessThan(25_000);
    expect(await merchant.json(["ledger", "show", "LEAVES"])).toMatchObject({ state: "UNCERTAIN" });
  },
);

test("P23: a payout without a response is recorded if stderr is closed", async () => {
  const ill = faults("createPayout:lost-reply");
  const merchant = await openMerchantApart({ faults: ill });
  const child = merchant.start(payoutOf("CLOSED"));
  const end = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  child.stdout?.destroy();
  child.stderr?.destroy();
  await until(async () => (await merchant.moneyRequests()).length === 1);
  ill.splice(0);
  expect(await end).toBe(0);
  expect(await merchant.json(["ledger", "show", "CLOSED"])).toMatchObject({ state: "CONFIRMED" });
  expect(await merchant.books("payouts")).toHaveLength(1);
});
