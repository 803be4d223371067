import { expect, test } from "vitest";
import { ended, openMerchantApart, payoutOf, until } from "../merchant.ts";
import { runs } from "../runs.ts";
import { faults } from "../sandbox/running.ts";

const rounds = runs(2, 50);
const processes = 20;

test(
  `P4: of ${processes} processes with the same reference one sends, the others find it locked or existing (${rounds} rounds)`,
  async () => {
    const merchant = await openMerchantApart({ latencyMs: 40 });
    for (let round = 0; round < rounds; round += 1) {
      const line = payoutOf(`RACE-${round}`, "--json");
      const all = await Promise.all(
        Array.from({ length: processes }, () => ended(merchant.start(line))),
      );
      const sent = all.filter(({ code, stdout }) => code === 0 && !JSON.parse(stdout).existing);
      const existing = all.filter(({ code, stdout }) => code === 0 && JSON.parse(stdout).existing);
      const locked = all.filter(({ code }) => code === 7);
      const others = all.filter(({ code }) => code !== 0 && code !== 7);
      expect(others).toEqual([]);
      expect([round, sent.length]).toEqual([round, 1]);
      expect(existing.length + locked.length).toBe(processes - 1);
      for (const { stderr } of locked)
        expect(stderr).toMatch(/process [0-9]+ on .*, since \d+ \w+ 20\d\d/);
    }
    const references = (await merchant.books("payouts")).map(({ merchantRef }) => merchantRef);
    expect(references).toEqual(Array.from({ length: rounds }, (_, round) => `RACE-${round}`));
    const creations = await merchant.moneyRequests();
    expect(creations).toHaveLength(rounds);
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
  },
  rounds * 10_000,
);

test("P4: what another process is sending cannot be declared not made meanwhile", async () => {
  const merchant = await openMerchantApart({ faults: faults("createPayout:hang-after") });
  const sending = merchant.start(payoutOf("HELD"));
  const end = ended(sending);
  await until(async () => (await merchant.books("payouts")).length === 1);
  const locked = await merchant.built(payoutOf("HELD"));
  const declared = await merchant.built(["ledger", "resolve", "HELD", "--not-made"]);
  sending.kill("SIGKILL");
  await end;
  expect([locked.code, declared.code]).toEqual([7, 7]);
});
