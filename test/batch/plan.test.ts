import { expect, test } from "vitest";
import { planBatch } from "../../src/batch/claim.ts";
import { aDayBefore, isMore, paidElsewhere } from "../../src/batch/elsewhere.ts";
import { payoutFingerprint, payoutIntent } from "../../src/operations/payout/claim.ts";
import { claim, memoryLedger } from "../ledger/small-ledger.ts";
import { order, scripted, startMs } from "../operations/scripted.ts";

const hourMs = 3_600_000;

/** A ledger, and files that all pay the same person, unless they name others. */
async function openPlace() {
  const state = { nowMs: startMs };
  const { world } = scripted({});
  const { ledger } = await memoryLedger({ now: () => state.nowMs }, [1]);
  const { amountPaisa, recipientNumber: usual, paymentMethodId: methodId } = order;
  /** A file that was read and looked at, and not planned yet. */
  const lookedAt = (name: string, people = [usual]) => {
    const draft = ledger.batches().draft();
    for (const [index, recipient] of people.entries()) {
      const reference = `${name}-${index + 1}`;
      const fingerprint = payoutFingerprint({ ...order, recipientNumber: recipient }, world);
      draft.add({
        ...{ row: index + 1, line: index + 2, reference, cells: [], name: null, description: null },
        ...{ amountPaisa, recipient, methodId, method: "bkash", fingerprint },
      });
    }
    draft.finish({ since: aDayBefore(state.nowMs), places: { ref: 1, to: 2 } });
    const file = { name, fileName: name, hash: name.repeat(64), columns: [], method: null };
    const { batch } = ledger.batches().claim(file);
    return { draft, batch, hash: file.hash };
  };
  const pay = (reference: string, recipientNumber = usual) =>
    claim(ledger, payoutIntent({ ...order, reference, recipientNumber }, world)).operation;
  return { ledger, state, lookedAt, pay };
}

test("a plan is not made of a file whose people were paid since it was looked at", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  const { draft, batch, hash } = lookedAt("A");
  const shown = draft.again();
  expect([shown.count, draft.problemCount(["again"])]).toEqual([0, 0]);
  pay("OTHER");
  expect(() => planBatch(batch, draft, ledger, shown)).toThrow("rows were paid otherwise");
  expect(ledger.batches().ofFile(hash)?.plan ?? null).toBeNull();
  expect(planBatch(batch, draft, ledger, draft.lookAgain()).plan).toMatchObject({ rowCount: 1 });
});

test("who was shown that somebody is paid once more did not agree to twice more", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  pay("FIRST");
  const { draft, batch } = lookedAt("A");
  const shown = draft.again();
  pay("SECOND");
  expect(shown.count).toBe(1);
  expect(() => planBatch(batch, draft, ledger, shown)).toThrow("were paid otherwise");
});

test("nor, who was shown one person, to another one instead", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  const first = pay("FIRST");
  const { draft, batch } = lookedAt("A", ["01712345678", "01812345678"]);
  const shown = draft.again();
  ledger.settle(first, { state: "REFUSED", code: "refused" }, { letGo: true });
  pay("SECOND", "01812345678");
  expect([shown.count, draft.lookAgain().count]).toEqual([1, 1]);
  expect(() => planBatch(batch, draft, ledger, shown)).toThrow("were paid otherwise");
});

test.each([
  [[3], [1, 2]],
  [
    [1, 4],
    [2, 3],
  ],
  [
    [3, 4],
    [1, 2, 4],
  ],
])("nor, who was shown the rows %j, to the rows %j", async (before, after) => {
  const people = [1, 2, 3, 4].map((one) => `0171234567${one}`);
  const { ledger, lookedAt, pay } = await openPlace();
  const first = before.map((row) => pay(`FIRST-${row}`, people[row - 1]));
  const { draft, batch } = lookedAt("A", people);
  const shown = draft.again();
  for (const one of first)
    ledger.settle(one, { state: "REFUSED", code: "refused" }, { letGo: true });
  for (const row of after) pay(`SECOND-${row}`, people[row - 1]);
  expect([shown.count, draft.lookAgain().count]).toEqual([before.length, after.length]);
  expect(() => planBatch(batch, draft, ledger, shown)).toThrow("were paid otherwise");
});

