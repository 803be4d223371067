import { expect, onTestFinished, test } from "vitest";
import type { Batch, BatchClaim } from "../../src/ledger/batch.ts";
import { batchFile, plannedRow } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

const file = batchFile("november.csv");

function ours(claim: BatchClaim): Batch {
  expect(claim).toMatchObject({ kind: "ours" });
  return claim.batch;
}

function* rowsOf(count: number) {
  for (let row = 1; row <= count; row += 1) yield plannedRow(row);
}

describeEach(databases, "P4: a batch that another process took", ({ share }) => {
  /** Two processes: the first one claimed the batch of the file, and was then counted as ended. */
  async function setup() {
    const { open, end, close, run } = await share();
    onTestFinished(close);
    const [{ batches: lost }, { batches: owner }, { batches: third }] = [
      await open({ holder: { pid: 1, lock: "1", machine: "m" } }),
      await open({ holder: { pid: 2, lock: "2", machine: "m" } }),
      await open({ holder: { pid: 3, lock: "3", machine: "m" } }),
    ];
    const rows = async () => (await run("SELECT row FROM batch_rows")).length;
    return { lost, owner, third, end, rows, claimed: ours(await lost.claim(file)) };
  }

  test("is not planned by the process that lost it", async () => {
    const { lost, owner, third, end, rows, claimed } = await setup();
    expect(await owner.claim(file)).toMatchObject({ kind: "held" });
    await end(1);
    const taken = ours(await owner.claim(file));
    await expect(lost.plan(claimed, () => rowsOf(10), 0n)).rejects.toThrow();
    expect(await owner.plan(taken, () => rowsOf(20), 0n)).toMatchObject({ kind: "planned" });
    await expect(lost.plan(claimed, () => rowsOf(10), 0n)).rejects.toThrow();
    expect(await rows()).toBe(20);
    expect(await third.claim(file)).toMatchObject({ kind: "held" });
  });

  test("is not released, changed or cancelled by the process that lost it", async () => {
    const { lost, owner, third, end, claimed } = await setup();
    const planned = await lost.plan(claimed, () => rowsOf(2), 0n);
    await end(1);
    const taken = ours(await owner.claim(file));
    await lost.release(planned.kind === "planned" ? planned.batch : claimed);
    expect(await third.claim(file)).toMatchObject({ kind: "held" });
    await expect(lost.acceptLines(taken, [2])).rejects.toThrow();
    await expect(lost.cancel(taken)).rejects.toThrow();
    expect(await owner.withIdentity(file.identity)).toMatchObject({ cancelledAt: null });
    expect(await owner.isUnaltered(taken)).toBe(true);
    await owner.release(taken);
    expect(await third.claim(file)).toMatchObject({ kind: "ours" });
  });
});
