import { expect, test } from "vitest";
import { planBatch } from "../../src/batch/claim.ts";
import { payoutFingerprint, payoutIntent } from "../../src/operations/payout-claim.ts";
import { order, scripted } from "../operations/scripted.ts";

const file = { name: "f", fileName: "f", hash: "0".repeat(64), columns: [], method: null };

/** A file of one row that was read and looked at, and not planned yet. */
async function lookedAt() {
  const { ledger: opened, world } = scripted({});
  const ledger = await opened();
  const draft = ledger.batches().draft();
  const { amountPaisa, recipientNumber: recipient, paymentMethodId: methodId } = order;
  draft.add({
    ...{ row: 1, line: 2, reference: "R-1", cells: [], name: null, description: null },
    ...{ amountPaisa, recipient, methodId, method: "bkash" },
    fingerprint: payoutFingerprint(order, world),
  });
  draft.finish({ since: "", places: { ref: 1, to: 2 } });
  const { batch } = ledger.batches().claim(file);
  const pay = () => ledger.claim([payoutIntent({ ...order, reference: "OTHER" }, world)]);
  return { ledger, draft, batch, pay };
}

test("a plan is not made of a file whose people were paid since it was looked at", async () => {
  const { ledger, draft, batch, pay } = await lookedAt();
  expect(draft.problemCount(["again"])).toBe(0);
  pay();
  expect(() => planBatch(batch, draft, ledger, 0)).toThrow("some of its rows were paid otherwise");
  expect(ledger.batches().ofFile(file.hash)?.plan ?? null).toBeNull();
  expect(planBatch(batch, draft, ledger, 1).plan).toMatchObject({ rowCount: 1 });
});