test("who was shown more than others pay by now agreed to that too", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  const people = ["01712345678", "01812345678"];
  const first = pay("FIRST");
  pay("TWICE");
  pay("SECOND", people[1]);
  const { draft, batch } = lookedAt("A", people);
  const shown = draft.again();
  ledger.settle(first, { state: "REFUSED", code: "refused" }, { letGo: true });
  expect([shown.mark, draft.lookAgain().mark]).toEqual(["1x2,2x1", "1x1,2x1"]);
  expect(planBatch(batch, draft, ledger, shown).plan).toMatchObject({ rowCount: 2 });
});

test("what a batch is still to send counts for a day, and for as long as a process works on it", async () => {
  const { ledger, state, lookedAt } = await openPlace();
  const old = lookedAt("A");
  const planned = planBatch(old.batch, old.draft, ledger, old.draft.again());
  old.draft.close();
  state.nowMs += 25 * hourMs;
  const beside = lookedAt("B");
  expect(beside.draft.again()).toMatchObject({ count: 1, sumPaisa: order.amountPaisa });
  ledger.batches().letGo(planned);
  expect(beside.draft.lookAgain().count).toBe(0);
});

test.each(["017.12.345678", "(017) 12-345678", "+880 1712/345678"])(
  "somebody whose number was sent as %s is the same person",
  async (recipient) => {
    const { lookedAt, pay } = await openPlace();
    pay("BY-HAND", recipient);
    expect(lookedAt("A").draft.again().count).toBe(1);
  },
);

test("a reference that ended in conflict is taken, and nobody is told to pay by another one", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  ledger.settle(pay("A-1"), { state: "CONFLICT", code: "conflict" }, { letGo: true });
  const [problem, ...others] = lookedAt("A").draft.problems(["taken", "used"], 9);
  expect([problem?.kind, others]).toEqual(["taken", []]);
  expect(problem?.problem).toMatch(
    /'lenden ledger resolve A-1' with --created <id> or --not-created\.$/,
  );
});

test("what was sent counts for a day from when it last went out, and what is in doubt for as long as it is", async () => {
  const { ledger, state, lookedAt, pay } = await openPlace();
  const again = () => lookedAt("A").draft.again().count;
  const doubtful = pay("DOUBT");
  ledger.settle(doubtful, { state: "UNCERTAIN", code: "uncertain" }, { letGo: true });
  state.nowMs += 30 * hourMs;
  expect(again()).toBe(1);
  const resumed = pay("DOUBT");
  ledger.settle(resumed, { state: "CONFIRMED", remoteId: "PO1" }, { letGo: true });
  state.nowMs += 23 * hourMs;
  expect(again()).toBe(1);
  state.nowMs += 2 * hourMs;
  expect(again()).toBe(0);
});

test("what is left of a plan is held against other plans, and against what was paid by a clock that was behind", async () => {
  const { ledger, state, lookedAt, pay } = await openPlace();
  const one = lookedAt("A");
  const planned = planBatch(one.batch, one.draft, ledger, one.draft.again());
  one.draft.close();
  const other = lookedAt("B");
  const beside = planBatch(other.batch, other.draft, ledger, other.draft.again());
  const [before, ...more] = [planned, beside].map((batch) => paidElsewhere(batch, ledger));
  expect([before, ...more]).toMatchObject([{ count: 1 }, { count: 1 }]);
  state.nowMs -= 3 * 60_000;
  pay("OTHER");
  const now = paidElsewhere(planned, ledger);
  expect([now.count, before && isMore(now, before)]).toEqual([1, true]);
});

test("a reference of the plan that paid somebody else is none of its own", async () => {
  const { ledger, lookedAt, pay } = await openPlace();
  const { draft, batch } = lookedAt("A", ["01712345678", "01812345678"]);
  const planned = planBatch(batch, draft, ledger, draft.again());
  pay("A-2"); // to the person of A-1
  expect(paidElsewhere(planned, ledger)).toMatchObject({ count: 1, first: [{ line: 2 }] });
});
