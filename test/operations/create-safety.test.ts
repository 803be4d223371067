import { expect, test } from "vitest";
import { payment, refund } from "../simulator/commands.ts";
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

test("an uncertain payment is created again only with --again", async () => {
  const place = await stage({ faults: [fault("timeout")] });
  const codes: unknown[] = [];
  for (const again of [false, false, true])
    codes.push((await payment({ ...paymentOrder, again }, place)).ended.code);
  expect(codes).toEqual([75, 3, 0]);
});
