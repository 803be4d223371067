import { readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { runs, until } from "../support/helpers.ts";
import { ended } from "../support/lenden.ts";
import { openMerchantApart, payoutOf } from "../support/merchant.ts";

const rounds = runs(1, 5);
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
        expect(stderr).toMatch(/process [0-9]+ on .* since \d+ \w+ 20\d\d/);
    }
    const references = (await merchant.books("payouts")).map(({ merchantRef }) => merchantRef);
    expect(references).toEqual(Array.from({ length: rounds }, (_, round) => `RACE-${round}`));
    const creations = await merchant.moneyRequests();
    expect(creations).toHaveLength(rounds);
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
  },
  300_000 + rounds * 30_000,
);

test("P4: a lock belongs to its process, whatever its number and host name, and ends with it", async () => {
  const ill = faults("createPayout:hang-after");
  const merchant = await openMerchantApart({ faults: ill });
  const sending = merchant.start(payoutOf("POD"));
  const end = ended(sending);
  await until(async () => (await merchant.count("payouts")) === 1);
  const known = (sql: string) => merchant.inLedger((ledger) => ledger.exec(sql));
  const lockedAs = (name: string) =>
    known(`UPDATE processes SET id = '${name}'; UPDATE operations SET process = '${name}'`);
  // As another container would have written it, where no process has this number.
  await known("UPDATE processes SET pid = 7, machine = 'pod-a'");
  const refused = await merchant.built(payoutOf("POD"));
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("7 on pod-a")]);
  sending.kill("SIGKILL");
  await end;
  ill.splice(0);
  await lockedAs("../ledger.db"); // a name that cannot be checked
  expect(await merchant.built(payoutOf("POD"))).toMatchObject({ code: 7 });
  const locks = join(merchant.dataFolder, "processes");
  const [left = ""] = readdirSync(locks);
  await lockedAs(left);
  expect(await merchant.built(payoutOf("POD"))).toMatchObject({ code: 0 });
  expect(readdirSync(locks)).toEqual([]);
  const [old, young] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"];
  writeFileSync(join(locks, old), "");
  utimesSync(join(locks, old), 0, 0);
  writeFileSync(join(locks, young), "");
  expect(await merchant.built(payoutOf("NEXT"))).toMatchObject({ code: 0 });
  expect(readdirSync(locks)).toEqual([young]);
  expect(await merchant.books("payouts")).toHaveLength(2);
});

test("P4: a process that lost its lock file reports an unknown outcome at the end (75)", async () => {
  const merchant = await openMerchantApart({ faults: faults("createPayout:latency-5000") });
  const end = ended(merchant.start(payoutOf("LOST")));
  await until(async () => (await merchant.count("payouts")) === 1);
  rmSync(join(merchant.dataFolder, "processes"), { recursive: true });
  const { code, stderr } = await end;
  expect([code, stderr]).toEqual([75, expect.stringMatching(/LOST[\s\S]*was removed/)]);
  expect(stderr).not.toMatch(/disk/);
  expect(await merchant.json(["ledger", "show", "LOST"])).toMatchObject({ state: "INTENT" });
});

test("I1: a process that lost its ledger reports what became of its payout (75)", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchantApart({ faults: ill });
  expect(await merchant.built(payoutOf("FIRST"))).toMatchObject({ code: 0 });
  ill.push(...faults("createPayout:latency-5000"));
  const end = ended(merchant.start(payoutOf("LOST")));
  await until(async () => (await merchant.count("payouts")) === 2);
  for (const name of readdirSync(merchant.dataFolder))
    if (name.startsWith("ledger.db")) rmSync(join(merchant.dataFolder, name));
  const { code, stderr } = await end;
  expect([code, stderr]).toEqual([
    75,
    expect.stringMatching(/LOST \(CONFIRMED[\s\S]*removed or replaced/),
  ]);
});
