import { expect } from "vitest";
import { faults } from "../sandbox/running.ts";
import { until } from "../support/helpers.ts";
import { built, ended, errorOf, lenden, startBuilt } from "../support/lenden.ts";
import { inDatabase, type Merchant, openMerchantApart } from "../support/merchant.ts";
import { expectPaidOnce, type Payees, payeesOf, sendOf } from "../support/payees.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { type Env, machine, teamLedger } from "../support/team-ledger.ts";

const sendById = (id: string, ...more: string[]) => ["payout", "batch", "send", id, ...more];

/** A batch whose run was killed while it sent rows, and two machines. */
async function killedBatch(name: string) {
  const cluster = await sharedCluster();
  const { database, url } = await teamLedger(cluster, "ann", "bo");
  const slow = faults("createPayout:latency-400");
  const merchant = await openMerchantApart({ faults: slow });
  const payees = payeesOf(name, 12);
  const [ann, bo] = [machine(merchant, url("ann")), machine(merchant, url("bo"))];
  const run = startBuilt(sendOf(payees, "--concurrency", "2"), ann);
  const end = ended(run);
  await until(async () => (await merchant.count("payouts")) >= 3);
  run.kill("SIGKILL");
  expect((await end).signal).toBe("SIGKILL");
  slow.splice(0);
  // Others would wait until the lease of the process ended.
  const lease = "UPDATE lenden.processes SET lease_until = clock_timestamp() - interval '61 s'";
  await cluster.run(lease, database);
  const [listed] = JSON.parse(
    (await lenden(["payout", "batch", "list", "--json"], { env: bo })).stdout,
  );
  expect(await merchant.count("payouts")).toBeLessThan(payees.rows.length);
  return { merchant, payees, ann, bo, id: String(listed.batch) };
}

/** From now on the API accepts this payout secret alone. */
async function rotateSecret(merchant: Merchant, secret: string): Promise<void> {
  await merchant.close();
  await inDatabase(merchant.booksFile, (books) =>
    books.prepare("UPDATE account SET payoutSecret = ?").run(secret),
  );
  await merchant.comeBack();
}

async function expectWholeBatch(merchant: Merchant, payees: Payees, env: Env): Promise<void> {
  await expectPaidOnce({ ...merchant, env }, payees);
}

serverTest(
  "P9: a batch whose run was killed is sent by its ID from another machine, and each row is paid once",
  async () => {
    const { merchant, payees, bo, id } = await killedBatch("BYID");
    const sent = await built(sendById(id), { env: bo });
    expect([sent.code, sent.stderr]).toEqual([0, expect.stringContaining("by ann (as ")]);
    await expectWholeBatch(merchant, payees, bo);
  },
  120_000,
);

serverTest(
  "P28: after a rotation of the payout secret in the middle of a batch, only its file sends the rest",
  async () => {
    const { merchant, payees, ann, bo, id } = await killedBatch("ROTATED");
    const LENDEN_PAYOUT_SECRET = "the next secret of this merchant";
    await rotateSecret(merchant, LENDEN_PAYOUT_SECRET);
    const before = await merchant.count("payouts");
    const byId = await built(sendById(id, "--json"), { env: { ...bo, LENDEN_PAYOUT_SECRET } });
    expect([byId.code, errorOf(byId)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
    expect(await merchant.count("payouts")).toBe(before);

    const byFile = await built(sendOf(payees, "--json"), { env: { ...ann, LENDEN_PAYOUT_SECRET } });

    expect([byFile.code, byFile.stderr]).toEqual([0, expect.anything()]);
    const { warnings } = JSON.parse(byFile.stdout);
    expect(warnings).toContainEqual(expect.objectContaining({ reason: "batch.sealed-again" }));
    // The seals are those of the new secret.
    const old = await built(sendById(id, "--json"), { env: bo });
    expect([old.code, errorOf(old)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
    const again = await built(sendById(id), { env: { ...bo, LENDEN_PAYOUT_SECRET } });
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("Nothing was sent") });
    await expectWholeBatch(merchant, payees, { ...bo, LENDEN_PAYOUT_SECRET });
  },
  120_000,
);
