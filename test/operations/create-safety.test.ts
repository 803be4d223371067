import { expect, test } from "vitest";
import { cancel, payment, refund, resolveOperation } from "../simulator/commands.ts";
import { kindNames } from "../simulator/faults.ts";
import { fault, stage } from "../simulator/stage.ts";

const paymentOrder = { does: "payment", amount: 0, description: 0, again: false } as const;
const refundOrder = { does: "refund", payment: 0, amount: 2, again: false } as const;

test.each(kindNames)("a payment is sent at most once: %s", async (kind) => {
  for (const acts of [false, true]) {
    const place = await stage({ faults: Array(4).fill(fault(kind, { acts })) });
    const { tool } = await payment(paymentOrder, place);
    expect(tool.sends).toBeLessThanOrEqual(1);
  }
});

test.each(kindNames)("a refund is sent at most once: %s", async (kind) => {
  for (const acts of [false, true]) {
    const faults = [undefined, ...Array(4).fill(fault(kind, { acts }))];
    const { tool } = await refund(refundOrder, await stage({ faults }));
    expect(tool.sends).toBeLessThanOrEqual(1);
  }
});

test("a loop that repeats a refund of unknown outcome refunds once", async () => {
  const place = await stage({ faults: [undefined, fault("reset", { acts: true })] });
  const codes: unknown[] = [];
  for (let round = 0; round < 3; round += 1)
    codes.push((await refund({ ...refundOrder, payment: 0, amount: 0 }, place)).ended.code);
  expect(codes).toEqual([75, 3, 3]);
  expect(place.universe.service.refunds).toHaveLength(1);
});

test("an uncertain payment is created again only with --again", async () => {
  const place = await stage({ faults: [fault("timeout")] });
  const codes: unknown[] = [];
  for (const again of [false, false, true])
    codes.push((await payment({ ...paymentOrder, again }, place)).ended.code);
  expect(codes).toEqual([75, 3, 0]);
});

test("a refund of unknown outcome counts as refunded", async () => {
  const place = await stage({ faults: [undefined, fault("reset", { acts: true })] });
  const first = await refund({ ...refundOrder, amount: 2 }, place);
  const second = await refund({ ...refundOrder, amount: 0 }, place);
  expect([first.ended.code, second.ended.code]).toEqual([75, 3]);
});

test("a payment that is not Completed is not refunded", async () => {
  const place = await stage();
  for (const one of place.universe.service.payments) one.status = "Processing";
  const { ended, tool } = await refund(refundOrder, place);
  expect([ended.code, tool.sends]).toEqual([3, 0]);
});

test("a cancelled refund may be created again", async () => {
  const place = await stage();
  await refund(refundOrder, place);
  const [made] = place.universe.service.refunds;
  expect((await cancel(made?.refundRequestId ?? "", place)).ended.code).toBe(0);
  expect((await refund(refundOrder, place)).ended.code).toBe(0);
});

test("a record of another amount is not adopted", async () => {
  const place = await stage({ faults: [fault("timeout")] });
  await payment(paymentOrder, place);
  place.universe.service.seedPayment("TX-OTHER", 1, place.universe.timeline.now());
  const [open] = await place.operations();
  const finding = { created: "TX-OTHER" };
  const { ended } = await resolveOperation(
    { id: open?.id ?? "", subject: "resolve", finding },
    place,
  );
  expect(ended.code).toBe(5);
  expect(await place.operations()).toMatchObject([{ state: "UNCERTAIN" }]);
});
