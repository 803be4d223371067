import { expect, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { acceptRows, checkOpenRows } from "../../src/batches/plan.ts";
import { generatedPrefix } from "../../src/domain/reference.ts";
import type { Batch } from "../../src/ledger/batch.ts";
import { type HistoryEvent, readEvent, recordedByOthers } from "../../src/ledger/events.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Outcome } from "../../src/ledger/operation.ts";
import { PlanSums } from "../../src/ledger/plan.ts";
import { createSealer } from "../../src/ledger/seal.ts";
import { textRow } from "../../src/ledger/values.ts";
import {
  batchFile,
  claimed,
  payout,
  plannedRow,
  planning,
  record,
  refund,
  sealer,
} from "./small-ledger.ts";
import { databases, describeEach, type SharedDatabase } from "./stores.ts";
import { withBob } from "./with-bob.ts";

const unknown: Outcome = { state: "UNCERTAIN", code: "uncertain", sent: true };
const denied: Outcome = { state: "NOT_SENT", code: "access", sent: false };
const accepted: Outcome = { state: "CONFIRMED", remoteId: "X1", status: "Processing", sent: true };
const cancelled: Outcome = { state: "CONFIRMED", status: "Cancelled" };
const notCreated: Outcome = { state: "NOT_SENT", code: "declared", isReported: true };
const other = createSealer("another payout secret of tests", {
  environment: "sandbox",
  name: "shop",
});
const above = { kind: "above-limit", excess: { limit: "day" } };

/** Limits of one sandbox account. A payout of `payout` is 500 paisa. */
async function limited(shared: SharedDatabase) {
  const { ledger, ...more } = await withBob(shared);
  const set = async (name: string, value: string) =>
    shared.run(`INSERT INTO limits (environment, account, name, value, set_at, login)
      VALUES ('sandbox', '${await ledger.account()}', '${name}', '${value}', '2026-11-20T10:00:00.000Z', 'o')`);
  return { ledger, set, ...more };
}

function claim(ledger: Ledger, reference: string, by = sealer) {
  const intent = payout(reference);
  return ledger.claim({ intent, onDuplicate: "reject-if-unknown", sealer: by });
}

/** What bob records without the payout secret. */
async function planted(ledger: Ledger, reference: string, batch: Batch | null = null) {
  const intent = payout(reference, batch ? { batch: batch.number } : {});
  const request = { intent, onDuplicate: "send", sealer: other } as const;
  const answer = await ledger.claim(batch ? { ...request, batchId: batch.id } : request);
  if (answer.kind !== "new") throw new Error(answer.kind);
  await record(ledger, answer.operation, unknown);
}

async function learn(ledger: Ledger, reference: string, outcome: Outcome): Promise<void> {
  const seen = await ledger.find(reference);
  if (!seen) throw new Error("the ledger lost an operation");
  expect(await ledger.learn({ seen, outcome })).toEqual({ kind: "recorded" });
}

/** A file of payouts of 500 paisa each. */
async function plan(ledger: Ledger, name: string, count: number, by = sealer) {
  const { batch } = await ledger.batches.claim(batchFile(name), whichBatch);
  const rows = () =>
    Array.from({ length: count }, (_, at) =>
      plannedRow(at + 1, { reference: `${name}-${at}`, amountPaisa: 500n }),
    );
  const upTo = await ledger.newestEvent();
  const answer = await ledger.batches.plan(batch, { ...planning(rows, upTo), sealer: by });
  await ledger.batches.release(batch);
  return { batch, answer };
}

function askedFor(row: number, reference: string) {
  const { recipient: recipientNumber } = plannedRow(row);
  return { amount: 5, merchantRef: reference, paymentMethodId: "m1", recipientNumber };
}

/** @throws Error that names the answer, if it is not sent */
async function rowClaimed(ledger: Ledger, batch: Batch, reference: string, by = sealer) {
  const row = Number(reference.split("-").at(-1)) + 1;
  const intent = payout(reference, { batch: batch.number, asked: askedFor(row, reference) });
  const order = { intent, batchId: batch.id, plannedAt: batch.createdAt };
  const request = { ...order, onDuplicate: "reject", sealer: by } as const;
  const answer = await ledger.claim(request);
  if (answer.kind === "new" || answer.kind === "resumed") return answer.operation;
  throw new Error(answer.kind);
}

describeEach(databases, "I13: limits beside another login", ({ share }) => {
  test("a payout of unknown outcome that was added in the own login without a seal is judged", async () => {
    const { ledger, set } = await limited(await share());
    await planted(ledger, "BIG");
    await set("day", "400");
    expect(await claim(ledger, "BIG")).toMatchObject(above);
    const seen = await ledger.find("BIG");
    if (!seen) throw new Error("the ledger lost an operation");
    expect(await ledger.resume({ seen, sealer })).toMatchObject({ kind: "denied", denial: above });
    await set("day", "500");
    // It counts, and not twice.
    expect(await claim(ledger, "BIG")).toMatchObject({ kind: "resumed" });
  });

  test("a payout that was not sent, and that it reopened, is judged", async () => {
    const { ledger, set, asBob } = await limited(await share());
    await record(ledger, await claimed(ledger, payout("A")), denied);
    await asBob(async () => record(ledger, await claimed(ledger, payout("A")), unknown));
    await set("day", "400");
    expect(await claim(ledger, "A")).toMatchObject(above);
    const seen = await ledger.find("A");
    if (!seen) throw new Error("the ledger lost an operation");
    expect(await ledger.resume({ seen, sealer })).toMatchObject({ kind: "denied", denial: above });
  });

  test("a payout that was reported as not created is judged, whatever ID and order it adds", async () => {
    const { ledger, set, asBob } = await limited(await share());
    await record(ledger, await claimed(ledger, payout("A")), unknown);
    const withId = { ...unknown, remoteId: "X9" };
    await asBob(async () => record(ledger, await claimed(ledger, payout("A")), withId));
    await learn(ledger, "A", notCreated);
    await asBob(async () => record(ledger, await claimed(ledger, payout("A")), unknown));
    await set("payout", "400");
    const seen = await ledger.find("A");
    if (!seen) throw new Error("the ledger lost an operation");
    expect(await ledger.resume({ seen, sealer })).toMatchObject({
      ...{ kind: "denied", denial: { kind: "above-limit", excess: { limit: "payout" } } },
    });
  });

  test("a retry proves nothing of what it makes look not sent", async () => {
    const { ledger, set, asBob, pass } = await limited(await share());
    await record(ledger, await claimed(ledger, payout("A")), unknown);
    await asBob(async () => record(ledger, await claimed(ledger, payout("A")), denied));
    await record(ledger, await claimed(ledger, payout("A")), denied);
    await set("day", "900");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 500n } });
    pass(25);
    expect(await claim(ledger, "B")).toMatchObject({ kind: "new" });
  });

  test("an own status check that shows a payout counts, whatever ID it was given", async () => {
    const { ledger, set, asBob } = await limited(await share());
    const rejected: Outcome = { state: "REFUSED", code: "rejected", sent: true };
    await record(ledger, await claimed(ledger, payout("A")), rejected);
    const { sent: _, ...recorded } = accepted;
    await asBob(() => learn(ledger, "A", recorded));
    await learn(ledger, "A", { state: "CONFIRMED", status: "Completed" });
    await asBob(() => learn(ledger, "A", cancelled));
    await set("day", "900");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 500n } });
  });

  test("a row that was not free when its file was planned is judged, whoever sealed the plan again", async () => {
    const { ledger, set, asBob } = await limited(await share());
    const asked = askedFor(1, "july-0");
    await record(ledger, await claimed(ledger, payout("july-0", { asked })), unknown);
    const { batch } = await asBob(() => plan(ledger, "july", 1));
    await learn(ledger, "july-0", notCreated);
    const own = await ledger.batches.claimPlanned(batch);
    const read = await ledger.batches.readPlan(own.batch, sealer);
    expect(await ledger.batches.seal(read, sealer, new Set())).toMatchObject({ kind: "planned" });
    await ledger.batches.release(batch);
    await set("day", "400");
    await expect(rowClaimed(ledger, batch, "july-0")).rejects.toThrow("above-limit");
    await set("day", "500");
    expect(await rowClaimed(ledger, batch, "july-0")).toMatchObject({ reference: "july-0" });
  });

  test("rows of a file are judged, also if it recorded payouts of their references", async () => {
    const { ledger, set, asBob } = await limited(await share());
    const batch = await asBob(async () => (await plan(ledger, "bobs", 2, other)).batch);
    await asBob(() => planted(ledger, "july-0", batch));
    await asBob(() => planted(ledger, "july-1"));
    // What it recorded counts, and not twice; and so does the row that its own batch reserves.
    await set("day", "1499");
    expect((await plan(ledger, "july", 2)).answer).toMatchObject({
      ...{ kind: "denied", denial: { ...above, excess: { askedPaisa: 1000n, usedPaisa: 500n } } },
    });
    await set("day", "1500");
    expect((await plan(ledger, "july", 2)).answer).toMatchObject({ kind: "planned" });
  });

  test("a plan that it made is judged when it is continued, and before it is sealed", async () => {
    const { ledger, set, asBob } = await limited(await share());
    const { batch } = await asBob(() => plan(ledger, "bobs", 2, other));
    await set("day", "999");
    expect(await ledger.batches.claimPlanned(batch)).toMatchObject({
      ...{ kind: "denied", denial: { ...above, excess: { askedPaisa: 1000n, usedPaisa: 0n } } },
    });
    // What it reserves does not count twice.
    await set("day", "1000");
    const claim = await ledger.batches.claimPlanned(batch);
    if (claim.kind !== "ours") throw new Error(claim.kind);
    const read = await ledger.batches.readPlan(claim.batch, sealer);
    expect(read).toMatchObject({ isSealed: false });
    const seal = () => ledger.batches.seal(read, sealer, new Set());
    await set("day", "999");
    expect(await seal()).toMatchObject({ kind: "denied", denial: above });
    await set("day", "1000");
    expect(await seal()).toMatchObject({ kind: "planned", plan: { isSealed: true } });
  });

  test.each([
    ["the payout secret", sealer],
    ["another payout secret", other],
  ])("a payout that it copied with a seal of %s is judged", async (_, by) => {
    const { ledger, asAgent, set, asBob } = await limited(await share());
    await asBob(async () => {
      const answer = await claim(ledger, "A", by);
      if (answer.kind === "new") await record(ledger, answer.operation, unknown);
    });
    await set("payout", "400");
    await set("agent-payout", "400");
    const seen = await ledger.find("A");
    if (!seen) throw new Error("the ledger lost an operation");
    const isRight = by === sealer;
    for (const one of [ledger, asAgent]) {
      expect((await claim(one, "A")).kind).toBe(isRight ? "above-limit" : "not-sealed");
      expect((await one.resume({ seen, sealer })).kind).toBe("denied");
    }
    await set("payout", "500");
    const asked = { ...payout("A").asked, merchantRef: "B" };
    await record(ledger, await claimed(ledger, payout("B", { asked })), accepted);
    await set("repeat", "reject");
    expect((await claim(ledger, "A")).kind).toBe(isRight ? "repeat" : "not-sealed");
  });

  test.each([
    ["cancelled", accepted, cancelled],
    ["not created", unknown, notCreated],
  ])("what it declares %s is not free", async (_, first, then) => {
    const { ledger, set, asBob, pass } = await limited(await share());
    await record(ledger, await claimed(ledger, payout("A")), first);
    await asBob(() => learn(ledger, "A", then));
    await set("day", "900");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 500n } });
    pass(25);
    expect(await claim(ledger, "B")).toMatchObject({ kind: "new" });
  });

  test("a row that it makes look not sent counts as sent, if the batch does not reserve it", async () => {
    const shared = await share();
    const { ledger, set, asBob } = await limited(shared);
    const { batch } = await plan(ledger, "july", 2);
    await record(ledger, await rowClaimed(ledger, batch, "july-0"), unknown);
    await asBob(async () => record(ledger, await rowClaimed(ledger, batch, "july-0"), denied));
    await shared.run("UPDATE batches SET reserved_paisa = 500");
    await set("day", "1000");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 1000n } });
  });

  test("no payout is repeated within a day, whatever it records of the first one", async () => {
    const { ledger, set, asBob, pass } = await limited(await share());
    await set("repeat", "reject");
    await record(ledger, await claimed(ledger, payout("A")), accepted);
    await asBob(() => learn(ledger, "A", cancelled));
    const { asked } = payout("A");
    const intent = payout("B", { asked: { ...asked, merchantRef: "B" } });
    const again = () => ledger.claim({ intent, onDuplicate: "reject-if-unknown", sealer });
    expect(await again()).toMatchObject({ kind: "repeat", earlier: { reference: "A" } });
    pass(25);
    expect(await again()).toMatchObject({ kind: "new" });
  });

  test.each([
    ["of a test of the API", "command", "test", "verify-api"],
    ["of another environment", "environment", "sandbox", "production"],
  ])(
    "an operation that it added, %s, is not sent as one that counts",
    async (_, name, right, wrong) => {
      const shared = await share();
      const { ledger, asBob } = await limited(shared);
      await asBob(async () => record(ledger, await claimed(ledger, payout("A")), denied));
      await shared.run(`UPDATE operations SET ${name} = '${wrong}'`);
      await shared.run(`UPDATE events
      SET data = replace(data, '"${name}":"${right}"', '"${name}":"${wrong}"')`);
      expect(await claim(ledger, "A")).toMatchObject({ kind: "different" });
    },
  );

  test("no payout of its reference is repeated with the next key, whatever it records of the first one", async () => {
    const { ledger, withNextKey, set, asBob, pass } = await limited(await share());
    await set("repeat", "reject");
    await record(ledger, await claimed(ledger, payout("A")), unknown);
    await asBob(async () => record(ledger, await claimed(ledger, payout("A")), denied));
    const again = () => withNextKey.claim({ intent: payout("A"), onDuplicate: "send", sealer });
    expect(await again()).toMatchObject({ kind: "repeat", earlier: { reference: "A" } });
    pass(25);
    expect(await again()).toMatchObject({ kind: "resumed" });
  });

  test("what it says of its own operation, once another login has sent it, frees nothing", async () => {
    const shared = await share();
    const { ledger, set, as, asBob } = await limited(shared);
    await asBob(async () => record(ledger, await claimed(ledger, payout("A")), denied));
    await shared.run("UPDATE operations SET login = 'bob'");
    await as("ann", async () => record(ledger, await claimed(ledger, payout("A")), accepted));
    await asBob(() => learn(ledger, "A", cancelled));
    await set("day", "900");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 500n } });
  });

  test("a row that it opened again is judged when it is resolved", async () => {
    const { ledger, set, asBob } = await limited(await share());
    const { batch } = await plan(ledger, "july", 1);
    await asBob(async () => record(ledger, await rowClaimed(ledger, batch, "july-0"), denied));
    await asBob(async () => record(ledger, await rowClaimed(ledger, batch, "july-0"), unknown));
    await set("day", "499");
    const seen = await ledger.find("july-0");
    if (!seen) throw new Error("the ledger lost an operation");
    expect(await ledger.resume({ seen, sealer })).toMatchObject({ kind: "denied", denial: above });
    await set("day", "500");
    expect(await ledger.resume({ seen, sealer })).toMatchObject({ kind: "taken" });
  });

  test("what was added in the own login without a seal is an agent's once an agent has sent it", async () => {
    const { ledger, asAgent, set, pass } = await limited(await share());
    await planted(ledger, "BIG");
    await set("agent-day", "900");
    expect(await claim(asAgent, "BIG")).toMatchObject({ kind: "resumed" });
    const ofAgents = { kind: "above-limit", excess: { limit: "agent-day", usedPaisa: 500n } };
    expect(await claim(asAgent, "B")).toMatchObject(ofAgents);
    pass(25);
    expect(await claim(asAgent, "B")).toMatchObject(ofAgents);
  });

  test("a row that a colleague resolved counts as a row of its batch alone", async () => {
    const { ledger, set, asBob } = await limited(await share());
    const { batch } = await plan(ledger, "july", 2);
    await record(ledger, await rowClaimed(ledger, batch, "july-0"), unknown);
    await asBob(() => learn(ledger, "july-0", notCreated));
    await set("day", "1000");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 1000n } });
  });

  test("a row that it freed, and did not reserve again, frees no other row of its batch", async () => {
    const shared = await share();
    const { ledger, set, asBob } = await limited(shared);
    const { batch } = await plan(ledger, "july", 2);
    await record(ledger, await rowClaimed(ledger, batch, "july-0"), unknown);
    await asBob(() => learn(ledger, "july-0", notCreated));
    await shared.run("UPDATE batches SET reserved_paisa = 500");
    await rowClaimed(ledger, batch, "july-0");
    await set("day", "1000");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 1000n } });
  });

  /** A batch with a row of unknown outcome, whose plan is sealed again with the next key. */
  async function sealedAgain() {
    const { ledger, withNextKey, set, asBob } = await limited(await share());
    await set("repeat", "reject");
    const { batch } = await plan(ledger, "july", 2);
    await record(ledger, await rowClaimed(ledger, batch, "july-0"), unknown);
    const next = await withNextKey.batches.claimPlanned(batch);
    if (next.kind !== "ours") throw new Error(next.kind);
    const read = await withNextKey.batches.readPlan(next.batch, other);
    expect(await withNextKey.batches.seal(read, other, new Set())).toMatchObject({
      kind: "planned",
    });
    return { ledger, withNextKey, batch, asBob };
  }

  test("a row is no repeat of itself, also with the next key and secret", async () => {
    const { withNextKey, batch } = await sealedAgain();
    await learn(withNextKey, "july-0", notCreated);
    expect(await rowClaimed(withNextKey, batch, "july-0", other)).toMatchObject({
      reference: "july-0",
    });
  });

  test("a row is a repeat with the next key, if it alone says that it was not created", async () => {
    const { withNextKey, batch, asBob } = await sealedAgain();
    await asBob(() => learn(withNextKey, "july-0", notCreated));
    await expect(rowClaimed(withNextKey, batch, "july-0", other)).rejects.toThrow("repeat");
  });

  test("a row that it copied from a person's plan is an agent's once an agent has sent it", async () => {
    const { ledger, asAgent, set, asBob } = await limited(await share());
    const { batch } = await plan(ledger, "july", 1);
    await asBob(async () => record(ledger, await rowClaimed(ledger, batch, "july-0"), unknown));
    await set("agent-day", "900");
    const intent = payout("july-0", { asked: askedFor(1, "july-0") });
    const sent = await asAgent.claim({ intent, onDuplicate: "reject-if-unknown", sealer });
    expect(sent).toMatchObject({ kind: "resumed" });
    expect(await claim(asAgent, "B")).toMatchObject({
      ...{ kind: "above-limit", excess: { limit: "agent-day", usedPaisa: 500n } },
    });
  });

  /** A payout of 500 paisa to the recipient of row `july-0`, which a file may repeat. */
  async function paidBefore(ledger: Ledger) {
    const intent = payout("A", { asked: askedFor(1, "A") });
    await record(ledger, await claimed(ledger, intent), accepted);
  }

  test("what an agent plans repeats no payout, whatever it says of that one", async () => {
    const { ledger, asAgent, asBob } = await limited(await share());
    await paidBefore(ledger);
    await asBob(() => learn(ledger, "A", cancelled));
    const { batch } = await plan(asAgent, "july", 1);
    await expect(rowClaimed(asAgent, batch, "july-0")).rejects.toThrow("repeat");
  });

  test.each([cancelled, notCreated])(
    "where repeats are rejected, rows repeat no payout for a day, whatever it says of that one: %o",
    async (outcome) => {
      const { ledger, asBob, set, pass } = await limited(await share());
      const intent = payout("A", { asked: askedFor(1, "A") });
      const sent = outcome === notCreated ? unknown : accepted;
      await record(ledger, await claimed(ledger, intent), sent);
      await asBob(() => learn(ledger, "A", outcome));
      await set("repeat", "reject");
      const { batch } = await plan(ledger, "july", 1);
      await expect(rowClaimed(ledger, batch, "july-0")).rejects.toThrow("repeat");
      pass(25);
      expect(await rowClaimed(ledger, batch, "july-0")).toMatchObject({ reference: "july-0" });
    },
  );

  test("a row repeats no payout that was sent since a day before its plan, at any age", async () => {
    const { ledger, asBob, pass } = await limited(await share());
    const { batch } = await plan(ledger, "july", 2);
    const intent = payout("A", { asked: askedFor(1, "A") });
    const sent = await ledger.claim({ intent, onDuplicate: "send", sealer });
    if (sent.kind !== "new") throw new Error(sent.kind);
    await record(ledger, sent.operation, accepted);
    pass(30);
    await expect(rowClaimed(ledger, batch, "july-0")).rejects.toThrow("duplicate");
    await asBob(() => learn(ledger, "A", cancelled));
    expect(await rowClaimed(ledger, batch, "july-0")).toMatchObject({ reference: "july-0" });
  });

  test("an agent refunds nothing again because of what it says", async () => {
    const { ledger, asAgent, asBob } = await limited(await share());
    const intent = refund("P1");
    await record(ledger, await claimed(ledger, intent), unknown);
    const [seen] = await ledger.unsettled();
    if (!seen) throw new Error("the ledger lost a refund");
    const declared = () => ledger.learn({ seen, outcome: notCreated });
    expect(await asBob(declared)).toEqual({ kind: "recorded" });
    const again = { intent, onDuplicate: "reject", paidPaisa: 1_000n } as const;
    expect(await asAgent.claim(again)).toMatchObject({ kind: "duplicate" });
    expect(await ledger.preview(again)).toMatchObject({ kind: "new" });
  });

  test("a plan that it made is judged whenever it is continued, also by what is added after its claim", async () => {
    const { ledger, set, asBob } = await limited(await share());
    const { batch } = await asBob(() => plan(ledger, "july", 1));
    await asBob(async () => record(ledger, await rowClaimed(ledger, batch, "july-0"), unknown));
    await set("payout", "400");
    const own = await ledger.batches.claimPlanned(batch);
    expect(own.kind).toBe("ours");
    await asBob(() => learn(ledger, "july-0", notCreated));
    const read = await ledger.batches.readPlan(own.batch, sealer);
    expect(read.isSealed).toBe(true);
    const found = await checkOpenRows(read, ledger);
    await expect(acceptRows(read, found, { ledger, sealer })).rejects.toMatchObject({
      reason: "limits.payout",
    });
  });

  test("a copied row names the recipient that its seal covers", async () => {
    const shared = await share();
    const { ledger } = await limited(shared);
    const { batch } = await plan(ledger, "july", 1);
    await shared.run("UPDATE batch_rows SET recipient_key = '01700000000'");
    const [row] = await shared.run("SELECT * FROM batch_rows");
    const [event] = await shared.run("SELECT data FROM events WHERE event = 'plan'");
    const sums = new PlanSums();
    sums.add(textRow(Object(row)));
    const data = String(Object(event).data).replace(
      /"rows":"[^"]+"/,
      `"rows":"${sums.digests().rows}"`,
    );
    await shared.run(`UPDATE events SET data = '${data}' WHERE event = 'plan'`);
    const { batch: own } = await ledger.batches.claimPlanned(batch);
    const read = await ledger.batches.readPlan(own, sealer);
    expect(read.isSealed).toBe(false);
    const sealed = ledger.batches.seal(read, sealer, new Set());
    await expect(sealed).rejects.toMatchObject({ reason: "batch.plan-modified" });
  });

  test("a plan that it made for an agent is a person's once a person has sealed it", async () => {
    const { ledger, asAgent, asBob } = await limited(await share());
    const { batch } = await asBob(() => plan(asAgent, "july", 1, other));
    const own = await ledger.batches.claimPlanned(batch);
    const read = await ledger.batches.readPlan(own.batch, sealer);
    expect(await ledger.batches.seal(read, sealer, new Set())).toMatchObject({ kind: "planned" });
    await ledger.batches.release(batch);
    expect(await asAgent.batches.claimPlanned(batch)).toMatchObject({
      ...{ kind: "denied", denial: { kind: "not-of-agent" } },
    });
    expect(await ledger.batches.list(1)).toMatchObject([{ id: batch.id, login: "bob" }]);
  });

  test.each([1, 2])(
    "what %d of them record after this login sent it frees nothing",
    async (logins) => {
      const shared = await share();
      const { ledger, set, as, asBob, pass } = await limited(shared);
      await asBob(async () => record(ledger, await claimed(ledger, payout("A")), denied));
      await shared.run("UPDATE operations SET login = 'bob'");
      await as("ann", async () => record(ledger, await claimed(ledger, payout("A")), accepted));
      await asBob(() => learn(ledger, "A", cancelled));
      if (logins === 2) await as("carol", () => learn(ledger, "A", cancelled));
      await set("repeat", "reject");
      await set("day", "900");
      expect(await claim(ledger, "B")).toMatchObject(above);
      await set("day", "5000");
      const { asked } = payout("A");
      const intent = payout("B", { asked: { ...asked, merchantRef: "B" } });
      const again = () => ledger.claim({ intent, onDuplicate: "reject-if-unknown", sealer });
      expect(await again()).toMatchObject({ kind: "repeat" });
      pass(25);
      expect(await again()).toMatchObject({ kind: "new" });
    },
  );

  test("what it recorded as the row of another batch, and this login sent, stays counted", async () => {
    const shared = await share();
    const { ledger, set, as, asBob } = await limited(shared);
    const { batch } = await plan(ledger, "july", 2);
    const intent = payout("A", { batch: batch.number });
    await asBob(async () => {
      const order = { intent, onDuplicate: "send", sealer, batchId: batch.id } as const;
      const answer = await ledger.claim(order);
      if (answer.kind === "new") await record(ledger, answer.operation, denied);
    });
    await shared.run("UPDATE operations SET login = 'bob'");
    await as("ann", async () => record(ledger, await claimed(ledger, payout("A")), unknown));
    await asBob(() => learn(ledger, "A", notCreated));
    await shared.run("UPDATE batches SET reserved_paisa = 1000");
    await set("day", "1500");
    expect(await claim(ledger, "B")).toMatchObject({ ...above, excess: { usedPaisa: 1500n } });
  });

  test("several of them hide no payout of unknown outcome that this login sent", async () => {
    const { ledger } = await limited(await share());
    const operation = await claimed(ledger, payout("A"));
    await record(ledger, operation, unknown);
    const own = await ledger.historyOf(operation);
    const [later, old] = ["2026-11-20T12:00:00.000Z", "2026-11-18T12:00:00.000Z"];
    const taker = { holder: "{}", origin: "{}", actor: "person", wasReleased: true } as const;
    const history: HistoryEvent[] = [
      ...own,
      { at: later, event: "resumed", login: "bob", data: taker },
      { at: old, event: "attempt", login: "bob", data: accepted },
      { at: later, event: "look", login: "bob", data: { state: "CONFIRMED", status: "Completed" } },
      { at: later, event: "look", login: "carol", data: cancelled },
    ];
    const by = { recorder: own[0]?.login ?? "", own: own[0]?.login ?? "" };
    expect(recordedByOthers(by, operation, history)).toMatchObject({
      ...{ login: "carol", isUnsettled: false, without: { state: "UNCERTAIN", updatedAt: later } },
    });
  });

  test("what it knew when it first took a payout counts after it took the payout again", async () => {
    const { ledger, as } = await limited(await share());
    const operation = await claimed(ledger, payout("A"));
    await record(ledger, operation, denied);
    await as("ben", async () => record(ledger, await claimed(ledger, payout("A")), unknown));
    const own = await ledger.historyOf(operation);
    const [later, old] = ["2026-11-20T12:00:00.000Z", "2026-11-18T12:00:00.000Z"];
    const taker = { holder: "{}", origin: "{}", actor: "person", wasReleased: true } as const;
    const reopened = own.find(({ event }) => event === "reopened")?.data;
    const conflict = { state: "CONFLICT", code: "conflict", otherId: "8", sent: true } as const;
    const history = [
      ...own,
      { at: later, event: "resumed", login: "bob", data: taker },
      { at: later, event: "resumed", login: "carol", data: taker },
      { at: later, event: "attempt", login: "carol", data: denied },
      { at: later, event: "attempt", login: "bob", data: conflict },
      { at: old, event: "look", login: "bob", data: { ...notCreated, origin: "{}" } },
      { at: later, event: "reopened", login: "ben", data: reopened },
      { at: later, event: "attempt", login: "ben", data: denied },
    ].map((one) => Object.assign(readEvent(one.at, one.event, JSON.stringify(one.data)), one));
    const by = { recorder: own[0]?.login ?? "", own: own[0]?.login ?? "" };
    expect(recordedByOthers(by, operation, history)).toMatchObject({
      without: { state: "INTENT" },
    });
  });

  test("what it alone says was not sent is sent again as unknown, and counts twice with the next key", async () => {
    const { ledger, withNextKey, set, asBob, pass } = await limited(await share());
    const first = await claimed(ledger, payout("A"));
    await record(ledger, first, unknown);
    pass(1);
    await asBob(() => learn(ledger, "A", notCreated));
    await set("day", "900");
    expect(await claim(withNextKey, "A")).toMatchObject(above);
    const again = await claim(ledger, "A");
    // The key, the age and the pause of an unknown payout are those of its first request.
    const { openedAt } = first;
    expect(again).toMatchObject({ kind: "resumed", operation: { state: "UNCERTAIN", openedAt } });
    if (again.kind === "resumed") await record(ledger, again.operation, unknown);
    const seen = await ledger.find("A");
    if (!seen) throw new Error("the ledger lost an operation");
    expect(await ledger.resume({ seen, sealer })).toMatchObject({ operation: { openedAt } });
  });

  test("what it alone says was rejected counts twice with the next key", async () => {
    const { ledger, withNextKey, set, asBob } = await limited(await share());
    const made = `${generatedPrefix}01KCB6T0000000000000000000`;
    const refused: Outcome = { state: "REFUSED", code: "rejected", sent: true };
    await record(ledger, await claimed(ledger, payout(made)), unknown);
    await asBob(async () => record(ledger, await claimed(ledger, payout(made)), refused));
    await set("day", "900");
    const again = { onDuplicate: "reject", isReferenceMade: true, sealer } as const;
    expect(await withNextKey.claim({ intent: payout(made), ...again })).toMatchObject(above);
    expect(await ledger.claim({ intent: payout(made), ...again })).toMatchObject({
      ...{ kind: "resumed", operation: { state: "UNCERTAIN" } },
    });
  });

  test("what this login reports itself as not created is sent again as new", async () => {
    const { ledger, asBob, pass } = await limited(await share());
    await record(ledger, await claimed(ledger, payout("A")), unknown);
    pass(25);
    await asBob(() => learn(ledger, "A", notCreated));
    const again = await claim(ledger, "A");
    expect(again).toMatchObject({ kind: "resumed", operation: { state: "UNCERTAIN" } });
    if (again.kind === "resumed") await record(ledger, again.operation, unknown);
    pass(1);
    await learn(ledger, "A", notCreated);
    const last = await claim(ledger, "A");
    expect(last).toMatchObject({ kind: "resumed", operation: { state: "NOT_SENT" } });
    if (last.kind === "resumed")
      await record(ledger, last.operation, { ...unknown, state: "REFUSED", code: "rejected" });
    expect(await ledger.find("A")).toMatchObject({ state: "REFUSED" });
  });

  test("an agent's batch sends no rows above its limit that a person planned", async () => {
    const { ledger, asAgent, set, asBob } = await limited(await share());
    const { batch } = await plan(ledger, "july", 2);
    for (const reference of ["july-0", "july-1"])
      await asBob(async () => record(ledger, await rowClaimed(ledger, batch, reference), unknown));
    await set("agent-day", "900");
    const ofAgent = await asAgent.batches.claim(batchFile("agent"), whichBatch);
    const rows = () =>
      [1, 2].map((row) => plannedRow(row, { reference: `july-${row - 1}`, amountPaisa: 500n }));
    const upTo = await asAgent.newestEvent();
    const answer = await asAgent.batches.plan(ofAgent.batch, planning(rows, upTo));
    expect(answer).toMatchObject({
      ...{ kind: "denied", denial: { ...above, excess: { limit: "agent-day" } } },
    });
  });
});
