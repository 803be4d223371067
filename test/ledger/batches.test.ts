import { expect, onTestFinished, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { countBatches, newestBatches } from "../../src/batches/list.ts";
import type { Batch, BatchClaim, BatchFile, BatchFilter, Traits } from "../../src/ledger/batch.ts";
import type { Outcome } from "../../src/ledger/operation.ts";
import { planColumns } from "../../src/ledger/plan.ts";
import { createSealer } from "../../src/ledger/seal.ts";
import { collect } from "../support/helpers.ts";
import {
  batchFile,
  claimed,
  payout,
  plannedBy,
  plannedRow,
  planning,
  record,
  sealer,
} from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

const file = batchFile("november.csv");

function ours(claim: BatchClaim): Batch {
  expect(claim).toMatchObject({ kind: "ours" });
  return claim.batch;
}

function* rowsOf(count: number) {
  for (let row = 1; row <= count; row += 1) yield plannedRow(row);
}

describeEach(databases, "P4: a batch that another process took", ({ share }) => {
  /** Two processes: the first one claimed the batch of the file, and was then counted as ended. */
  async function setup() {
    const { open, end, close, run } = await share();
    onTestFinished(close);
    const [{ batches: lost }, { batches: owner }, { batches: third }] = [
      await open({ holder: { pid: 1, lock: "1", machine: "m" } }),
      await open({ holder: { pid: 2, lock: "2", machine: "m" } }),
      await open({ holder: { pid: 3, lock: "3", machine: "m" } }),
    ];
    const rows = async () => (await run("SELECT row FROM batch_rows")).length;
    return { lost, owner, third, end, rows, claimed: ours(await lost.claim(file, whichBatch)) };
  }

  test("is not planned by the process that lost it", async () => {
    const { lost, owner, third, end, rows, claimed } = await setup();
    expect(await owner.claim(file, whichBatch)).toMatchObject({ kind: "held" });
    await end(1);
    const taken = ours(await owner.claim(file, whichBatch));
    await expect(
      lost.plan(
        claimed,
        planning(() => rowsOf(10)),
      ),
    ).rejects.toThrow();
    expect(
      await owner.plan(
        taken,
        planning(() => rowsOf(20)),
      ),
    ).toMatchObject({
      kind: "planned",
    });
    await expect(
      lost.plan(
        claimed,
        planning(() => rowsOf(10)),
      ),
    ).rejects.toThrow();
    expect(await rows()).toBe(20);
    expect(await third.claim(file, whichBatch)).toMatchObject({ kind: "held" });
  });

  test("is not released, changed or cancelled by the process that lost it", async () => {
    const { lost, owner, third, end, claimed } = await setup();
    const planned = await lost.plan(
      claimed,
      planning(() => rowsOf(2)),
    );
    await end(1);
    const taken = ours(await owner.claim(file, whichBatch));
    await lost.release(plannedBy(planned).batch);
    expect(await third.claim(file, whichBatch)).toMatchObject({ kind: "held" });
    await expect(lost.seal(plannedBy(planned), sealer, new Set([2]))).rejects.toThrow();
    await expect(lost.cancel(taken)).rejects.toThrow();
    const { batches } = await owner.known({ identity: file.identity });
    expect(batches).toMatchObject([{ cancelledAt: null }]);
    expect(await owner.readPlan(taken, sealer)).toEqual({ ...plannedBy(planned), batch: taken });
    await owner.release(taken);
    expect(await third.claim(file, whichBatch)).toMatchObject({ kind: "ours" });
  });
});

describeEach(databases, "a planned batch", ({ share }) => {
  async function planned() {
    const { open, end, close, run, findings } = await share();
    onTestFinished(close);
    const { batches } = await open();
    const claimed = ours(await batches.claim(file, whichBatch));
    const plan = plannedBy(
      await batches.plan(
        claimed,
        planning(() => rowsOf(2)),
      ),
    );
    return { open, end, run, findings, batches, plan, batch: plan.batch };
  }

  test("keeps a modification from its check neither by accepted rows nor by its cancellation", async () => {
    const { batches, plan, batch, run, findings } = await planned();
    await run(`UPDATE batch_rows SET recipient = '01999999999' WHERE "row" = 2`);
    const modified = { reason: "batch.plan-modified" };
    await expect(batches.seal(plan, sealer, new Set([2]))).rejects.toMatchObject(modified);
    await expect(batches.readPlan(batch, sealer)).rejects.toMatchObject(modified);
    await batches.cancel(batch);
    expect(await findings()).toMatchObject([{ kind: "batch", columns: ["rows"] }]);
  });

  test("is cancelled once, also by a process that lost it", async () => {
    const { open, end, batches, batch } = await planned();
    await end(1);
    const { batches: owner } = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    const { cancelledAt } = await owner.cancel(ours(await owner.claimPlanned(batch)));
    await expect(batches.cancel(batch)).rejects.toMatchObject({ reason: "operation.locked" });
    const { batches: found } = await owner.known({ identity: file.identity });
    expect(found).toMatchObject([{ cancelledAt }]);
  });
});

describeEach(databases, "a plan that someone edits", ({ share }) => {
  async function planned(count = 5) {
    const { open, close, run } = await share();
    onTestFinished(close);
    const ledger = await open();
    const { batches } = ledger;
    const claimed = ours(await batches.claim(file, whichBatch));
    const plan = plannedBy(
      await batches.plan(
        claimed,
        planning(() => rowsOf(count)),
      ),
    );
    await batches.release(claimed);
    return { run, ledger, batches, plan, batch: plan.batch };
  }
  const modified = { reason: "batch.plan-modified" };
  const lastRow = `batch_rows WHERE "row" = 2001`;
  const copied = planColumns.filter((name) => name !== "row").map((name) => `"${name}"`);

  test.each([
    ["changed", `UPDATE batch_rows SET recipient = '01999999999' WHERE "row" = 2001`],
    ["deleted", `DELETE FROM ${lastRow}`],
    [
      "added",
      `INSERT INTO batch_rows (batch, "row", ${copied}) SELECT batch, 2002, ${copied} FROM ${lastRow}`,
    ],
  ])("gives no row of a page of which one was %s", async (_, sql) => {
    // Some pages of rows, of which the last has one row.
    const { run, batches, plan } = await planned(2_001);
    const read: number[] = [];
    const reading = async () => {
      for await (const { row } of batches.rowsAsRead(plan, "unsent")) {
        if (row === 1) await run(sql);
        read.push(row);
      }
    };
    await expect(reading()).rejects.toMatchObject(modified);
    expect(read).toHaveLength(2_000);
    await expect(batches.readPlan(plan.batch, sealer)).rejects.toMatchObject(modified);
  });

  test.each([
    ...["name", "file_name", "file_hash", "method", "created_at", "profile", "user"],
    ...["columns", "row_count", "total_paisa", "cancelled_at"],
  ])("is not claimed with another %s", async (column) => {
    const { run, batches, batch } = await planned();
    const values: Record<string, string> = {
      ...{ columns: `'["to"]'`, row_count: "row_count + 1", total_paisa: "total_paisa + 1" },
      ...{ created_at: "'2026-11-19T10:00:00.000Z'", cancelled_at: "'2026-11-19T10:00:00.000Z'" },
    };
    const value = values[column] ?? "'other'";
    await run(`UPDATE batches SET "${column}" = ${value}`);
    const rejected = { reason: "ledger.modified", message: expect.stringContaining(column) };
    await expect(batches.claimPlanned(batch)).rejects.toMatchObject(rejected);
    await expect(batches.claim(file, whichBatch)).rejects.toMatchObject(rejected);
  });

  test("is not planned if the file that claimed it was edited meanwhile", async () => {
    const { run, batches } = await planned();
    const other = ours(await batches.claim(batchFile("other.csv"), whichBatch));
    await run("UPDATE batches SET file_name = 'x.csv' WHERE name = 'other.csv'");
    const rejected = { reason: "ledger.modified", message: expect.stringContaining("file_name") };
    const plan = batches.plan(
      other,
      planning(() => rowsOf(1), 1_000n),
    );
    await expect(plan).rejects.toMatchObject(rejected);
    expect(await batches.known({ name: "x.csv" })).toMatchObject({ batches: [] });
  });

  test("is not planned again without its plan", async () => {
    const { run, batches } = await planned();
    await run("UPDATE batches SET row_count = NULL");
    const rejected = { reason: "ledger.modified" };
    await expect(batches.claim(file, whichBatch)).rejects.toMatchObject(rejected);
  });

  test("stays cancelled, and stays open, by its events", async () => {
    const { run, ledger, batches, batch } = await planned();
    const { recipient } = plannedRow(1);
    const intent = payout("OTHER", {
      asked: { recipientNumber: recipient, paymentMethodId: "m1" },
    });
    const kind = async () => (await ledger.preview({ intent, onDuplicate: "reject" })).kind;
    await run("UPDATE batches SET cancelled_at = created_at");
    expect(await kind()).toBe("planned");
    await run("UPDATE batches SET cancelled_at = NULL");
    await batches.cancel(ours(await batches.claimPlanned(batch)));
    expect(await kind()).toBe("new");
    await run("UPDATE batches SET cancelled_at = NULL");
    const rejected = {
      reason: "ledger.modified",
      message: expect.stringContaining("cancelled_at"),
    };
    await expect(batches.claimPlanned(batch)).rejects.toMatchObject(rejected);
  });

  test.each([
    [`UPDATE batch_rows SET accepted = 1 WHERE "row" = 2`],
    [`UPDATE batch_rows SET seal = 'x' WHERE "row" = 2`],
    [`UPDATE batch_rows SET seal = NULL WHERE "row" = 2`],
    ["UPDATE batches SET seal = NULL"],
  ])("has no valid seal until it is sealed again: %s", async (sql) => {
    const { run, batches, batch } = await planned();
    expect(await batches.readPlan(batch, sealer)).toMatchObject({ isSealed: true });
    await run(sql);
    const claimed = ours(await batches.claimPlanned(batch));
    const edited = await batches.readPlan(claimed, sealer);
    expect(edited).toMatchObject({ isSealed: false });
    const ordered = { ...edited, accepted: new Set<number>() };
    const answer = await batches.seal(ordered, sealer, new Set([4]));
    if (answer.kind !== "planned") throw new Error(answer.kind);
    const sealed = answer.plan;
    expect(await batches.readPlan(sealed.batch, sealer)).toEqual(sealed);
    expect(sealed).toMatchObject({ isSealed: true, accepted: new Set([3]) });
  });

  test("is not sealed for another secret, account or batch", async () => {
    const { batches, batch } = await planned();
    const shop = { environment: "sandbox", name: "shop" };
    const others = [
      createSealer("another payout secret", shop),
      createSealer("a payout secret of the tests", { ...shop, name: "other" }),
    ];
    for (const other of others)
      expect(await batches.readPlan(batch, other)).toMatchObject({ isSealed: false });
    const renamed = { ...batch, id: "B0" };
    expect(await batches.readPlan(renamed, sealer)).toMatchObject({ isSealed: false });
  });
});

describeEach(databases, "a batch whose planning was interrupted", ({ share }) => {
  test("has only the rows of its next plan, in the order of its file", async () => {
    const { open, close } = await share();
    onTestFinished(close);
    const { batches } = await open();
    // SQLite commits some thousands at a time.
    const rows = [...rowsOf(5_001)];
    function* interrupted() {
      yield* rows;
      throw new Error("interrupted");
    }
    const first = ours(await batches.claim(file, whichBatch));
    await expect(batches.plan(first, planning(interrupted))).rejects.toThrow("interrupted");
    await batches.release(first);
    const again = ours(await batches.claim(file, whichBatch));
    const reversed = [...rows].reverse().map((one, i) => ({ ...one, row: i + 1, line: i + 2 }));
    const planned = await batches.plan(
      again,
      planning(() => reversed),
    );
    const { batch } = plannedBy(planned);
    expect(batch.plan?.rowCount).toBe(rows.length);
    const found = await collect(batches.rows(batch, "all"));
    const referencesOf = (some: { reference: string }[]) => some.map(({ reference }) => reference);
    expect(referencesOf(found)).toEqual(referencesOf(reversed));
    expect(await batches.readPlan(batch, sealer)).toEqual(plannedBy(planned));
  });
});

describeEach(databases, "which batch a file is", ({ share }) => {
  async function setup() {
    const { open, close } = await share();
    onTestFinished(close);
    const holder = (pid: number) => ({ holder: { pid, lock: String(pid), machine: "m" } });
    const [ledger, other] = [await open(holder(1)), await open(holder(2))];
    /** A batch of some rows, whose references begin with the name of its file. */
    const plan = async (file: BatchFile, count = 2): Promise<Batch> => {
      const batch = ours(await ledger.batches.claim(file, whichBatch));
      const rows = [...rowsOf(count)].map((row) => ({
        ...row,
        reference: `${file.name}-${row.row}`,
      }));
      const planned = await ledger.batches.plan(
        batch,
        planning(() => rows, 1_000n),
      );
      await ledger.batches.release(batch);
      expect(planned).toMatchObject({ kind: "planned" });
      return plannedBy(planned).batch;
    };
    /** Sends the rows of a batch, which end with these outcomes. */
    const send = async (batch: Batch, ...outcomes: Outcome[]) => {
      const rows = await collect(ledger.batches.rows(batch, "all"));
      for (const [index, outcome] of outcomes.entries()) {
        const { reference = "", recipient = "", methodId = "" } = rows[index] ?? {};
        const asked = { recipientNumber: recipient, paymentMethodId: methodId };
        const sent = { ...payout(reference, { asked }), batch: batch.number };
        const remoteId = outcome.state === "CONFIRMED" ? `PO-${index}` : undefined;
        await record(ledger, await claimed(ledger, sent), { ...outcome, remoteId, sent: true });
      }
    };
    const known = async (traits: Traits) => {
      const { batches, named, unfinished } = await ledger.batches.known(traits);
      return { ids: batches.map(({ id }) => id), named: named?.id, unfinished: unfinished?.id };
    };
    return { ledger: ledger.batches, other: other.batches, plan, send, known };
  }

  const asPaid: Outcome = { state: "CONFIRMED", status: "Completed" };
  const asUnknown: Outcome = { state: "UNCERTAIN" };
  const [other, again] = [batchFile("other.csv"), { ...batchFile("again"), fileName: file.name }];
  const third = batchFile("third.csv");

  test("is looked up by each trait, with the newest first", async () => {
    const { ledger, plan, known } = await setup();
    const nothing = { ids: [], named: undefined, unfinished: undefined };
    expect(await known({ ...file, id: "B", size: { count: 2, sumPaisa: 1_000n } })).toEqual(
      nothing,
    );
    const one = await plan({ ...file, hash: "b2" });
    const two = await plan(other, 3);
    const unplanned = ours(await ledger.claim({ ...again, hash: "b2" }, whichBatch));
    for (const [traits, ids] of [
      [{}, []],
      [{ id: one.id }, [one.id]],
      [{ id: unplanned.id }, []],
      [{ hash: "b2" }, [one.id]],
      [{ hash: "a1" }, [two.id]],
      [{ identity: two.identity }, [two.id]],
      [{ identity: again.identity }, [unplanned.id]],
      [{ size: { count: 2, sumPaisa: 1_000n } }, [one.id]],
      [{ size: { count: 3, sumPaisa: 1_000n } }, []],
      [{ hash: "b2", identity: two.identity }, [two.id, one.id]],
    ] as const)
      expect(await known(traits), Object.keys(traits).join()).toEqual({ ...nothing, ids });
  });

  test("is listed and counted by a filter, with the newest first", async () => {
    const { ledger, plan, send } = await setup();
    const cancelled = await plan(file);
    const [ended, unknown, unsent] = [await plan(other), await plan(again), await plan(third)];
    const denied = await plan(batchFile("fourth.csv"));
    ours(await ledger.claim({ ...file, identity: "2".repeat(64), name: "unplanned" }, whichBatch));
    await send(ended, asPaid, { state: "REFUSED" });
    await send(unknown, asPaid, asUnknown);
    await send(unsent, asPaid);
    await send(denied, asPaid, { state: "REFUSED", code: "access" });
    const claim = await ledger.claimPlanned(cancelled);
    await ledger.cancel(claim.batch);
    const all = [denied, unsent, unknown, ended, cancelled];
    const { createdAt } = unsent;
    const filters: [BatchFilter, Batch[]][] = [
      [{}, all],
      [{ since: createdAt }, all.filter((one) => one.createdAt >= createdAt)],
      [{ until: createdAt }, all.filter((one) => one.createdAt <= createdAt)],
      [{ since: "2099" }, []],
      [{ until: "2000" }, []],
      [{ isCancelled: true }, [cancelled]],
      [{ isCancelled: false }, [denied, unsent, unknown, ended]],
      [{ isCancelled: false, mayBeOpen: true }, [denied, unsent, unknown]],
      [{ below: unknown.number }, [ended, cancelled]],
    ];
    for (const [filter, found] of filters) {
      const title = Object.keys(filter).join();
      const ids = found.map(({ id }) => id);
      const listed = async (most: number) => (await ledger.list(most, filter)).map(({ id }) => id);
      expect(await listed(9), title).toEqual(ids);
      expect(await listed(1), title).toEqual(ids.slice(0, 1));
      expect(await ledger.count(filter, 9), title).toBe(ids.length);
      expect(await ledger.count(filter, 1), title).toBe(Math.min(1, ids.length));
    }
  });

  test("is listed and counted by the status of its rows", async () => {
    const { ledger, plan, send } = await setup();
    const cancelled = await plan(file);
    const [ended, unknown, unsent] = [await plan(other), await plan(again), await plan(third)];
    await send(ended, asPaid, { state: "REFUSED" });
    await send(unknown, asPaid, asUnknown);
    await send(unsent, asPaid);
    const claim = await ledger.claimPlanned(cancelled);
    await ledger.cancel(claim.batch);
    for (const [status, found] of [
      [undefined, [unsent, unknown, ended, cancelled]],
      ["open", [unsent, unknown]],
      ["ended", [ended]],
      ["cancelled", [cancelled]],
    ] as const) {
      const wanted = { since: "", until: "9", status };
      const listed = await collect(newestBatches(wanted, 9, { batches: ledger }));
      expect(listed.map(({ batch }) => batch.id)).toEqual(found.map(({ id }) => id));
      expect(await countBatches(wanted, 9, { batches: ledger }), status).toBe(found.length);
    }
  });

  test("is looked up by its own name before that of its file, and only the newest", async () => {
    const { plan, known } = await setup();
    const older = await plan(file);
    const newer = await plan(again);
    expect(await known({ name: file.name })).toMatchObject({ ids: [older.id], named: older.id });
    expect(await known({ name: "again" })).toMatchObject({ ids: [newer.id], named: newer.id });
    const named = await plan({ ...other, name: "x" });
    expect(await known({ name: other.name })).toMatchObject({ named: named.id });
    const newest = await plan({ ...other, name: "y", identity: "1".repeat(64) });
    expect(await known({ name: other.name })).toMatchObject({ ids: [newest.id], named: newest.id });
    expect(await known({ name: "z" })).toMatchObject({ ids: [], named: undefined });
  });

  test.each<[string, Outcome[], boolean]>([
    ["no row was sent", [], true],
    ["a row was not sent", [asPaid], true],
    ["all were accepted", [asPaid, { ...asPaid, status: "Processing" }], false],
    ["a row was rejected", [asPaid, { state: "REFUSED", code: "refused" }], true],
    ["an outcome is unknown", [{ state: "UNCERTAIN", code: "uncertain" }, asPaid], true],
    ["a payout was cancelled", [{ ...asPaid, status: "Cancelled" }, asPaid], true],
  ])("is unfinished or not if %s", async (_, outcomes, isUnfinished) => {
    const { ledger, plan, send, known } = await setup();
    const batch = await plan(file);
    await send(batch, ...outcomes);
    const [{ name }, identity] = [file, "0".repeat(64)];
    const unfinished = isUnfinished ? batch.id : undefined;
    expect(await known({ name, identity })).toEqual({
      ids: [batch.id],
      named: batch.id,
      unfinished,
    });
    expect(await known({ name })).toMatchObject({ named: batch.id, unfinished: undefined });
    await ledger.cancel(ours(await ledger.claimPlanned(batch)));
    expect(await known({ name, identity })).toMatchObject({
      named: batch.id,
      unfinished: undefined,
    });
  });

  test("is decided again when it is claimed, and when it is planned", async () => {
    const { ledger, other, plan, send } = await setup();
    const changed = { ...file, identity: "2".repeat(64) };
    const early = ours(await other.claim(changed, whichBatch));
    const planned = await plan(file);
    const answer = { kind: "changed-file", batch: { id: planned.id } };
    expect(
      await other.plan(
        early,
        planning(() => rowsOf(2), 1_000n),
      ),
    ).toMatchObject(answer);
    expect((await ledger.known({ identity: changed.identity })).batches).toMatchObject([
      { plan: null },
    ]);
    expect(await other.claim({ ...file, identity: "3" }, whichBatch)).toMatchObject(answer);
    const same = await other.claim(
      { ...file, name: "third.csv", fileName: "third.csv" },
      whichBatch,
    );
    expect(same).toMatchObject({ kind: "ours", batch: { id: planned.id } });
    await send(planned, asPaid, asPaid);
    const late = await other.plan(
      early,
      planning(() => rowsOf(2), 1_000n),
    );
    expect(late).toMatchObject({ kind: "planned" });
  });
});
