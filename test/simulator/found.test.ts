import { expect, test } from "vitest";
import { sendsBatch } from "./batch-run.ts";
import { cancel, orderOf, payout, refund, settle } from "./commands.ts";
import type { Command, Step } from "./scenario.ts";
import { noSums, simulate } from "./simulate.ts";
import { fault, nothing, stage } from "./stage.ts";

/** What the simulator found, in its smallest form: bugs of src, and wrong verdicts of its own. */
const order = orderOf({ reference: 0, amount: 1, to: 0 });
const paysBack = { does: "refund", payment: 0, amount: 0, again: false } as const;

test("a resumed payout that dies in flight is in the ledger as uncertain, not as NOT_SENT", async () => {
  const unsent = Array(5).fill(fault("not sent"));
  const place = await stage({ faults: [...unsent, undefined, fault("refused")] });
  expect((await payout(order, place)).ended.code).toBe(69);
  let state: string | undefined;
  place.network.meanwhile = async (tool) => {
    place.network.meanwhile = async () => {};
    state = (await place.operations())[0]?.state;
    tool.die();
  };
  await payout(order, place);
  expect(state).toBe("INTENT");
});

test("what a payout that died in flight may have made is not denied by a refusal of the next run", async () => {
  const unsent = Array(5).fill(fault("not sent"));
  const acts = fault("reset", { acts: true });
  const place = await stage({ faults: [...unsent, acts, fault("refused")] });
  await payout(order, place);
  place.network.meanwhile = async (tool) => {
    place.network.meanwhile = async () => {};
    tool.die();
  };
  expect((await payout(order, place)).ended.code).toBe("killed");
  place.universe.timeline.advance(30_000);
  expect((await payout(order, place)).ended.code).toBe(75);
});

test("I3: a reference rests for ten seconds after the death of the process that sent it", async () => {
  const place = await stage();
  place.network.meanwhile = async (tool) => {
    place.network.meanwhile = async () => {};
    place.universe.timeline.advance(20_000);
    tool.die();
  };
  expect((await payout(order, place)).ended.code).toBe("killed");
  const diedMs = place.universe.timeline.now();
  let sentMs = 0;
  place.network.meanwhile = async () => {
    sentMs ||= place.universe.timeline.now();
  };
  await payout(order, place);
  expect(sentMs - diedMs).toBeGreaterThanOrEqual(10_000);
});

test("a refund that ended in CONFLICT was made: the same one again needs --again", async () => {
  const place = await stage({ faults: [undefined, fault("other amount", { acts: true })] });
  expect((await refund(paysBack, place)).ended.code).toBe(5);
  expect((await refund(paysBack, place)).ended.code).toBe(3);
  expect(place.universe.service.refunds).toHaveLength(1);
});

test("a cancel whose answer was lost has happened, whatever its second attempt is told", async () => {
  const place = await stage();
  await refund(paysBack, place);
  const unread = Array(3).fill(fault("reset"));
  const lost = fault("reset", { acts: true });
  const again = await stage({ faults: [undefined, undefined, lost, ...unread] });
  await refund(paysBack, again);
  const id = again.universe.service.refunds[0]?.refundRequestId ?? "";
  const { ended } = await cancel(id, again);
  expect(again.universe.service.refunds[0]?.status).toBe("Cancelled");
  expect(ended.code).toBe(0);
});

test("a cancel that was answered is not called unsent because the record could not be seen", async () => {
  const unread = Array(3).fill(fault("reset"));
  const place = await stage({ faults: [undefined, undefined, undefined, ...unread] });
  await refund(paysBack, place);
  const id = place.universe.service.refunds[0]?.refundRequestId ?? "";
  const { ended } = await cancel(id, place);
  expect(place.universe.service.refunds[0]?.status).toBe("Cancelled");
  expect([0, 75]).toContain(ended.code);
});

test("a cancel that arrives late changes nothing of a refund that is Completed", async () => {
  const ends = { does: "end", resource: "refund", status: "Completed" } as const;
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const script: Step[] = [paysBack, ends, { does: "cancel" } as const].map((command) => ({
    ...step,
    command,
  }));
  const faults = [undefined, undefined, fault("late", { lateMs: 41 })];
  const { wrong } = await simulate({ ...nothing, script, faults }, noSums());
  expect(wrong).toEqual([]);
});

test("P4: what another process holds cannot be declared not created", async () => {
  const place = await stage();
  let code: unknown;
  place.network.meanwhile = async (tool) => {
    if (tool.sends === 0) return;
    place.network.meanwhile = async () => {};
    const id = (await place.operations())[0]?.id ?? "";
    code = (await settle({ id, subject: "resolve", finding: "not created" }, place)).ended.code;
  };
  await refund(paysBack, place);
  expect(code).toBe(7);
});

