import { expect, test } from "vitest";
import { askLedger, type CheckedFile, dayBefore } from "../../src/batches/check.ts";
import { acceptRows, checkOpenRows, planBatch } from "../../src/batches/plan.ts";
import type { FileRow } from "../../src/batches/rows.ts";
import type { Batch } from "../../src/ledger/batches/batch.ts";
import { payoutIntent } from "../../src/operations/payout/claim.ts";
import { claimed, memoryLedger, record } from "../ledger/small-ledger.ts";
import { order, startMs } from "../operations/scripted.ts";

const hourMs = 3_600_000;
const places = { ref: 1, to: 2 };

/** A ledger, and files that all pay the same recipient, unless they name others. */
async function setup() {
  const state = { nowMs: startMs };
  const { ledger } = await memoryLedger({ now: () => state.nowMs }, [1]);
  const { amountPaisa, recipientNumber: usual, paymentMethodId: methodId } = order;
  const ask = (rows: FileRow[]) =>
    askLedger(rows, ledger, { since: dayBefore(state.nowMs), places });
  /** A file that was checked, and its batch, which is not planned yet. */
  const check = (name: string, recipients = [usual]) => {
    const rows = recipients.map((recipient, index) => ({
      ...{ row: index + 1, line: index + 2, reference: `${name}-${index + 1}`, wasSent: false },
      ...{ amountPaisa, recipient, methodId, method: "bkash" },
      ...{ cells: [], name: null, description: null },
    }));
    const found = ask(rows);
    const hash = name.repeat(64);
    const columns = ["ref"];
    const batchFile = { name, fileName: name, hash, identity: hash, columns, method: null };
    const file: CheckedFile = {
      ...{ columns, hasReferences: true, places, rows, findings: found.findings, identity: hash },
      ...{ since: dayBefore(state.nowMs), ledger: found },
    };
    const { batch } = ledger.batches().claim(batchFile);
    return { file, batch, hash };
  };
  const plan = ({ file, batch }: { file: CheckedFile; batch: Batch }) =>
    planBatch(batch, file, ledger);
  /** The batch of a file that was checked and planned. */
  const planned = (name: string, recipients?: string[]): Batch => {
    const answer = plan(check(name, recipients));
    if (answer.kind !== "planned") throw new Error(`not planned: ${answer.kind}`);
    return answer.batch;
  };
  const pay = (reference: string, recipientNumber = usual) =>
    claimed(ledger, payoutIntent({ ...order, reference, recipientNumber }));
  /** As a process that sends the batch does it. */
  const payRow = (reference: string, { number: batch }: Batch) =>
    claimed(ledger, { ...payoutIntent({ ...order, reference }), batch });
  return { ledger, state, ask, check, plan, planned, pay, payRow };
}

test("a plan is rejected if a recipient was paid since the file was checked", async () => {
  const { ledger, check, plan, pay } = await setup();
  const before = check("A");
  expect(before.file.findings).toEqual([]);
  await pay("OTHER");
  expect(plan(before)).toMatchObject({
    kind: "repeated",
    found: { findings: [{ kind: "outcome-unknown", line: 2, reference: "OTHER" }] },
  });
  expect(ledger.batches().withIdentity(before.hash)?.plan ?? null).toBeNull();
  ledger.batches().letGo(before.batch);
  expect(plan(check("A"))).toMatchObject({ kind: "planned", batch: { plan: { rowCount: 1 } } });
});

test("a plan is rejected if another batch was planned with its rows meanwhile", async () => {
  const { check, plan, planned } = await setup();
  const before = check("A");
  planned("B");
  expect(plan(before)).toMatchObject({
    kind: "repeated",
    found: { findings: [{ kind: "planned", reference: "B-1" }] },
  });
});

test("a plan is rejected if another payout took a reference of the file meanwhile", async () => {
  const { check, plan, pay } = await setup();
  const before = check("A");
  await pay("A-1", "01812345678");
  expect(plan(before)).toMatchObject({
    kind: "repeated",
    found: { findings: [{ kind: "reference-taken", reference: "A-1" }] },
  });
});

test("accepting one payout more does not accept two", async () => {
  const { check, plan, pay } = await setup();
  await pay("FIRST");
  const before = check("A");
  await pay("SECOND");
  expect(before.file.findings).toHaveLength(1);
  expect(plan(before)).toMatchObject({ kind: "repeated" });
});

test("accepting a payout to one recipient does not accept one to another", async () => {
  const { ledger, ask, check, plan, pay } = await setup();
  const first = await pay("FIRST");
  const before = check("A", ["01712345678", "01812345678"]);
  await record(ledger, first, { state: "REFUSED", code: "refused" });
  await pay("SECOND", "01812345678");
  expect(ask(before.file.rows).findings).toHaveLength(1);
  expect(plan(before)).toMatchObject({ kind: "repeated" });
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
])("accepting the rows %j does not accept the rows %j", async (shown, paid) => {
  const recipients = [1, 2, 3, 4].map((one) => `0171234567${one}`);
  const { ledger, ask, check, plan, pay } = await setup();
  const first = await Promise.all(shown.map((row) => pay(`FIRST-${row}`, recipients[row - 1])));
  const before = check("A", recipients);
  for (const one of first) await record(ledger, one, { state: "REFUSED", code: "refused" });
  for (const row of paid) await pay(`SECOND-${row}`, recipients[row - 1]);
  expect(before.file.findings).toHaveLength(shown.length);
  expect(ask(before.file.rows).findings).toHaveLength(paid.length);
  expect(plan(before)).toMatchObject({ kind: "repeated" });
});

