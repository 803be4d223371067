import { expect, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import {
  batchFile,
  claimed,
  payout,
  plannedRow,
  planning,
  record,
  worker,
} from "./small-ledger.ts";

test("2,000 claims of a batch prepare each statement once, and none that SQLite prepares again", async () => {
  const database = await openDatabase(":memory:");
  const prepared: string[] = [];
  const prepare = (sql: string) => {
    prepared.push(sql);
    return database.prepare(sql);
  };
  const ledger = openLedger({ ...database, prepare }, worker());
  prepared.length = 0; // what the migration reads
  const { batch } = await ledger.batches.claim(batchFile("november.csv"), whichBatch);
  const rows = Array.from({ length: 2_000 }, (_, index) => plannedRow(index + 1));
  await ledger.batches.plan(
    batch,
    planning(() => rows),
  );
  const send = async ({ reference, recipient, methodId }: (typeof rows)[number]) => {
    const asked = { recipientNumber: recipient, paymentMethodId: methodId };
    const sent = await claimed(ledger, payout(reference, { asked, batch: batch.number }));
    const outcome = { state: "CONFIRMED", remoteId: reference, status: "Processing" } as const;
    await record(ledger, sent, outcome);
  };
  for (const row of rows) await send(row);
  expect(prepared).toEqual([...new Set(prepared)]);
  // A value that stands alone is read for the plan, and the plan is made again when it changes.
  expect(prepared.filter((sql) => /(?<!\+)\?/.test(sql))).toEqual([]);
  expect(prepared.length).toBeGreaterThan(5);
});
