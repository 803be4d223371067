import { expect, test } from "vitest";
import { cancel, payment, refund } from "../simulator/commands.ts";
import { kindNames } from "../simulator/faults.ts";
import { fault, stage } from "../simulator/stage.ts";

const pays = { does: "payment", amount: 0, description: 0, again: false } as const;
const paysBack = { does: "refund", payment: 0, amount: 2, again: false } as const;

test.each(kindNames)("a payment is sent once at most: %s", async (kind) => {
  for (const acts of [false, true]) {
    const place = await stage({ faults: Array(4).fill(fault(kind, { acts })) });
    const { tool } = await payment(pays, place);
    expect(tool.sends).toBeLessThanOrEqual(1);
  }
});

test.each(kindNames)("a refund is sent once at most: %s", async (kind) => {
  for (const acts of [false, true]) {
    const faults = [undefined, ...Array(4).fill(fault(kind, { acts }))];
    const { tool } = await refund(paysBack, await stage({ faults }));
    expect(tool.sends).toBeLessThanOrEqual(1);
  }
});

test("a loop that repeats a refund of unknown outcome refunds once", async () => {
  const place = await stage({ faults: [undefined, fault("reset", { acts: true })] });
  const codes: unknown[] = [];
  for (let round = 0; round < 3; round += 1)
    codes.push((await refund({ ...paysBack, payment: 0, amount: 0 }, place)).ended.code);
  expect(codes).toEqual([75, 3, 3]);
  expect(place.universe.service.refunds).toHaveLength(1);
});

test("an uncertain payment is not made again without --again, and is with it", async () => {
  const place = await stage({ faults: [fault("timeout")] });
  const codes: unknown[] = [];
  for (const again of [false, false, true])
    codes.push((await payment({ ...pays, again }, place)).ended.code);
  expect(codes).toEqual([75, 3, 0]);
});

test("a refund of unknown outcome counts as refunded", async () => {
  const place = await stage({ faults: [undefined, fault("reset", { acts: true })] });
  const first = await refund({ ...paysBack, amount: 2 }, place);
  const second = await refund({ ...paysBack, amount: 0 }, place);
  expect([first.ended.code, second.ended.code]).toEqual([75, 3]);
});

test("a payment that is not Completed is not refunded", async () => {
  const place = await stage();
  for (const one of place.universe.service.payments) one.status = "Processing";
  const { ended, tool } = await refund(paysBack, place);
  expect([ended.code, tool.sends]).toEqual([3, 0]);
});

test("a cancelled refund may be made again", async () => {
  const place = await stage();
  await refund(paysBack, place);
  const [made] = place.universe.service.refunds;
  expect((await cancel(made?.refundRequestId ?? "", place)).ended.code).toBe(0);
  expect((await refund(paysBack, place)).ended.code).toBe(0);
});

test("a record of another amount is not adopted", async () => {
  const place = await stage({ faults: [fault("timeout")] });
  await payment(pays, place);
  place.universe.service.seedPayment("TX-OTHER", 1, place.universe.timeline.now());
  const [open] = await place.operations();
  const { settle } = await import("../simulator/commands.ts");
  const finding = { created: "TX-OTHER" };
  const { ended } = await settle({ id: open?.id ?? "", subject: "resolve", finding }, place);
  expect(ended.code).toBe(5);
  expect(await place.operations()).toMatchObject([{ state: "UNCERTAIN" }]);
});
