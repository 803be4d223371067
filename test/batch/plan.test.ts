import { expect, test } from "vitest";
import { aDayBefore, paidElsewhere, planBatch } from "../../src/batch/claim.ts";
import { payoutFingerprint, payoutIntent } from "../../src/operations/payout-claim.ts";
import { memoryLedger } from "../ledger/small-ledger.ts";
import { order, scripted, startMs } from "../operations/scripted.ts";

const hourMs = 3_600_000;

/** A ledger, and files of one row each that all pay the same person. */
async function openPlace() {
  const state = { nowMs: startMs };
  const { world } = scripted({});
  const { ledger } = await memoryLedger({ now: () => state.nowMs }, [1]);
  const fingerprint = payoutFingerprint(order, world);
  const { amountPaisa, recipientNumber: recipient, paymentMethodId: methodId } = order;
  /** A file that was read and looked at, and not planned yet. */
  const lookedAt = (name: string) => {
    const draft = ledger.batches().draft();
    draft.add({
      ...{ row: 1, line: 2, reference: `${name}-1`, cells: [], name: null, description: null },
      ...{ amountPaisa, recipient, methodId, method: "bkash", fingerprint },
    });
    draft.finish({ since: aDayBefore(state.nowMs), places: { ref: 1, to: 2 } });
    const file = { name, fileName: name, hash: name.repeat(64), columns: [], method: null };
    const { batch } = ledger.batches().claim(file);
    return { draft, batch, hash: file.hash };
  };
  const pay = (reference: string) =>
    void ledger.claim([payoutIntent({ ...order, reference }, world)]);
  return { ledger, state, lookedAt, pay };
}

test("a plan is not made of a file whose people were paid since it was looked at", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  const { draft, batch, hash } = lookedAt("A");
  expect(draft.problemCount(["again"])).toBe(0);
  pay("OTHER");
  expect(() => planBatch(batch, draft, ledger, 0)).toThrow("some of its rows were paid otherwise");
  expect(ledger.batches().ofFile(hash)?.plan ?? null).toBeNull();
  expect(planBatch(batch, draft, ledger, 1).plan).toMatchObject({ rowCount: 1 });
});

test("who was shown that somebody is paid once more did not agree to twice more", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  pay("FIRST");
  const { draft, batch } = lookedAt("A");
  const { payouts } = draft.again();
  pay("SECOND");
  expect(payouts).toBe(1);
  expect(() => planBatch(batch, draft, ledger, payouts)).toThrow("were paid otherwise");
});

test("what a batch is still to send counts for a day, and for as long as a process works on it", async () => {
  const { ledger, state, lookedAt } = await openPlace();
  const old = lookedAt("A");
  const planned = planBatch(old.batch, old.draft, ledger, 0);
  old.draft.close();
  state.nowMs += 25 * hourMs;
  const beside = lookedAt("B");
  expect(beside.draft.again()).toEqual({ count: 1, sumPaisa: order.amountPaisa, payouts: 1 });
  ledger.batches().letGo(planned);
  expect(beside.draft.lookAgain().payouts).toBe(0);
});

test("what is left of a plan is held against other plans, and against what was paid by a clock that was behind", async () => {
  const { ledger, state, lookedAt, pay } = await openPlace();
  const one = lookedAt("A");
  const planned = planBatch(one.batch, one.draft, ledger, 0);
  one.draft.close();
  const other = lookedAt("B");
  const beside = planBatch(other.batch, other.draft, ledger, 1);
  for (const batch of [planned, beside])
    expect(paidElsewhere(batch, ledger)).toMatchObject({ count: 1, payouts: 1 });
  state.nowMs -= 3 * 60_000;
  pay("OTHER");
  const { payouts, first } = paidElsewhere(planned, ledger);
  expect([payouts, first.length]).toEqual([2, 1]);
});