test("P16: a record to another recipient is not adopted", async () => {
  const place = await stage({ faults: Array(5).fill(fault("reset")) });
  await payout(order, place);
  place.universe.service.seedPayout({
    merchantRef: order.reference,
    amount: 1250.5,
    recipientNumber: "01999999999",
    paymentMethodId: "bkash",
    status: "Completed",
    createdAtMs: place.universe.timeline.now(),
  });
  const id = (await place.operations())[0]?.id ?? "";
  const finding = { created: place.universe.service.payouts[0]?.payoutId ?? "" };
  const { ended } = await settle({ id, subject: "resolve", finding }, place);
  expect(ended.code).toBe(5);
});

test("a ledger that fails after a resolved payout is no fault without sending", async () => {
  const place = await stage({ faults: Array(5).fill(fault("reset")), diskErrors: [] });
  await payout(order, place);
  place.universe.timeline.advance(20_000);
  const id = (await place.operations())[0]?.id ?? "";
  let looks = 0;
  place.universe.failsDisk = () => {
    looks += 1;
    return looks > 13;
  };
  const { ended, tool } = await settle({ id, subject: "resolve", finding: undefined }, place);
  expect(tool.sends).toBe(1);
  expect(ended.code).not.toBe(1);
});

test("a clock that was set back does not make a payout wait for hours", async () => {
  const place = await stage({ faults: Array(5).fill(fault("reset")) });
  place.universe.timeline.advance(3_600_000);
  await payout(order, place);
  const laterMs = place.universe.timeline.now();
  place.universe.timeline.now = () => laterMs - 3_600_000;
  let sleptMs = 0;
  place.universe.timeline.advance = (ms) => {
    sleptMs += ms;
  };
  await payout(order, place);
  expect(sleptMs).toBeLessThan(60_000);
});

const pays = { does: "payment", amount: 0, description: 0, again: false } as const;
test.each<[Command, string, boolean]>([
  [paysBack, "not created", false],
  [paysBack, "created", true],
  [pays, "not created", false],
  [pays, "created", true],
])(
  "%j, %s says a person: it is no repeat to send the next one, wherever resolve was killed",
  async (command, _, acts) => {
    const step = { command, reruns: 0, gapMs: 0, meanwhile: undefined };
    const resolves = { ...step, command: { does: "resolve" } } as const;
    const unclear = fault("truncated", { acts });
    const faults = command.does === "refund" ? [undefined, unclear] : [unclear];
    for (let after = 0; after < 90; after += 1) {
      const script = [step, resolves, step];
      const crashes = [{ after, power: false }];
      const { wrong } = await simulate({ ...nothing, script, faults, crashes }, noSums());
      expect({ after, wrong }).toEqual({ after, wrong: [] });
    }
  },
);

test("I7: resolving ends with the power, before the next step", async () => {
  const pay = (reference: number, meanwhile?: Step["meanwhile"]): Step => ({
    command: { does: "payout", reference, amount: 0, to: 0 },
    reruns: 0,
    gapMs: 0,
    meanwhile,
  });
  const script = [pay(1), pay(0, { call: 0, command: { does: "resolve" } }), pay(2)];
  for (const first of [8, 12, 16, 20]) {
    for (let after = 0; after < 40; after += 1) {
      const crashes = [
        { after: first, power: false },
        { after, power: true },
      ];
      const { wrong } = await simulate({ ...nothing, script, crashes }, noSums());
      expect({ first, after, wrong }).toEqual({ first, after, wrong: [] });
    }
  }
});

test("P25: what the dashboard shows is held beside what the ledger asked for, not beside an order that died before", async () => {
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const pay = (to: number): Step => ({
    ...step,
    command: { does: "payout", reference: 0, amount: 0, to },
  });
  const script: Step[] = [pay(0), pay(1), { ...step, command: { does: "pause", ms: 90_000_000 } }];
  const faults = Array(5).fill(fault("truncated", { acts: true }));
  const crashes = [{ after: 0, power: false }];
  const { wrong, service } = await simulate({ ...nothing, script, faults, crashes }, noSums());
  expect(wrong).toEqual([]);
  expect(service.payouts).toHaveLength(1);
});

test("a request whose process died takes effect at its own time, and not after a person looked", async () => {
  const meanwhile = {
    call: 1,
    command: { does: "payout", reference: 0, amount: 0, to: 0 },
  } as const;
  const script: Step[] = [{ command: paysBack, reruns: 0, gapMs: 0, meanwhile }];
  const faults = [undefined, fault("empty", { acts: true })];
  for (let after = 0; after < 40; after += 1) {
    const crashes = [{ after, power: true }];
    const { wrong } = await simulate({ ...nothing, script, faults, crashes }, noSums());
    expect({ after, wrong }).toEqual({ after, wrong: [] });
  }
});

