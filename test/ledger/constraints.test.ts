import { expect, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { batchFile, claimed, payout, plannedRow, planning } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

/** What would be read before everything else, or counted down in a total. */
const rejected = [
  ...["events", "operations", "batches"].flatMap((table) =>
    ["0", "-1"].map((number) => `UPDATE ${table} SET number = ${number}`),
  ),
  `UPDATE batch_rows SET "row" = 0`,
  "UPDATE batch_rows SET amount_paisa = 0",
];

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
