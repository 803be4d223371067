import { expect, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { fixedBatchColumns } from "../../src/ledger/plan.ts";
import { batchFile, claimed, memoryLedger, payout, plannedRow, planning } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

/** What would be read before everything else, or counted down in a total. */
const rejected = [
  ...["events", "operations", "batches"].flatMap((table) =>
    ["0", "-1"].map((number) => `UPDATE ${table} SET number = ${number}`),
  ),
  `UPDATE batch_rows SET "row" = 0`,
  "UPDATE batch_rows SET amount_paisa = 0",
];

test("a file keeps what a planned batch was planned with, and its lock changes", async () => {
  const { database, ledger } = await memoryLedger();
  const { batch } = await ledger.batches.claim(batchFile("a.csv"), whichBatch);
  const update = (column: string) => database.exec(`UPDATE batches SET ${column} = ${column}`);
  for (const column of fixedBatchColumns) update(column);
  const planned = planning(() => [plannedRow(1)], 1_000n);
  expect(await ledger.batches.plan(batch, planned)).toMatchObject({ kind: "planned" });
  for (const column of fixedBatchColumns)
    expect(() => update(column), column).toThrow("a planned batch in the ledger does not change");
  for (const column of ["seal", "cancelled_at", "process", "held_since"]) update(column);
});

describeEach(databases, "the tables", ({ share }) => {
  test("reject a number below all others, and an amount below zero", async () => {
    const { open, run } = await share();
    const ledger = await open();
    await claimed(ledger, payout("A"));
    const { batch } = await ledger.batches.claim(batchFile("a.csv"), whichBatch);
    const planned = planning(() => [plannedRow(1)], 1_000n);
    expect(await ledger.batches.plan(batch, planned)).toMatchObject({ kind: "planned" });
    for (const sql of [...rejected, "UPDATE operations SET amount_paisa = -1"])
      await expect(run(sql), sql).rejects.toThrow(/check constraint/i);
    await run("UPDATE operations SET amount_paisa = 0");
  });
});
