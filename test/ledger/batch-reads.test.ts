import { expect, onTestFinished, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import type { Batch, BatchFile, PlannedRow, RowSet } from "../../src/ledger/batch.ts";
import { duplicatesSince } from "../../src/ledger/decide.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Intent, Outcome } from "../../src/ledger/operation.ts";
import { collect } from "../support/helpers.ts";
import {
  batchFile,
  claimed,
  owner,
  payout,
  plannedBy,
  plannedRow,
  planning,
  record,
  sealer,
} from "./small-ledger.ts";
import { databases, describeEach, type SharedDatabase } from "./stores.ts";

const startMs = Date.parse("2026-11-20T10:00:00.000Z");
const since = duplicatesSince(startMs);
const [recipient, other] = ["01712345678", "01812345678"];

async function planned({ batches }: Ledger, file: BatchFile, rows: PlannedRow[]): Promise<Batch> {
  const { batch } = await batches.claim(file, whichBatch);
  const answer = await batches.plan(
    batch,
    planning(() => rows, 1_000n),
  );
  const planned = plannedBy(answer);
  await batches.release(planned.batch);
  return planned.batch;
}

async function cancel({ batches }: Ledger, batch: Batch): Promise<void> {
  expect(await batches.claimPlanned(batch)).toMatchObject({ kind: "ours" });
  await batches.cancel(batch);
}

/** Pays something with a reference. */
async function pay(
  ledger: Ledger,
  reference: string,
  outcome: Outcome,
  given: Partial<Intent> = {},
): Promise<void> {
  const asked = { recipientNumber: recipient, paymentMethodId: "m1" };
  const operation = await claimed(ledger, payout(reference, { asked, ...given }));
  await record(ledger, operation, outcome);
}

function asAccount(shared: SharedDatabase, keyId: string, now = () => startMs): Promise<Ledger> {
  const account = { ...owner, environment: "production", keyId, account: {} };
  return shared.open({ owner: account, now });
}

describeEach(databases, "what the rows of a plan may repeat", ({ share }) => {
  async function setup() {
    const shared = await share();
    onTestFinished(shared.close);
    return { own: await asAccount(shared, "own"), elsewhere: await asAccount(shared, "elsewhere") };
  }
  const rows = [
    plannedRow(1, { reference: "A", recipient }),
    plannedRow(2, { reference: "B", recipient }),
    plannedRow(3, { reference: "C", recipient: other }),
  ];

  test("are payouts that were accepted since a time or whose outcome is unknown, newest first", async () => {
    const { own } = await setup();
    await pay(own, "OLD", { state: "UNCERTAIN" });
    await pay(own, "PAID", { state: "CONFIRMED", remoteId: "PO1" });
    await pay(own, "REJECTED", { state: "REFUSED", code: "refused" });
    const at = "2026-11-20T10:00:00.000Z";
    expect(await own.overlaps(rows.slice(1), { since })).toEqual(
      new Map([
        [
          "0",
          [
            { kind: "outcome-unknown", at, reference: "OLD", isOwnAccount: true },
            { kind: "paid-recently", at, reference: "PAID", isOwnAccount: true },
          ],
        ],
      ]),
    );
    const later = await own.overlaps(rows, { since: "2026-11-20T10:00:00.001Z" });
    expect(later.get("0")).toMatchObject([{ reference: "OLD" }]);
    expect([...(await own.paidRecipients([recipient, other]))]).toEqual([recipient]);
  });

  test("are rows that open batches plan, but for those of the batch itself", async () => {
    const { own, elsewhere } = await setup();
    const batch = await planned(own, batchFile("a.csv"), rows);
    const theirs = await planned(elsewhere, batchFile("b.csv"), [
      plannedRow(1, { reference: "X", recipient }),
    ]);
    const references = async (except?: bigint) =>
      [...(await own.overlaps(rows, { since, except }))].map(([place, found]) => [
        place,
        ...found.map(({ reference }) => reference),
      ]);
    expect(await references(batch.number)).toEqual([
      ["0", "X"],
      ["1", "X"],
    ]);
    expect(await references()).toEqual([
      ["0", "X", "B"],
      ["1", "X", "A"],
    ]);
    const amount = { amountPaisa: 500n, methodId: "m1" };
    const { plans } = await own.references(["A", "X"], { withPlans: true });
    expect([...plans]).toEqual([
      ["A", [{ ...amount, batch: batch.id, reference: "A", recipient }]],
    ]);
    await cancel(elsewhere, theirs);
    expect(await references(batch.number)).toEqual([]);
  });

  test("are payouts of another account, also with a reference of the plan", async () => {
    const { own, elsewhere } = await setup();
    await pay(elsewhere, "A", { state: "CONFIRMED", remoteId: "PO1" });
    const batch = await planned(own, batchFile("a.csv"), rows);
    const found = await own.overlaps(rows, { since, except: batch.number });
    expect(found).toEqual(
      new Map([
        [
          "1",
          [{ kind: "paid-recently", at: expect.any(String), reference: "A", isOwnAccount: false }],
        ],
      ]),
    );
    const { payouts, plans } = await own.references(["A", "B"], { withPlans: false });
    expect(plans.size).toBe(0);
    expect([...payouts]).toMatchObject([
      ["A", [{ reference: "A", recipient, amountPaisa: 500n, isOwnAccount: false }]],
    ]);
    const before = await own.newestEvent();
    const given = { batch: batch.number };
    await pay(own, "A", { state: "CONFIRMED", remoteId: "PO2" }, given);
    expect(await own.newestEvent()).toBeGreaterThan(before);
    const after = await own.overlaps(rows, { since, except: batch.number });
    expect(after.get("1")?.map(({ isOwnAccount }) => isOwnAccount)).toEqual([false]);
  });

  test("a reference that another account plans for the same payout decides before its other rows", async () => {
    const { own, elsewhere } = await setup();
    await planned(elsewhere, batchFile("a.csv"), rows.toReversed().map(inPlace));
    await planned(elsewhere, batchFile("b.csv"), [plannedRow(1, { reference: "X", recipient })]);
    const asked = { recipientNumber: recipient, paymentMethodId: "m1" };
    for (const reference of ["A", "B"]) {
      const intent = payout(reference, { asked });
      const request = { intent, onDuplicate: "send", sealer } as const;
      const answer = { kind: "planned", row: { reference } };
      expect(await own.preview(request)).toMatchObject(answer);
      expect(await own.claim(request)).toMatchObject(answer);
    }
    const intent = payout("C", { asked });
    expect(await own.preview({ intent, onDuplicate: "reject", sealer })).toMatchObject({
      kind: "planned",
    });
    expect(await own.claim({ intent, onDuplicate: "send", sealer })).toMatchObject({ kind: "new" });
  });
});

function inPlace(row: PlannedRow, place: number): PlannedRow {
  return { ...row, row: place + 1, line: place + 2 };
}

describeEach(databases, "a batch", ({ share }) => {
  /** A batch of six rows with one result of each kind. */
  async function setup() {
    const clock = { ms: startMs };
    const shared = await share();
    onTestFinished(shared.close);
    const ledger = await asAccount(shared, "own", () => clock.ms);
    const rows = ["PAID", "OPEN", "LOST", "DENIED", "REJECTED", "UNSENT", "R-lenden2"].map(
      (reference, place) => plannedRow(place + 1, { reference, name: `n${place}` }),
    );
    const batch = await planned(ledger, batchFile("a.csv"), rows);
    const send = async (reference: string, outcome: Outcome) => {
      clock.ms += 1_000;
      const row = rows.find((one) => one.reference === reference);
      const asked = { recipientNumber: row?.recipient, paymentMethodId: "m1" };
      await pay(ledger, reference, { sent: true, ...outcome }, { asked, batch: batch.number });
    };
    await send("PAID", { state: "CONFIRMED", remoteId: "PO1", status: "Completed" });
    await send("OPEN", {
      ...{ state: "CONFIRMED", remoteId: "PO2", status: "Processing", code: "existing" },
    });
    await send("LOST", { state: "UNCERTAIN", code: "uncertain", message: "lost" });
    await send("DENIED", { state: "REFUSED", code: "access" });
    await send("REJECTED", { state: "REFUSED", code: "refused" });
    return { clock, shared, ledger, batches: ledger.batches, batch, rows };
  }

  test.each<[RowSet, string[]]>([
    ["all", ["PAID", "OPEN", "LOST", "DENIED", "REJECTED", "UNSENT", "R-lenden2"]],
    ["unknown", ["LOST"]],
    ["unsent", ["DENIED", "UNSENT", "R-lenden2"]],
    ["open", ["LOST", "DENIED", "UNSENT", "R-lenden2"]],
    ["used", ["REJECTED"]],
    ["unfinished", ["OPEN"]],
    ["differing", []],
  ])("has rows that are %s, in the order of the file", async (set, references) => {
    const { batches, batch } = await setup();
    const found = await collect(batches.rows(batch, set));
    expect(found.map(({ reference }) => reference)).toEqual(references);
  });

  test("adds up its rows by their results", async () => {
    const { batches, batch, rows } = await setup();
    const tallies = (await batches.tally(batch)).map(
      ({ state, status, count, sumPaisa, sentBefore }) =>
        `${state} ${status} ${count} ${sumPaisa} ${sentBefore.count} ${sentBefore.sumPaisa}`,
    );
    expect(tallies.sort()).toEqual([
      ...["CONFIRMED Completed 1 500 0 0", "CONFIRMED Processing 1 500 1 500"],
      ...["NOT_SENT null 1 500 0 0", "REFUSED null 1 500 0 0", "UNCERTAIN null 1 500 0 0"],
      "null null 2 1000 0 0",
    ]);
    expect(await batches.tallies([batch, batch])).toHaveLength(2);
    expect(await batches.sentBetween(batch)).toEqual({
      first: "2026-11-20T10:00:01.000Z",
      last: "2026-11-20T10:00:05.000Z",
    });
    expect(await batches.newReferences(batch)).toEqual(["R-lenden2"]);
    expect(await collect(batches.recipients(batch))).toEqual(
      rows.map(({ recipient, name, amountPaisa }) => ({ recipient, name, amountPaisa })),
    );
    const [lost] = await collect(batches.rows(batch, "unknown"));
    expect(lost).toMatchObject({
      ...{ row: 3, line: 4, state: "UNCERTAIN", code: "uncertain", message: "lost" },
      ...{ payoutId: null, status: null, sentAt: "2026-11-20T10:00:03.000Z" },
    });
  });

  test("shows a payout that another batch sent after it was cancelled as not its own", async () => {
    const { clock, ledger, batches, batch, rows } = await setup();
    await cancel(ledger, batch);
    clock.ms += 1_000;
    const unsent = rows.filter(({ reference }) => reference === "UNSENT").map(inPlace);
    const next = await planned(ledger, batchFile("b.csv"), unsent);
    const asked = { recipientNumber: unsent[0]?.recipient, paymentMethodId: "m1" };
    const accepted = { state: "CONFIRMED", remoteId: "PO9", sent: true } as const;
    await pay(ledger, "UNSENT", accepted, { asked, batch: next.number });
    const stateOf = async (one: Batch) =>
      (await collect(batches.rows(one, "all"))).find(({ reference }) => reference === "UNSENT")
        ?.state;
    expect([await stateOf(batch), await stateOf(next)]).toEqual([null, "CONFIRMED"]);
  });

  test("is listed once it is planned, and found by the rows that a file may have all of", async () => {
    const { shared, ledger, batches, batch, rows } = await setup();
    const small = await planned(ledger, batchFile("b.csv"), [
      plannedRow(1, { reference: "S", description: "tea" }),
    ]);
    await batches.claim(batchFile("c.csv"), whichBatch);
    const ids = async (limit: number) => (await batches.list(limit)).map(({ id }) => id);
    expect([await ids(5), await ids(1)]).toEqual([[small.id, batch.id], [small.id]]);
    const elsewhere = await asAccount(shared, "elsewhere");
    const within = (count: number, sumPaisa: bigint) =>
      collect(elsewhere.batches.plansWithin({ count, sumPaisa }));
    const found = await within(7, 3_500n);
    expect(found.map((one) => one.batch.id)).toEqual([small.id, batch.id]);
    const [first, second] = found;
    const otherAccount = await ledger.account();
    expect(first?.otherAccount).toBe(otherAccount);
    expect(new Set(first?.samples.map((one) => one.description))).toEqual(new Set(["tea"]));
    const sampled = second?.samples.map((one) => one.recipient);
    expect([sampled?.[0], sampled?.at(-1)]).toEqual([rows[0]?.recipient, rows[6]?.recipient]);
    expect(await within(6, 3_500n)).toHaveLength(1);
    expect(await within(7, 3_499n)).toHaveLength(1);
    await cancel(ledger, small);
    expect(await within(6, 3_500n)).toHaveLength(1);
    expect(await elsewhere.batches.list(5)).toEqual([]);
  });

  test("is claimed by its plan, by one process at a time, until it is cancelled", async () => {
    const { shared, batches, batch } = await setup();
    const { batches: second } = await shared.open({
      owner: { ...owner, environment: "production", keyId: "own", account: {} },
      holder: { pid: 2, lock: "2", machine: "m" },
    });
    expect(await batches.holderOf(batch)).toBeUndefined();
    expect(await second.claimPlanned(batch)).toMatchObject({ kind: "ours", batch: { plan: {} } });
    expect(await batches.holderOf(batch)).toMatchObject({ pid: 2 });
    expect(await batches.claimPlanned(batch)).toMatchObject({ kind: "held", by: { pid: 2 } });
    await shared.end(2);
    expect(await batches.holderOf(batch)).toBeUndefined();
    expect(await batches.claimPlanned(batch)).toMatchObject({ kind: "ours" });
    await batches.cancel(batch);
    expect(await batches.claimPlanned(batch)).toMatchObject({ kind: "cancelled" });
  });
});