test("a payout that --again sends once more may repeat one that was claimed in between", async () => {
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const pay = (reference: number | undefined, more = {}): Command => ({
    ...{ does: "payout", reference, amount: 0, to: 0, method: 0, spelling: 0, again: false },
    by: "command",
    ...more,
  });
  const script: Step[] = [
    { ...step, command: pay(0), meanwhile: { call: 0, command: pay(2), at: "ledger" } },
    { ...step, command: pay(undefined, { by: "api" }) },
    { ...step, command: pay(2, { again: true }) },
  ];
  for (let first = 30; first < 70; first += 1) {
    for (const second of [15, 20, 25, 30]) {
      const crashes = [
        { after: first, power: true },
        { after: second, power: false },
      ];
      const { wrong } = await simulate({ ...nothing, script, crashes, stops: [0] }, noSums());
      expect({ first, second, wrong }).toEqual({ first, second, wrong: [] });
    }
  }
});

test("a file that is sent with a new key while the old key still sends it is paid once", async () => {
  const place = await stage({ environment: "production", referencesPerKey: true });
  const orders = Array.from({ length: 20 }, (_, row) => ({
    ...order,
    reference: `ROW-${row}`,
    recipientNumber: `017123456${10 + row}`,
  }));
  const name = "payroll.csv";
  const file = { name, hash: "ab".repeat(32), orders, concurrency: 1, allowDuplicates: false };
  place.network.meanwhile = async () => {
    place.network.meanwhile = async () => {};
    place.universe.rotatesKey({ revokes: false });
    await sendsBatch(file, place);
  };
  await sendsBatch(file, place);
  expect(place.universe.wrong).toEqual([]);
});

test("a batch of the old key does not repeat what the new key sent since its plan", async () => {
  const recipients = ["01712345610", "01712345611"];
  const orders = recipients.map((recipientNumber, row) => ({
    ...order,
    reference: `ROW-${row}`,
    recipientNumber,
  }));
  const name = "payroll.csv";
  const file = { name, hash: "ab".repeat(32), orders, concurrency: 1, allowDuplicates: false };
  for (let after = 20; after < 110; after += 2) {
    const crashes = [{ after, power: false }];
    const place = await stage({ environment: "production", referencesPerKey: true, crashes });
    const oldKey = place.universe.key;
    expect((await sendsBatch(file, place)).ended.code).toBe("killed");
    place.universe.rotatesKey({ revokes: false });
    await sendsBatch(file, place);
    place.universe.key = oldKey;
    await sendsBatch(file, place);
    expect({ after, wrong: place.universe.wrong }).toEqual({ after, wrong: [] });
  }
});

// The ledger trusts operating-system locks and records whatever a process tells it. Once it rejects the
// record of a process that no longer holds the operation, this passes: then make it a normal test.
test("a process that was taken for dead does not record over the outcome of the next one", async () => {
  const unsent = fault("not sent");
  const faults = [unsent, undefined, undefined, ...Array(4).fill(unsent)];
  const place = await stage({ faults, believedDeadMs: 60_000 });
  let points = 0;
  place.universe.atPoint = async (tool) => {
    points += 1;
    const isAfterFirstAttempt = points === 2;
    if (isAfterFirstAttempt && tool.sends === 0)
      expect((await payout(order, place)).ended.code).toBe(0);
  };
  await payout(order, place);
  expect(place.universe.service.payouts).toHaveLength(1);
  expect(await place.operations()).toMatchObject([{ state: "CONFIRMED" }]);
});

// The check of a plan leaves out rows of its own references, also those that another account planned, and the
// claim of a row does not check again. Once it does, this passes: then make it a normal test.
test("a file that the new key sends between the plan and the first row of the old key is paid once", async () => {
  const files = [{ rows: [{ amount: 0, to: 0, spelling: 0 }], concurrency: 1 }];
  const command = { does: "batch", file: 0, allowDuplicates: false } as const;
  const rotate = { does: "rotate", revokes: false, thenFile: 0 } as const;
  const meanwhile = { call: 0, command: rotate, at: "ledger" } as const;
  const script: Step[] = [{ command, reruns: 0, gapMs: 0, meanwhile }];
  const production = { ...nothing, environment: "production", referencesPerKey: true } as const;
  const { wrong } = await simulate({ ...production, files, script }, noSums());
  expect(wrong).toEqual([]);
});
