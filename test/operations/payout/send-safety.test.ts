import { expect, test } from "vitest";
import { orderOf, payout } from "../../simulator/commands.ts";
import { fault, stage } from "../../simulator/stage.ts";

const order = orderOf({ reference: 0, amount: 1, to: 0 });
const otherAmount = orderOf({ reference: 0, amount: 0, to: 0 });
const otherRecipient = orderOf({ reference: 0, amount: 1, to: 1 });

test("P4: a second process with the same reference sends nothing and shows who holds it", async () => {
  const place = await stage();
  const codes: unknown[] = [];
  place.network.meanwhile = async (tool) => {
    place.network.meanwhile = async () => {};
    const second = await payout(order, place);
    codes.push(second.ended.code, second.ended.says.includes(String(tool.pid)), second.tool.sends);
  };
  expect((await payout(order, place)).ended.code).toBe(0);
  expect(codes).toEqual([7, true, 0]);
});

test("P5, P16: a completed payout whose record has another recipient becomes a conflict", async () => {
  const place = await stage();
  await payout(order, place);
  const [own] = place.universe.service.payouts;
  Object.assign(own ?? {}, { recipientNumber: otherRecipient.recipientNumber });
  const { ended, tool } = await payout(order, place);
  expect([ended.code, tool.sends]).toEqual([5, 0]);
  expect(await place.operations()).toMatchObject([{ state: "CONFLICT", code: "record-differs" }]);
});

test.each([
  ["amount", otherAmount],
  ["recipient", otherRecipient],
  ["method", { ...order, paymentMethodId: "nagad" }],
])("I2, P6: a reference of unknown outcome is not sent with another %s", async (_, other) => {
  const place = await stage({ faults: Array(5).fill(fault("reset")) });
  await payout(order, place);
  const { ended, tool } = await payout(other, place);
  expect([ended.code, tool.sends]).toEqual([5, 0]);
  expect(await place.operations()).toMatchObject([{ state: "UNCERTAIN" }]);
});

test("P7: a disk that is full when the intent is written means that nothing is sent", async () => {
  let hasSent = false;
  let failures = 0;
  for (; !hasSent; failures += 1) {
    const place = await stage({ diskErrors: [failures] });
    const { ended, tool } = await payout(order, place);
    hasSent = tool.sends > 0;
    if (!hasSent) expect([ended.code, await place.operations()]).toEqual([1, []]);
  }
  expect(failures).toBeGreaterThan(10);
});

test("P8: a death before the intent is durable means that nothing was sent", async () => {
  const place = await stage({ crashes: [{ after: 8, power: true }] });
  const { tool, ended } = await payout(order, place);
  place.universe.disk.losePower();
  expect([ended.code, tool.sends, (await place.operations()).length]).toEqual(["killed", 0, 0]);
});

test("P9, P13: after a crash the next run finds the payout that was created", async () => {
  let deaths = 0;
  for (let after = 0; ; after += 1) {
    const place = await stage({ crashes: [{ after, power: true }] });
    const first = await payout(order, place);
    if (first.ended.code !== "killed") break;
    if (first.tool.made.length === 0) continue;
    deaths += 1;
    place.universe.disk.losePower();
    const isRecorded = (await place.operations())[0]?.state === "CONFIRMED";
    place.universe.timeline.advance(20_000);
    const second = await payout(order, place);
    expect(second.ended).toMatchObject({ code: 0, result: { existing: true } });
    expect(place.universe.service.payouts).toHaveLength(1);
    if (isRecorded) expect(second.tool.sends).toBe(0);
  }
  expect(deaths).toBeGreaterThan(5);
});

test("P13: the next attempt returns a payout whose response was lost", async () => {
  const place = await stage({ faults: [fault("reset", { acts: true })] });
  const { ended } = await payout(order, place);
  expect(ended.code).toBe(0);
  expect(await place.operations()).toMatchObject([{ state: "CONFIRMED", attempts: 2 }]);
});

test("P21: if the ledger fails at the end, the outcome is unknown until the next run", async () => {
  const place = await stage({ diskErrors: [20] });
  const first = await payout(order, place);
  expect(first.ended).toMatchObject({ code: 75 });
  expect(first.ended.says).toContain("INV-1 (CONFIRMED, PO1)");
  const second = await payout(order, place);
  expect(second.ended.code).toBe(0);
  expect(await place.operations()).toMatchObject([{ state: "CONFIRMED", remoteId: "PO1" }]);
});

test("P24: a new payout in place of a cancelled one is linked to it in the ledger", async () => {
  const place = await stage();
  await payout(order, place);
  for (const one of place.universe.service.payouts) one.status = "Cancelled";
  await payout(order, place); // looks, and sees that it was cancelled
  await payout({ ...order, reference: "AGAIN" }, place);
  const [first, second] = await place.operations();
  expect(second).toMatchObject({ reference: "AGAIN", state: "CONFIRMED", target: first?.id });
});

test("P25: the 24 hours start with the first request that may have been sent", async () => {
  const place = await stage({
    faults: [...Array(5).fill(fault("not sent")), ...Array(5).fill(fault("reset", { acts: true }))],
  });
  const codes = [(await payout(order, place)).ended.code];
  place.universe.timeline.advance(48 * 3_600_000);
  codes.push((await payout(order, place)).ended.code, (await payout(order, place)).ended.code);
  expect(codes).toEqual([69, 75, 0]);
  expect(place.universe.service.payouts).toHaveLength(1);
});

test("I3: an unknown outcome of another run is not retried for ten seconds", async () => {
  const place = await stage({ faults: Array(5).fill(fault("server error")) });
  await payout(order, place);
  const endedMs = place.universe.timeline.now();
  let sentMs = 0;
  place.network.meanwhile = async () => {
    sentMs ||= place.universe.timeline.now();
  };
  expect((await payout(order, place)).ended.code).toBe(0);
  expect(sentMs - endedMs).toBeGreaterThanOrEqual(9_900);
});

test("I4: a ledger that fails between two attempts stops the sending", async () => {
  const place = await stage({ faults: [fault("reset"), fault("reset")], diskErrors: [19] });
  const { ended, tool } = await payout(order, place);
  expect([ended.code, tool.sends]).toEqual([75, 1]);
});

test("I3: after a timeout the reference rests for ten seconds, in this run and the next", async () => {
  const place = await stage({ faults: [fault("timeout"), fault("timeout")] });
  const startedMs = place.universe.timeline.now();
  await payout(order, place);
  expect(place.universe.timeline.now() - startedMs).toBeGreaterThanOrEqual(60_000);
  await payout(order, place);
  expect(place.universe.wrong).toEqual([]);
});