test("a plan is made if fewer payouts repeat its rows than were shown", async () => {
  const { ledger, ask, check, plan, pay } = await setup();
  const recipients = ["01712345678", "01812345678"];
  const first = await pay("FIRST");
  await pay("TWICE");
  await pay("SECOND", recipients[1]);
  const before = check("A", recipients);
  await record(ledger, first, { state: "REFUSED", code: "refused" });
  expect([before.file.ledger.seen.size, ask(before.file.rows).seen.size]).toEqual([3, 2]);
  expect(plan(before)).toMatchObject({ kind: "planned", batch: { plan: { rowCount: 2 } } });
});

test("rows whose duplicates were shown are stored as accepted, on resume too", async () => {
  const { ledger, planned, pay } = await setup();
  const recipients = ["01712345678", "01812345678"];
  await pay("FIRST");
  const batch = planned("A", recipients);
  const accepted = () => [...ledger.batches().results(batch)].map(({ isAccepted }) => isAccepted);
  expect(accepted()).toEqual([true, false]);
  await pay("SECOND", recipients[1]);
  const resumed = acceptRows(batch, checkOpenRows(batch, ledger), ledger);
  expect(accepted()).toEqual([true, true]);
  expect(ledger.batches().isUnaltered(resumed)).toBe(true);
  expect(ledger.batches().isUnaltered(batch)).toBe(false);
});

test("planned rows count at any age, until their batch is cancelled", async () => {
  const { ledger, state, ask, check, planned } = await setup();
  const old = planned("A");
  ledger.batches().letGo(old);
  state.nowMs += 40 * 24 * hourMs;
  const beside = check("B");
  expect(ask(beside.file.rows).findings).toMatchObject([{ kind: "planned", batch: old.id }]);
  ledger.batches().cancel(old);
  expect(ask(beside.file.rows).findings).toEqual([]);
});

test.each(["017.12.345678", "(017) 12-345678", "+880 1712/345678"])(
  "a recipient whose number was sent as %s is the same recipient",
  async (recipient) => {
    const { check, pay } = await setup();
    await pay("BY-HAND", recipient);
    expect(check("A").file.findings).toHaveLength(1);
  },
);

test("a reference in conflict is a problem of its own", async () => {
  const { ledger, check, pay } = await setup();
  await record(ledger, await pay("A-1"), { state: "CONFLICT", code: "conflict" });
  expect(check("A").file.findings).toMatchObject([
    { kind: "reference-in-conflict", reference: "A-1" },
  ]);
});

test("an accepted payout counts for a day, and an unknown one for as long as it is unknown", async () => {
  const { ledger, state, check, pay } = await setup();
  const kinds = () => check("A").file.findings.map(({ kind }) => kind);
  await record(ledger, await pay("DOUBT"), { state: "UNCERTAIN", code: "uncertain" });
  state.nowMs += 30 * hourMs;
  expect(kinds()).toEqual(["outcome-unknown"]);
  await record(ledger, await pay("DOUBT"), { state: "CONFIRMED", remoteId: "PO1" });
  state.nowMs += 23 * hourMs;
  expect(kinds()).toEqual(["paid-recently"]);
  state.nowMs += 2 * hourMs;
  expect(kinds()).toEqual([]);
});

test("the open rows of a plan are compared with other plans, and with payouts under a clock that was behind", async () => {
  const { ledger, state, planned, pay } = await setup();
  const [one, other] = [planned("A"), planned("B")];
  const seenBy = (batch: Batch) => checkOpenRows(batch, ledger).seen.size;
  expect([seenBy(one), seenBy(other)]).toEqual([1, 1]);
  state.nowMs -= 3 * 60_000;
  await pay("OTHER");
  expect(seenBy(one)).toBe(2);
});

test("a payout of the plan's own reference to another recipient repeats its rows", async () => {
  const { ledger, planned, payRow } = await setup();
  const batch = planned("A", ["01712345678", "01812345678"]);
  await payRow("A-2", batch); // to the recipient of A-1
  expect(checkOpenRows(batch, ledger).findings).toMatchObject([
    { kind: "outcome-unknown", line: 2, reference: "A-2" },
  ]);
});

test("the payouts of a plan's own rows do not repeat each other", async () => {
  const { ledger, planned, payRow } = await setup();
  const batch = planned("A", ["01712345678", "01712345678"]);
  await payRow("A-1", batch);
  expect(checkOpenRows(batch, ledger).findings).toEqual([]);
});
