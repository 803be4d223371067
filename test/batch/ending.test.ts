import { expect, test } from "vitest";
import { endingFailure } from "../../src/batches/ending.ts";
import { whichBatch } from "../../src/batches/identity.ts";
import { endingOf, recordedStatus } from "../../src/batches/status.ts";
import { Failure } from "../../src/domain/failure.ts";
import {
  batchFile,
  memoryLedger,
  payout,
  plannedBy,
  plannedRow,
  planning,
  record,
  sealer,
} from "../ledger/small-ledger.ts";

test("a limit that stops a batch hides no unknown outcome", async () => {
  const { ledger } = await memoryLedger();
  const { batch } = await ledger.batches.claim(batchFile("july"), whichBatch);
  const row = plannedRow(1, { reference: "R-1" });
  const rows = () => [row, plannedRow(2, { reference: "R-2" })];
  const plan = plannedBy(await ledger.batches.plan(batch, planning(rows)));
  const { asked } = payout("R-1");
  const intent = payout("R-1", {
    batch: batch.number,
    asked: { ...asked, recipientNumber: row.recipient },
  });
  const answer = await ledger.claim({ intent, onDuplicate: "reject", sealer, batchId: batch.id });
  if (answer.kind !== "new") throw new Error(answer.kind);
  await record(ledger, answer.operation, { state: "UNCERTAIN", code: "uncertain", sent: true });
  const reached = { limit: "1.00", used: "1.00", left: "0.00", freesAt: null };
  const stopped = new Failure("limits.day", "Above the limit.", { reached });

  const status = await recordedStatus(plan.batch, ledger);
  const kind = endingOf(status.sums, { stoppedBy: stopped.kind });
  const failure = await endingFailure(kind, status, { stopped, notes: [] }, ledger);

  expect(failure).toMatchObject({ kind: "uncertain", reason: "batch.outcome-unknown" });
  expect(failure?.message).toContain("Above the limit.");
});
