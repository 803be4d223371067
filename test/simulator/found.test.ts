import { expect, test } from "vitest";
import { sendsBatch } from "./batch-run.ts";
import { cancel, orderOf, payout, refund, resolveOperation } from "./commands.ts";
import type { Step } from "./scenario.ts";
import { noSums, simulate } from "./simulate.ts";
import { fault, nothing, stage } from "./stage.ts";

/** Counter-examples of the simulator in their smallest form: bugs of src, and wrong verdicts. */
const order = orderOf({ reference: 0, amount: 1, to: 0 });
const refundOrder = { does: "refund", payment: 0, amount: 0, again: false } as const;

test("a resumed payout is an INTENT while its request is in flight, no longer NOT_SENT", async () => {
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

test("P17b: a rejection does not resolve a payout whose process died in flight", async () => {
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

test("I3: a payout is retried at least ten seconds after its process died", async () => {
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

test("a refund in CONFLICT counts as created: the same refund needs --again", async () => {
  const place = await stage({ faults: [undefined, fault("other amount", { acts: true })] });
  expect((await refund(refundOrder, place)).ended.code).toBe(5);
  expect((await refund(refundOrder, place)).ended.code).toBe(3);
  expect(place.universe.service.refunds).toHaveLength(1);
});

test("a cancellation succeeds if its response is lost and the retry is rejected", async () => {
  const place = await stage();
  await refund(refundOrder, place);
  const unread = Array(3).fill(fault("reset"));
  const lost = fault("reset", { acts: true });
  const again = await stage({ faults: [undefined, undefined, lost, ...unread] });
  await refund(refundOrder, again);
  const id = again.universe.service.refunds[0]?.refundRequestId ?? "";
  const { ended } = await cancel(id, again);
  expect(again.universe.service.refunds[0]?.status).toBe("Cancelled");
  expect(ended.code).toBe(0);
});

test("an accepted cancellation is not reported as unsent if its status check fails", async () => {
  const unread = Array(3).fill(fault("reset"));
  const place = await stage({ faults: [undefined, undefined, undefined, ...unread] });
  await refund(refundOrder, place);
  const id = place.universe.service.refunds[0]?.refundRequestId ?? "";
  const { ended } = await cancel(id, place);
  expect(place.universe.service.refunds[0]?.status).toBe("Cancelled");
  expect([0, 75]).toContain(ended.code);
});

test("a late cancellation does not change a completed refund", async () => {
  const ends = { does: "end", resource: "refund", status: "Completed" } as const;
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const script: Step[] = [refundOrder, ends, { does: "cancel" } as const].map((command) => ({
    ...step,
    command,
  }));
  const faults = [undefined, undefined, fault("late", { lateMs: 41 })];
  const { wrong } = await simulate({ ...nothing, script, faults }, noSums());
  expect(wrong).toEqual([]);
});

test("a refund ends 5 if the record of another one of its payment is false", async () => {
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const another = { ...refundOrder, amount: 1 };
  const script: Step[] = [refundOrder, { does: "cancel" } as const, another].map((command) => ({
    ...step,
    command,
  }));
  const faults = [undefined, undefined, undefined, fault("other reference")];
  const { wrong, trace } = await simulate({ ...nothing, script, faults }, noSums());
  expect(wrong).toEqual([]);
  expect(trace).toContainEqual(expect.stringMatching(/refund TX-PAID-1 200.5\) ended 5/));
});

test("P4: an operation of a running process cannot be declared not created", async () => {
  const place = await stage();
  let code: unknown;
  place.network.meanwhile = async (tool) => {
    if (tool.sends === 0) return;
    place.network.meanwhile = async () => {};
    const id = (await place.operations())[0]?.id ?? "";
    code = (await resolveOperation({ id, subject: "resolve", finding: "not created" }, place)).ended
      .code;
  };
  await refund(refundOrder, place);
  expect(code).toBe(7);
});

test("P16: a payout to another recipient is not adopted", async () => {
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
  const { ended } = await resolveOperation({ id, subject: "resolve", finding }, place);
  expect(ended.code).toBe(5);
});

test("a ledger error after a payout was resent does not end with exit 1", async () => {
  const place = await stage({ faults: Array(5).fill(fault("reset")), diskErrors: [] });
  await payout(order, place);
  place.universe.timeline.advance(20_000);
  const id = (await place.operations())[0]?.id ?? "";
  place.network.meanwhile = async ({ sends }) => {
    if (sends > 0) place.universe.failsDisk = () => true;
  };
  const { ended, tool } = await resolveOperation(
    { id, subject: "resolve", finding: undefined },
    place,
  );
  expect(tool.sends).toBe(1);
  expect(ended.code).not.toBe(1);
});

test("a payout does not wait for hours after the clock was set back", async () => {
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

test("P25: the dashboard is compared with the recorded payout, not with an order that was never recorded", async () => {
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

test("a file is paid once if it is sent with a new key while the old key still sends it", async () => {
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

test("a process that was taken for dead does not overwrite the outcome of the next one", async () => {
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

test("equal rows of a file are sent with a new key too, once their duplicates are accepted again", async () => {
  const rows = [0, 0].map((amount) => ({ amount, to: 0, spelling: 0 }));
  const place = await stage({
    environment: "production",
    files: [{ rows, concurrency: 1 }],
    stops: [0],
  });
  const { player, universe } = place;
  await player.batch(0, { allowDuplicates: true });
  universe.calm();
  universe.rotatesKey({ revokes: false });
  expect(await player.batch(0, { allowDuplicates: false })).toBe(2);
  expect(await player.batch(0, { allowDuplicates: true })).toBe(0);
  expect(universe.service.payouts).toHaveLength(2);
});
