import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { faults } from "../sandbox/running.ts";
import { until } from "../support/helpers.ts";
import { built, ended, errorOf, startBuilt } from "../support/lenden.ts";
import { openMerchantApart, payoutOf } from "../support/merchant.ts";
import { expectPaidOnce, payeesOf, sendOf } from "../support/payees.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";

serverTest(
  "P4, P12: processes that stood still past their lease send nothing that others took over",
  async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann", "bo");
    const [slow, lost] = [faults("createPayout:latency-2000"), faults("createPayout:lost-reply")];
    const ofBatch = await openMerchantApart({ faults: slow });
    const ofOne = await openMerchantApart({ faults: lost });
    const payees = payeesOf("STILL", 12);
    const batch = startBuilt(
      sendOf(payees, "--concurrency", "2", "--json"),
      machine(ofBatch, url("ann")),
    );
    const one = startBuilt(payoutOf("ONE", "--json"), machine(ofOne, url("ann")));
    const ends = Promise.all([ended(batch), ended(one)]);
    // The payout is about to be sent again: what happened to the first request is recorded.
    const attempts = "SELECT attempts FROM lenden.operations WHERE reference = 'ONE'";
    await until(async () => (await cluster.run(attempts, database))[0]?.attempts === "1");
    one.kill("SIGSTOP");
    await until(async () => (await ofBatch.count("payouts")) >= 3);
    batch.kill("SIGSTOP");
    // More than the 20 s for which a lease lets them send. Others would wait for 90 s.
    await delay(21_000);
    await cluster.run(
      "UPDATE lenden.processes SET lease_until = clock_timestamp() - interval '61 s'",
      database,
    );
    for (const ill of [slow, lost]) ill.splice(0);
    const bo = machine(ofBatch, url("bo"));
    expect(await built(sendOf(payees), { env: bo })).toMatchObject({ code: 0 });
    expect(await built(payoutOf("ONE"), { env: machine(ofOne, url("bo")) })).toMatchObject({
      code: 0,
    });
    const requests = async () =>
      (await Promise.all([ofBatch, ofOne].map((all) => all.moneyRequests()))).map(
        ({ length }) => length,
      );
    const before = await requests();
    for (const still of [batch, one]) still.kill("SIGCONT");
    for (const end of await ends) {
      expect([69, 75]).toContain(end.code);
      expect(errorOf(end).reason).toMatch(/^(?:ledger|batch)\./);
    }
    expect(await requests()).toEqual(before);
    expect(await ofOne.count("payouts")).toBe(1);
    await expectPaidOnce({ ...ofBatch, env: bo }, payees);
  },
  300_000,
);
