import { expect, test } from "vitest";
import { type CheckedFile, findInLedger } from "../../src/batches/check.ts";
import { whichBatch } from "../../src/batches/identity.ts";
import { acceptRows, checkOpenRows, planBatch, resumeBatch } from "../../src/batches/plan.ts";
import type { FileRow } from "../../src/batches/rows.ts";
import { runBatch } from "../../src/batches/run.ts";
import { recordedStatus } from "../../src/batches/status.ts";
import type { Batch, ReadPlan } from "../../src/ledger/batch.ts";
import { duplicatesSince } from "../../src/ledger/decide.ts";
import { payoutIntent } from "../../src/operations/payout/claim.ts";
import {
  batchFile,
  claimed,
  memoryLedger,
  plannedRow,
  record,
  sealer,
} from "../ledger/small-ledger.ts";
import { order, startMs } from "../operations/scripted.ts";
import { collect } from "../support/helpers.ts";

const hourMs = 3_600_000;

/** A ledger, and files that all pay the same recipient, unless they name others. */
async function setup() {
  const state = { nowMs: startMs };
  const { ledger } = await memoryLedger({ now: () => state.nowMs }, [1]);
  const { amountPaisa, recipientNumber: usual, paymentMethodId: methodId } = order;
  const ask = (rows: FileRow[]) =>
    findInLedger(rows, ledger, { since: duplicatesSince(state.nowMs) });
  /** A file that was checked, and its batch, which is not planned yet. */
  const check = async (name: string, recipients = [usual]) => {
    const rows = recipients.map((recipient, index) => ({
      ...plannedRow(index + 1, { amountPaisa, recipient, methodId }),
      reference: `${name}-${index + 1}`,
      wasSent: false,
    }));
    const found = await ask(rows);
    const batch = batchFile(name);
    const { columns, identity } = batch;
    const file: CheckedFile = {
      table: {
        delimiter: ",",
        hiddenColumns: [],
        hiddenRows: { count: 0, sumPaisa: 0n },
        kept: [],
      },
      columns,
      rows,
      findings: found.findings,
      identity,
      since: duplicatesSince(state.nowMs),
      ledger: found,
    };
    return { file, batch: (await ledger.batches.claim(batch, whichBatch)).batch };
  };
  const plan = ({ file, batch }: { file: CheckedFile; batch: Batch }) =>
    planBatch(batch, file, { ledger, sealer });
  /** The batch of a file that was checked and planned. */
  const planned = async (name: string, recipients?: string[]): Promise<ReadPlan> =>
    plan(await check(name, recipients));
  const pay = (reference: string, recipientNumber = usual) =>
    claimed(ledger, payoutIntent({ ...order, reference, recipientNumber }));
  /** As a process that sends the batch does it. */
  const payRow = (reference: string, { number: batch }: Batch) =>
    claimed(ledger, { ...payoutIntent({ ...order, reference }), batch });
  return { ledger, state, ask, check, plan, planned, pay, payRow };
}

/** Nothing is planned, because others repeat a row by now. */
async function rejects(plan: Promise<ReadPlan>, problem = /^line /): Promise<void> {
  const problems = expect.arrayContaining([expect.stringMatching(problem)]);
  await expect(plan).rejects.toMatchObject({ reason: "batch.duplicates", details: { problems } });
}

test("a plan is rejected if a recipient was paid since the file was checked", async () => {
  const { ledger, check, plan, pay } = await setup();
  const before = await check("A");
  expect(before.file.findings).toEqual([]);
  await pay("OTHER");
  await rejects(plan(before), /^line 2: .* has an unknown outcome .*\(OTHER\)/);
  const { batches } = await ledger.batches.known({ identity: before.batch.identity });
  expect(batches).toMatchObject([{ plan: null }]);
  await ledger.batches.release(before.batch);
  expect(await plan(await check("A"))).toMatchObject({ batch: { plan: { rowCount: 1 } } });
});

test("a plan is rejected if another batch was planned with its rows meanwhile", async () => {
  const { check, plan, planned } = await setup();
  const before = await check("A");
  await planned("B");
  await rejects(plan(before), /^line 2: Batch B\w+ will send .*\(B-1\)/);
});

test("a plan is rejected if another payout took a reference of the file meanwhile", async () => {
  const { check, plan, pay } = await setup();
  const before = await check("A");
  await pay("A-1", "01812345678");
  await rejects(plan(before), /^line 2: This reference already belongs to a different payout/);
});

test("accepting one payout more does not accept two", async () => {
  const { check, plan, pay } = await setup();
  await pay("FIRST");
  const before = await check("A");
  await pay("SECOND");
  expect(before.file.findings).toHaveLength(1);
  await rejects(plan(before));
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
  const before = await check("A", recipients);
  for (const one of first)
    await record(ledger, one, { state: "REFUSED", code: "refused", sent: true });
  for (const row of paid) await pay(`SECOND-${row}`, recipients[row - 1]);
  expect(before.file.findings).toHaveLength(shown.length);
  expect((await ask(before.file.rows)).findings).toHaveLength(paid.length);
  await rejects(plan(before));
});

test("a plan is made if fewer payouts repeat its rows than were shown", async () => {
  const { ledger, ask, check, plan, pay } = await setup();
  const recipients = ["01712345678", "01812345678"];
  const first = await pay("FIRST");
  await pay("TWICE");
  await pay("SECOND", recipients[1]);
  const before = await check("A", recipients);
  await record(ledger, first, { state: "REFUSED", code: "refused", sent: true });
  expect([before.file.ledger.seen.size, (await ask(before.file.rows)).seen.size]).toEqual([3, 2]);
  expect(await plan(before)).toMatchObject({ batch: { plan: { rowCount: 2 } } });
});

