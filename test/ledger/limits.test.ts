import { expect, onTestFinished, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import type { LimitName } from "../../src/domain/limit.ts";
import { declaredCode } from "../../src/domain/state.ts";
import type { Batch } from "../../src/ledger/batch.ts";
import { type ClaimRequest, duplicatesSince } from "../../src/ledger/decide.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Operation, Outcome } from "../../src/ledger/operation.ts";
import { mostCompared } from "../../src/ledger/sql/repeated.ts";
import type { Worker } from "../../src/ledger/worker.ts";
import {
  batchFile,
  owner,
  payout,
  plannedBy,
  plannedRow,
  planning,
  record,
  refund,
  sealer,
} from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

const dayMs = 24 * 60 * 60_000;
const accepted = (remoteId: string): Outcome => ({
  ...{ state: "CONFIRMED", remoteId, status: "Processing", sent: true },
});
const unknown: Outcome = { state: "UNCERTAIN", code: "uncertain", message: "lost", sent: true };
const notSent: Outcome = { state: "NOT_SENT", code: "not-sent", message: "no", sent: false };
const rejected: Outcome = { state: "REFUSED", code: "refused", message: "no", sent: true };

describeEach(databases, "I13: limits", ({ share }) => {
  /** Two processes with one clock, and limits in paisa. Each payout of `payout` is 500 paisa. */
  async function setup(limits: Partial<Record<LimitName, string>>, given: Partial<Worker> = {}) {
    const { open, run, findings, close } = await share();
    onTestFinished(close);
    let nowMs = Date.parse("2026-11-20T10:00:00.000Z");
    const now = () => nowMs;
    const opened = async (pid: number, more: Partial<Worker> = {}) =>
      open({ holder: { pid, lock: `${pid}`, machine: "m" }, now, ...given, ...more });
    const ledger = await opened(1);
    const set = async (name: string, value: string | null) => {
      const { environment } = given.owner ?? owner;
      const account = environment === "production" ? "" : await ledger.account();
      const inSql = value === null ? "NULL" : `'${value}'`;
      await run(`INSERT INTO limits (environment, account, name, value, set_at, login)
        VALUES ('${environment}', '${account}', '${name}', ${inSql}, '2026-11-20T10:00:00.000Z', 'o')`);
    };
    for (const [name, value] of Object.entries(limits)) await set(name, value);
    const later = (ms: number) => {
      nowMs += ms;
    };
    return { ledger, opened, set, run, findings, later };
  }

  async function taken(ledger: Ledger, reference: string, amountPaisa = 500n) {
    const intent = { ...payout(reference), amountPaisa };
    intent.asked = { ...intent.asked, amount: Number(amountPaisa) / 100 };
    return ledger.claim({ intent, onDuplicate: "reject-if-unknown", sealer });
  }
  async function sent(ledger: Ledger, reference: string, outcome?: Outcome): Promise<Operation> {
    const answer = await taken(ledger, reference);
    if (answer.kind !== "new" && answer.kind !== "resumed") throw new Error(answer.kind);
    await record(ledger, answer.operation, outcome ?? accepted(`P-${reference}`));
    return answer.operation;
  }
  async function notCreated(ledger: Ledger, reference: string): Promise<void> {
    const seen = await ledger.find(reference);
    if (!seen) throw new Error(`there is no ${reference}`);
    const outcome = { state: "NOT_SENT", code: declaredCode, isReported: true } as const;
    expect(await ledger.learn({ seen, outcome })).toMatchObject({ kind: "recorded" });
  }
  const above = (limit: LimitName, usedPaisa: bigint | null, freesAt?: string) => ({
    kind: "above-limit",
    excess: { limit, usedPaisa, ...(freesAt && { freesAt }) },
  });
  /** @param of the name in the references of its rows */
  async function planned(
    ledger: Ledger,
    name: string,
    count: number,
    amountPaisa = 500n,
    of = name,
  ) {
    const claim = await ledger.batches.claim(batchFile(name), whichBatch);
    const rows = () =>
      Array.from({ length: count }, (_, at) =>
        plannedRow(at + 1, { reference: `${of}-${at}`, amountPaisa }),
      );
    const upTo = await ledger.newestEvent();
    return {
      batch: claim.batch,
      answer: await ledger.batches.plan(claim.batch, planning(rows, upTo)),
    };
  }

  /** Claims the row of a batch that has a reference. */
  async function rowTaken(ledger: Ledger, batch: Pick<Batch, "id" | "number">, reference: string) {
    const at = Number(reference.split("-").at(-1));
    const one = plannedRow(at + 1, { reference });
    const order = { amount: 5, merchantRef: reference, paymentMethodId: "m1" };
    const asked = { ...order, recipientNumber: one.recipient };
    const intent = { ...payout(reference, { batch: batch.number }), asked };
    return ledger.claim({ intent, onDuplicate: "reject", sealer, batchId: batch.id });
  }

  /** Sends the row, and records what came of it. */
  async function rowSent(
    ledger: Ledger,
    batch: Pick<Batch, "id" | "number">,
    reference: string,
    outcome: Outcome,
  ): Promise<void> {
    const claim = await rowTaken(ledger, batch, reference);
    if (claim.kind !== "new" && claim.kind !== "resumed") throw new Error(claim.kind);
    await record(ledger, claim.operation, outcome);
  }

  test("P29: of one payout", async () => {
    const { ledger } = await setup({ payout: "499" });
    expect(await taken(ledger, "A", 500n)).toMatchObject(above("payout", null));
    expect(await taken(ledger, "A", 499n)).toMatchObject({ kind: "new" });
  });

  test("of a day: the last headroom is taken once, and a retry counts once", async () => {
    const { ledger, opened } = await setup({ day: "1000" });
    const other = await opened(2);
    await sent(ledger, "A", unknown);
    const answers = await Promise.all([taken(ledger, "B"), taken(other, "C")]);
    expect(answers.map(({ kind }) => kind).sort()).toEqual(["above-limit", "new"]);
    // What counts already is sent again.
    expect(await taken(ledger, "A")).toMatchObject({ kind: "resumed" });
    expect(await ledger.limits.uses()).toHaveLength(2);
  });

  test("of a day: claims of one commit see each other", async () => {
    const { ledger } = await setup({ day: "1000", "refund-day": "10" });
    const intents = [payout("A"), payout("B"), payout("C"), refund("T1", 7n), refund("T2", 7n)];
    const answers = await ledger.change(
      intents.map((intent) => {
        return { kind: "claim", intent, onDuplicate: "send", paidPaisa: 1_000n, sealer } as const;
      }),
    );
    expect(answers.map(({ kind }) => kind)).toEqual([
      ...["new", "new", "above-limit", "new", "above-limit"],
    ]);
  });

  test("of a day: what was rejected, cancelled or not sent is free", async () => {
    const { ledger } = await setup({ day: "1000" });
    await sent(ledger, "A", rejected);
    await sent(ledger, "B", { ...accepted("P-B"), status: "Cancelled" });
    await sent(ledger, "C", notSent);
    await sent(ledger, "D");
    await sent(ledger, "E");
    expect(await taken(ledger, "F")).toMatchObject({
      ...above("day", 1_000n, "2026-11-21T10:00:00.000Z"),
    });
    // It is sent again, so it counts again.
    expect(await taken(ledger, "C")).toMatchObject(above("day", 1_000n));
  });

  test("of a day: what a person reports as not created counts for a day, and once if it is sent again", async () => {
    const { ledger, later } = await setup({ day: "1000", "new-recipient": "700" });
    await sent(ledger, "A", unknown);
    await notCreated(ledger, "A");
    await sent(ledger, "B");
    expect(await taken(ledger, "C", 1n)).toMatchObject(above("day", 1_000n));
    // The report says nothing about the first attempt, whatever becomes of the next one.
    await sent(ledger, "A", notSent);
    expect(await taken(ledger, "C", 1n)).toMatchObject(above("day", 1_000n));
    later(dayMs + 1);
    expect(await taken(ledger, "C", 500n)).toMatchObject({ kind: "new" });
  });

  test("of a day: a refund that a person reports as created counts for a day, also if it is Cancelled", async () => {
    const { ledger, later } = await setup({ "refund-day": "10" });
    const refundOf = (target: string, paisa: bigint) =>
      ledger.claim({ intent: refund(target, paisa), onDuplicate: "send", paidPaisa: 1_000n });
    const answer = await refundOf("T1", 7n);
    if (answer.kind !== "new") throw new Error(answer.kind);
    await record(ledger, answer.operation, unknown);
    const [seen] = await ledger.unsettled();
    if (!seen) throw new Error("nothing is unsettled");
    const outcome: Outcome = { state: "CONFIRMED", remoteId: "R9", status: "Cancelled" };
    await ledger.learn({ seen, outcome: { ...outcome, isReported: true } });
    expect(await refundOf("T2", 4n)).toMatchObject(above("refund-day", 7n));
    later(dayMs + 1);
    expect(await refundOf("T2", 4n)).toMatchObject({ kind: "new" });
  });

  test("of a day: a row that a person reports as not created counts as a row of its batch alone", async () => {
    const { ledger } = await setup({ day: "1000" });
    const { batch } = await planned(ledger, "a.csv", 1);
    await rowSent(ledger, batch, "a.csv-0", unknown);
    await notCreated(ledger, "a.csv-0");
    expect(await taken(ledger, "B", 501n)).toMatchObject(above("day", 500n));
    await ledger.batches.cancel(batch);
    expect(await taken(ledger, "B", 501n)).toMatchObject(above("day", 500n));
    expect(await taken(ledger, "B")).toMatchObject({ kind: "new" });
  });

  test("of a day: a window of 24 hours, but for what is unknown", async () => {
    const { ledger, later } = await setup({ day: "1000" });
    const lost = await sent(ledger, "LOST", unknown);
    await sent(ledger, "A");
    later(dayMs - 1);
    expect(await taken(ledger, "B")).toMatchObject(
      above("day", 1_000n, "2026-11-21T10:00:00.000Z"),
    );
    later(1);
    await sent(ledger, "B");
    later(30 * dayMs);
    await sent(ledger, "C");
    expect(await taken(ledger, "D")).toMatchObject(above("day", 1_000n));
    const [seen = lost] = await ledger.unsettled();
    await ledger.learn({
      seen,
      outcome: { state: "NOT_SENT", code: "declared", message: "no", isReported: true },
    });
    expect(await taken(ledger, "D")).toMatchObject({ kind: "new" });
  });

  test("of a day: what is sent again counts from then on", async () => {
    const { ledger, later } = await setup({ day: "1000" });
    await sent(ledger, "A", unknown);
    later(dayMs - 1_000);
    await sent(ledger, "A");
    later(2_000);
    await sent(ledger, "B");
    expect(await taken(ledger, "C")).toMatchObject(above("day", 1_000n));
  });

  test("of the refunds of a day: a record that was found later may be of another refund", async () => {
    const { ledger, later, set } = await setup({ "refund-day": "10" });
    const intent = refund("T1", 7n);
    const request = { kind: "claim", intent, onDuplicate: "send", paidPaisa: 1_000n } as const;
    const answer = await ledger.claim(request);
    if (answer.kind !== "new") throw new Error(answer.kind);
    await record(ledger, answer.operation, unknown);
    const seen = await ledger.find(answer.operation.id);
    if (!seen) throw new Error("the ledger lost an operation");
    const outcome = { state: "CONFIRMED", remoteId: "R9", status: "Cancelled" } as const;
    expect(await ledger.learn({ seen, outcome })).toMatchObject({ kind: "recorded" });
    expect(await ledger.claim(request)).toMatchObject(above("refund-day", 7n));
    await set("refund-day", null);
    const same = { ...request, onDuplicate: "reject" } as const;
    expect(await ledger.claim(same)).toMatchObject({ kind: "duplicate" });
    later(dayMs + 1);
    await set("refund-day", "10");
    expect(await ledger.claim(same)).toMatchObject({ kind: "new" });
  });

  test("of the refunds of a day", async () => {
    const { ledger } = await setup({ "refund-day": "12" });
    const send = (intent: ReturnType<typeof refund>) =>
      ledger.claim({ intent, onDuplicate: "reject", paidPaisa: 1_000n });
    expect(await send(refund("T1", 7n))).toMatchObject({ kind: "new" });
    expect(await send(refund("T2", 6n))).toMatchObject(above("refund-day", 7n));
    expect(await send(refund("T2", 5n))).toMatchObject({ kind: "new" });
    expect(await taken(ledger, "A")).toMatchObject({ kind: "new" });
  });

  test("of a new recipient, until a payout was accepted a day ago", async () => {
    const { ledger, later } = await setup({ "new-recipient": "600" });
    const to = (reference: string, paisa: bigint) => {
      const one = payout(reference, { amountPaisa: paisa });
      one.asked = { ...one.asked, amount: Number(paisa) / 100, recipientNumber: "01711111111" };
      return ledger.claim({ intent: one, onDuplicate: "reject-if-unknown", sealer });
    };
    const end = async (answer: Awaited<ReturnType<typeof to>>, outcome: Outcome) => {
      if (answer.kind !== "new") throw new Error(answer.kind);
      await record(ledger, answer.operation, outcome);
    };
    await end(await to("A", 600n), rejected);
    await end(await to("B", 500n), accepted("P-B"));
    expect(await to("C", 101n)).toMatchObject(above("new-recipient", 500n));
    // More than the limit, but a day later the recipient is no longer new.
    const known = above("new-recipient", 500n, "2026-11-21T10:00:00.000Z");
    expect(await to("C", 700n)).toMatchObject(known);
    await end(await to("C", 100n), { ...accepted("P-C"), status: "Cancelled" });
    expect(await taken(ledger, "OTHER", 600n)).toMatchObject({ kind: "new" });
    later(dayMs);
    expect(await to("D", 700n)).toMatchObject({ kind: "new" });
  });

  test("of a new recipient: a file that gives little, with what was sent, planned or is unknown", async () => {
    const { ledger, later } = await setup({ "new-recipient": "700" });
    const recipients = ["LOST", "SENT", "FREE"].map((reference) => {
      return String(payout(reference).asked.recipientNumber);
    });
    await sent(ledger, "LOST", unknown);
    later(dayMs + 1);
    await sent(ledger, "SENT");
    await planned(ledger, "open.csv", 1);
    recipients.push(plannedRow(1).recipient);
    const answers = recipients.map(async (recipient, at) => {
      const row = plannedRow(1, { reference: `F-${at}`, recipient, amountPaisa: 201n });
      const { batch } = await ledger.batches.claim(batchFile(`${at}.csv`), whichBatch);
      const upTo = await ledger.newestEvent();
      const { line, amountPaisa: paisa } = row;
      const judged = await ledger.limits.judge([{ line, recipient, paisa }], []);
      const { kind } = await ledger.batches.plan(
        batch,
        planning(() => [row], upTo),
      );
      return [judged?.kind, kind];
    });
    const exceeds = ["above-limit", "denied"];
    expect(await Promise.all(answers)).toEqual([exceeds, exceeds, [undefined, "planned"], exceeds]);
  });

  test("a rejected payout does not make a recipient known", async () => {
    const { ledger, later } = await setup({ "new-recipient": "400" });
    const small = { ...payout("A"), amountPaisa: 400n };
    small.asked = { ...small.asked, amount: 4 };
    const answer = await ledger.claim({ intent: small, onDuplicate: "reject", sealer });
    if (answer.kind !== "new") throw new Error(answer.kind);
    await record(ledger, answer.operation, rejected);
    later(2 * dayMs);
    const again = payout("B", { asked: { ...payout("A").asked, merchantRef: "B" } });
    expect(await ledger.claim({ intent: again, onDuplicate: "reject", sealer })).toMatchObject(
      above("new-recipient", 0n),
    );
  });

  test("a file is judged as a whole, and reserves its rows until they are sent or cancelled", async () => {
    const { ledger, findings } = await setup({ day: "2000" });
    expect((await planned(ledger, "large", 5)).answer).toMatchObject({ kind: "denied" });
    const { batch, answer } = await planned(ledger, "small", 3);
    const plan = plannedBy(answer);
    expect(await taken(ledger, "A", 501n)).toMatchObject({
      kind: "above-limit",
      excess: { usedPaisa: 1_500n, batches: [{ batch: { id: batch.id }, paisa: 1_500n }] },
    });
    await sent(ledger, "A");
    const row = (at: number, outcome: Outcome) => rowSent(ledger, batch, `small-${at}`, outcome);
    // A planned row is never judged again, also if it was not sent.
    await row(0, accepted("P-0"));
    await row(1, notSent);
    expect(await taken(ledger, "B", 1n)).toMatchObject(above("day", 2_000n));
    await row(1, rejected);
    await sent(ledger, "B");
    expect(await findings()).toEqual([]);
    await ledger.batches.claimPlanned(plan.batch);
    await ledger.batches.cancel(plan.batch);
    await sent(ledger, "C");
    expect(await taken(ledger, "D", 1n)).toMatchObject(above("day", 2_000n));
    expect(await findings()).toEqual([]);
  });

  test.each([
    ["of unknown outcome", unknown],
    ["accepted", accepted("P0")],
  ])(
    "a row whose payout was %s when it was planned is judged when it is sent",
    async (_, first) => {
      const { ledger, set } = await setup({ day: "2500", "new-recipient": "1000" });
      const { recipient } = plannedRow(1);
      const order = { amount: 5, merchantRef: "july-0", paymentMethodId: "m1" };
      const asked = { ...order, recipientNumber: recipient };
      const intent = { ...payout("july-0"), asked };
      const single = await ledger.claim({ intent, onDuplicate: "reject", sealer });
      if (single.kind !== "new") throw new Error(single.kind);
      await record(ledger, single.operation, first);
      const { batch } = await planned(ledger, "july", 3);
      // A late response, of another payout.
      await record(ledger, single.operation, accepted("P9"));
      await notCreated(ledger, "july-0");
      const once = await taken(ledger, "B", 500n);
      if (once.kind !== "new") throw new Error(once.kind);

      await set("day", "1999");
      expect(await rowTaken(ledger, batch, "july-0")).toMatchObject(above("day", 1500n));
      // A row that was judged with its plan is not judged again, also if it was not sent.
      await rowSent(ledger, batch, "july-1", notSent);
      await rowSent(ledger, batch, "july-1", accepted("P1"));
      expect(await rowTaken(ledger, batch, "july-0")).toMatchObject(above("day", 1500n));
      await set("new-recipient", "499");
      await set("day", "2000");
      expect(await rowTaken(ledger, batch, "july-0")).toMatchObject(above("new-recipient", 0n));
      await set("new-recipient", "500");
      expect(await rowTaken(ledger, batch, "july-0")).toMatchObject({ kind: "resumed" });
    },
  );

  test("a row that two batches share is reserved by both until it is sent", async () => {
    const { ledger, findings } = await setup({ day: "9000" });
    const [one, two] = [
      await planned(ledger, "one", 1),
      await planned(ledger, "two", 1, 500n, "one"),
    ];
    expect(two.answer).toMatchObject({ kind: "planned" });
    for (const outcome of [notSent, accepted("P-1")]) {
      await rowSent(ledger, one.batch, "one-0", outcome);
      expect(await findings()).toEqual([]);
    }
    expect(await ledger.limits.uses()).toMatchObject([
      { paisa: 500n, takenAt: expect.any(String) },
    ]);
  });

  test("the check finds a batch that reserves too little", async () => {
    const { ledger, findings, run } = await setup({ day: "2000" });
    const { batch } = await planned(ledger, "small", 3);
    await run("UPDATE batches SET reserved_paisa = 7");
    expect(await findings()).toEqual([
      {
        kind: "batch",
        name: batch.id,
        problem: "changed",
        columns: ["reserved_paisa"],
        now: ["7"],
      },
    ]);
  });

  test("repetition under a new reference", async () => {
    const { ledger, set } = await setup({ repeat: "reject" });
    await sent(ledger, "A");
    const again = { ...payout("B"), asked: { ...payout("A").asked, merchantRef: "B" } };
    const request = { intent: again, sealer } as const;
    expect(await ledger.claim({ ...request, onDuplicate: "send" })).toMatchObject({
      kind: "repeat",
      earlier: { reference: "A" },
    });
    await set("repeat", "warn");
    expect(await ledger.claim({ ...request, onDuplicate: "reject-if-unknown" })).toMatchObject({
      kind: "new",
      earlier: { reference: "A" },
    });
  });

  test("repetition of what a person reports as not created, for a day, also in a file and among many", async () => {
    const { ledger, set, later } = await setup({});
    const asked = { ...payout("A").asked, recipientNumber: "01712345678" };
    const claim = (reference: string, more: Partial<ClaimRequest> = {}) => {
      const intent = { ...payout(reference), asked: { ...asked, merchantRef: reference } };
      const onDuplicate = "reject-if-unknown";
      return ledger.claim({ intent, sealer, onDuplicate, ...more });
    };
    const ended = async (reference: string, outcome: Outcome, more?: Partial<ClaimRequest>) => {
      const answer = await claim(reference, more);
      if (answer.kind !== "new" && answer.kind !== "resumed") throw new Error(answer.kind);
      await record(ledger, answer.operation, outcome);
    };
    const since = duplicatesSince(Date.parse("2026-11-20T10:00:00.000Z"));
    const overlaps = async () => {
      const row = { reference: "B", recipient: "01712345678", amountPaisa: 500n };
      return [...(await ledger.overlaps([row], { since })).values()];
    };
    await ended("A", unknown);
    await notCreated(ledger, "A");
    expect(await overlaps()).toMatchObject([[{ kind: "reported", reference: "A" }]]);
    // Without a limit, a person believes the report; a record is believed in any case.
    await ended("FREE", rejected);
    await set("repeat", "reject");
    const repeats = { kind: "repeat", earlier: { reference: "A" } };
    expect(await claim("B")).toMatchObject(repeats);
    expect(await claim("B", { onDuplicate: "send" })).toMatchObject(repeats);
    // The same payout is no other one: by its reference, or by one that was only made for it.
    await ended("A", notSent);
    await ended("M", notSent, { isReferenceMade: true, onDuplicate: "reject" });
    expect(await claim("B")).toMatchObject(repeats);
    await set("repeat", "warn");
    for (let one = 0; one < mostCompared + 5; one += 1) await ended(`R-${one}`, rejected);
    await set("repeat", "reject");
    expect(await claim("B")).toMatchObject(repeats);
    expect(await overlaps()).toMatchObject([[{ kind: "reported", reference: "A" }]]);
    later(dayMs + 1);
    expect(await claim("B")).toMatchObject({ kind: "new" });
  });

  test("repetition with another key: the API may not know the reference", async () => {
    const { ledger, opened } = await setup({ repeat: "reject" });
    await sent(ledger, "A", unknown);
    await notCreated(ledger, "A");
    const next = { ...owner, keyId: "next", account: { joins: "shop", proposed: "shop" } };
    const other = await opened(2, { owner: next });
    expect(await taken(other, "A")).toMatchObject({ kind: "repeat" });
    const recipient = String(payout("A").asked.recipientNumber);
    const since = duplicatesSince(Date.parse("2026-11-20T10:00:00.000Z"));
    const overlaps = async (of: Ledger) => {
      const row = { reference: "A", recipient, amountPaisa: 500n };
      return [...(await of.overlaps([row], { since })).values()];
    };
    expect(await overlaps(other)).toMatchObject([[{ kind: "reported", reference: "A" }]]);
    expect(await overlaps(ledger)).toEqual([]);
    expect(await taken(ledger, "A")).toMatchObject({ kind: "resumed" });
  });

  test("a clock that is behind makes nothing that was sent older", async () => {
    const set = { repeat: "reject", day: "2000", "new-recipient": "600" };
    const { ledger, later, findings } = await setup(set);
    const again = (reference: string, amountPaisa = 500n) => {
      const { recipientNumber } = payout(reference).asked;
      const intent = { ...payout(`${reference}2`), amountPaisa };
      intent.asked = { ...intent.asked, amount: Number(amountPaisa) / 100, recipientNumber };
      return ledger.claim({ intent, onDuplicate: "send", sealer });
    };
    const held = await taken(ledger, "HELD");
    if (held.kind !== "new") throw new Error(held.kind);
    for (const reference of ["LOST", "MADE"]) await sent(ledger, reference, unknown);
    later(-dayMs - 1);
    await record(ledger, held.operation, accepted("P-HELD"));
    await notCreated(ledger, "LOST");
    const seen = await ledger.find("MADE");
    if (!seen) throw new Error("there is no MADE");
    const made: Outcome = { state: "CONFIRMED", remoteId: "P-MADE", status: "Processing" };
    await ledger.learn({ seen, outcome: { ...made, isReported: true } });
    later(dayMs + 1);
    for (const reference of ["HELD", "LOST", "MADE"])
      expect(await again(reference)).toMatchObject({ kind: "repeat", earlier: { reference } });
    for (const reference of ["HELD", "MADE"])
      expect(await again(reference, 101n)).toMatchObject(above("new-recipient", 500n));
    expect(await taken(ledger, "OTHER", 501n)).toMatchObject(above("day", 1_500n));
    expect(await findings()).toEqual([]);
  });

  test("of agents: what an agent opened again stays theirs, however old that is", async () => {
    const { opened, ledger, later } = await setup({ "agent-payout": "500", "agent-day": "700" });
    const agent = await opened(2, { actor: "agent" });
    await sent(ledger, "A", notSent);
    await sent(agent, "A", unknown);
    later(dayMs + 1);
    expect(await taken(agent, "B", 201n)).toMatchObject(above("agent-day", 500n));
    const [seen] = await agent.unsettled();
    if (!seen) throw new Error("nothing is unsettled");
    const resumed = await agent.resume({ seen, confirmed: undefined, sealer });
    expect(resumed).toMatchObject({ kind: "taken" });
    await record(agent, seen, accepted("P-A"));
    expect(await taken(agent, "B", 201n)).toMatchObject(above("agent-day", 500n));
  });

  test("of agents: an older payout is theirs that was sent as a row that an agent planned", async () => {
    const { ledger, opened } = await setup({ "agent-day": "900" });
    const agent = await opened(2, { actor: "agent" });
    const { recipient: recipientNumber } = plannedRow(1);
    const order = { amount: 5, merchantRef: "july-0", paymentMethodId: "m1", recipientNumber };
    const intent = { ...payout("july-0"), asked: order };
    const single = await ledger.claim({ intent, onDuplicate: "reject", sealer });
    if (single.kind !== "new") throw new Error(single.kind);
    await record(ledger, single.operation, notSent);
    const { batch } = await planned(agent, "july", 1);
    expect(await taken(agent, "B")).toMatchObject(above("agent-day", 500n));
    await rowSent(ledger, batch, "july-0", unknown);
    expect(await taken(agent, "B")).toMatchObject(above("agent-day", 500n));
  });

  test("of agents: what an agent planned counts for agents, also as a row of another batch", async () => {
    const { ledger, opened } = await setup({ "agent-day": "900" });
    const agent = await opened(2, { actor: "agent" });
    await planned(agent, "july", 1);
    const { batch } = await planned(ledger, "person", 1, 500n, "july");
    await rowSent(ledger, batch, "july-0", accepted("P1"));
    expect(await taken(agent, "B")).toMatchObject(above("agent-day", 500n));
    expect(await taken(ledger, "B")).toMatchObject({ kind: "new" });
  });

  test("of agents: what an agent opens again in one commit counts", async () => {
    const { ledger, opened } = await setup({ "agent-day": "900" });
    for (const reference of ["A", "B"]) await sent(ledger, reference, notSent);
    const agent = await opened(2, { actor: "agent" });
    const claims = ["A", "B"].map((reference) => {
      const intent = payout(reference);
      return { kind: "claim", intent, onDuplicate: "reject-if-unknown", sealer } as const;
    });
    const answers = await agent.change(claims);
    expect(answers.map(({ kind }) => kind)).toEqual(["resumed", "above-limit"]);
  });

  test("of agents: a row that an agent planned is theirs, whoever sends it", async () => {
    const { opened, ledger } = await setup({ "agent-payout": "500", "agent-day": "700" });
    const agent = await opened(2, { actor: "agent" });
    const { batch } = await planned(agent, "a.csv", 1);
    await agent.batches.release(batch);
    await rowSent(ledger, batch, "a.csv-0", accepted("P-ROW"));
    expect(await taken(agent, "B", 201n)).toMatchObject(above("agent-day", 500n));
    expect(await taken(agent, "B", 200n)).toMatchObject({ kind: "new" });
    expect(await taken(ledger, "C", 201n)).toMatchObject({ kind: "new" });
  });

  test("of agents, beside those of all", async () => {
    const { ledger, opened } = await setup({
      "agent-payout": "500",
      "agent-day": "900",
      day: "1500",
    });
    const agent = await opened(2, { actor: "agent" });
    await sent(ledger, "PERSON");
    expect(await taken(agent, "A", 501n)).toMatchObject(above("agent-payout", null));
    await sent(agent, "A");
    expect(await taken(agent, "B")).toMatchObject(above("agent-day", 500n));
    const returned = { kind: "refund", amountPaisa: 401n, target: "T" } as const;
    expect(
      await agent.claim({
        intent: { ...returned, reference: null, asked: {} },
        onDuplicate: "reject",
        paidPaisa: 1_000n,
      }),
    ).toMatchObject(above("agent-day", 500n));
    // A payout of a person that was not sent, and that an agent sends, is the agent's.
    await sent(ledger, "FREE", notSent);
    expect(await taken(agent, "FREE")).toMatchObject(above("agent-day", 500n));
    expect(await taken(ledger, "FREE")).toMatchObject({ kind: "resumed" });
    expect((await planned(agent, "agents", 1)).answer).toMatchObject({ kind: "denied" });
    // The day of all has room for one more.
    expect(await taken(ledger, "LAST", 1n)).toMatchObject(above("day", 1_500n));
  });

  test("an agent sends neither in production without limits of agents, nor what a person planned", async () => {
    const production = { ...owner, environment: "production" };
    const { ledger, opened, set } = await setup({ "agent-payout": "500" }, { owner: production });
    const agent = await opened(2, { actor: "agent" });
    expect(await taken(agent, "A")).toMatchObject({ kind: "agent-without-limits" });
    await set("agent-day", "5000");
    const made = await sent(agent, "A", unknown);
    await set("agent-day", null);
    // Not even what counts already.
    expect(await taken(agent, "A")).toMatchObject({ kind: "agent-without-limits" });
    const seen = await agent.find("A");
    expect(await agent.resume({ seen: seen ?? made, sealer })).toMatchObject({
      kind: "denied",
      denial: { kind: "agent-without-limits" },
    });
    expect(await taken(ledger, "A")).toMatchObject({ kind: "resumed" });
    const { batch } = await planned(ledger, "person", 1);
    await ledger.batches.release(batch);
    expect(await agent.batches.claimPlanned(batch)).toMatchObject({
      kind: "denied",
      denial: { kind: "not-of-agent" },
    });
  });

  test("an agent sends no further row once the limits of agents were removed", async () => {
    const production = { ...owner, environment: "production" };
    const { ledger, set } = await setup(
      { "agent-payout": "500", "agent-day": "5000" },
      { actor: "agent", owner: production },
    );
    const { batch } = await planned(ledger, "july", 2);
    await rowSent(ledger, batch, "july-0", accepted("P1"));
    await set("agent-day", null);
    expect(await rowTaken(ledger, batch, "july-1")).toMatchObject({ kind: "agent-without-limits" });
    expect(await rowTaken(ledger, batch, "july-0")).toMatchObject({ kind: "finished" });
  });

  test("what a clock that was ahead let through is judged again, or not sent", async () => {
    const { ledger, set, later } = await setup({});
    later(2 * dayMs);
    await sent(ledger, "A", unknown);
    const { batch } = await planned(ledger, "file", 1);
    await ledger.batches.release(batch);
    later(-2 * dayMs);
    await set("payout", "100");

    expect(await taken(ledger, "A")).toMatchObject(above("payout", null));
    expect(await ledger.batches.claimPlanned(batch)).toMatchObject({
      kind: "denied",
      denial: { kind: "planned-ahead", batch: batch.id },
    });
    expect(await ledger.batches.claimPlanned(batch, "cancel")).toMatchObject({ kind: "ours" });
  });

  test("a ledger without limits is rejected, if the profile had some", async () => {
    const remembering = { ...owner, environment: "production", expectsLimits: true };
    const { ledger, set } = await setup({}, { owner: remembering });
    expect(await taken(ledger, "A")).toMatchObject({ kind: "limits-missing" });
    expect((await planned(ledger, "file", 1)).answer).toMatchObject({ kind: "denied" });
    // An owner removed it.
    await set("day", "100");
    await set("day", null);
    expect(await taken(ledger, "A")).toMatchObject({ kind: "new" });
  });
});