test("rows whose duplicates were shown are stored as accepted, on resume too", async () => {
  const { ledger, planned, pay } = await setup();
  const recipients = ["01712345678", "01812345678"];
  await pay("FIRST");
  const plan = await planned("A", recipients);
  const { batch } = plan;
  const accepted = async () =>
    (await collect(ledger.batches.rows(batch, "all"))).map(({ isAccepted }) => isAccepted);
  expect(await accepted()).toEqual([true, false]);
  await pay("SECOND", recipients[1]);
  const resumed = await acceptRows(plan, await checkOpenRows(plan, ledger), { ledger, sealer });
  expect(await accepted()).toEqual([true, true]);
  expect(await ledger.batches.readPlan(resumed.batch, sealer)).toEqual(resumed);
  expect(await ledger.batches.readPlan(batch, sealer)).toMatchObject({ isSealed: false });
});

test("planned rows count at any age, until their batch is cancelled", async () => {
  const { ledger, state, ask, check, planned } = await setup();
  const { batch: old } = await planned("A");
  await ledger.batches.release(old);
  state.nowMs += 40 * 24 * hourMs;
  const beside = await check("B");
  expect((await ask(beside.file.rows)).findings).toMatchObject([
    { kind: "planned", batch: old.id },
  ]);
  await ledger.batches.claimPlanned(old);
  await ledger.batches.cancel(old);
  expect((await ask(beside.file.rows)).findings).toEqual([]);
});

test.each(["017.12.345678", "(017) 12-345678", "+880 1712/345678"])(
  "a recipient whose number was sent as %s is the same recipient",
  async (recipient) => {
    const { check, pay } = await setup();
    await pay("BY-HAND", recipient);
    expect((await check("A")).file.findings).toHaveLength(1);
  },
);

test("a reference in conflict is a problem of its own", async () => {
  const { ledger, check, pay } = await setup();
  await record(ledger, await pay("A-1"), { state: "CONFLICT", code: "conflict" });
  expect((await check("A")).file.findings).toMatchObject([
    { kind: "reference-in-conflict", reference: "A-1" },
  ]);
});

test("an accepted payout counts for a day, and an unknown one for as long as it is unknown", async () => {
  const { ledger, state, check, pay } = await setup();
  const kinds = async () => (await check("A")).file.findings.map(({ kind }) => kind);
  await record(ledger, await pay("DOUBT"), { state: "UNCERTAIN", code: "uncertain" });
  state.nowMs += 30 * hourMs;
  expect(await kinds()).toEqual(["outcome-unknown"]);
  await record(ledger, await pay("DOUBT"), { state: "CONFIRMED", remoteId: "PO1" });
  state.nowMs += 23 * hourMs;
  expect(await kinds()).toEqual(["paid-recently"]);
  state.nowMs += 2 * hourMs;
  expect(await kinds()).toEqual([]);
});

test("the open rows of a plan are compared with other plans, and with payouts under a clock that was behind", async () => {
  const { ledger, state, planned, pay } = await setup();
  const [one, other] = [await planned("A"), await planned("B")];
  const seenBy = async (plan: ReadPlan) => (await checkOpenRows(plan, ledger)).seen.size;
  expect([await seenBy(one), await seenBy(other)]).toEqual([1, 1]);
  state.nowMs -= 3 * 60_000;
  await pay("OTHER");
  expect(await seenBy(one)).toBe(2);
});

test("a payout of the plan's own reference to another recipient repeats its rows", async () => {
  const { ledger, planned, payRow } = await setup();
  const plan = await planned("A", ["01712345678", "01812345678"]);
  await payRow("A-2", plan.batch); // to the recipient of A-1
  expect((await checkOpenRows(plan, ledger)).findings).toMatchObject([
    { kind: "outcome-unknown", line: 2, reference: "A-2" },
  ]);
});

test("the payouts of a plan's own rows do not repeat each other", async () => {
  const { ledger, planned, payRow } = await setup();
  const plan = await planned("A", ["01712345678", "01712345678"]);
  await payRow("A-1", plan.batch);
  expect((await checkOpenRows(plan, ledger)).findings).toEqual([]);
});

test("a run sends no row that was not open when the batch was to be confirmed", async () => {
  const { ledger, planned, payRow } = await setup();
  const { batch } = await planned("A");
  await ledger.batches.release(batch);
  const conflict = { state: "CONFLICT", code: "conflict", otherId: "X", sent: true } as const;
  await record(ledger, await payRow("A-1", batch), conflict);
  const unexpected = () => expect.fail("nothing is confirmed or sent");
  const choices = {
    ...{ allowDuplicates: false, method: undefined, expect: () => {} },
    ...{ confirm: unexpected, notice: () => {} },
  };
  const plan = await resumeBatch(batch, undefined, choices, { ledger, sealer });
  const [seen] = await collect(ledger.list("payout"));
  if (!seen) throw new Error("the row was not recorded");
  const notCreated = { state: "NOT_SENT", code: "declared", isReported: true } as const;
  await ledger.learn({ seen, outcome: notCreated });

  const pacing = { concurrency: 1, perSecond: undefined };
  const reporting = { notice: () => {}, progress: unexpected };
  const ran = await runBatch(plan, pacing, ledger, unexpected, reporting);

  expect(ran).toMatchObject({ sent: { count: 0 } });
  expect(await recordedStatus(batch, ledger)).toMatchObject({ sums: { unsent: { count: 1 } } });
});
