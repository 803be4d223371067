import { expect, test } from "vitest";
import { orderOf, payout, refund } from "./commands.ts";
import { fault, stage } from "./stage.ts";

const order = orderOf({ reference: 0, amount: 1, to: 0 });
const lost = fault("reset", { acts: true });

test("P17b: a rejection leaves the outcome of an earlier attempt unknown", async () => {
  const place = await stage({ faults: [lost, fault("refused")] });
  expect((await payout(order, place)).ended.code).toBe(75);
  expect(await place.operations()).toMatchObject([{ state: "UNCERTAIN" }]);
  expect(place.universe.service.payouts).toHaveLength(1);
});

test("P12: attempts that never left leave the outcome of an earlier attempt unknown", async () => {
  const place = await stage({ faults: [lost, ...Array(4).fill(fault("not sent"))] });
  expect((await payout(order, place)).ended.code).toBe(75);
  expect(await place.operations()).toMatchObject([{ state: "UNCERTAIN" }]);
});

test.each(Array.from({ length: 12 }, (_, pick) => pick))(
  "P14: a page with a 4xx leaves the outcome of a payout and of a refund unknown (page %i)",
  async (pick) => {
    const page = fault("page", { acts: true, pick });
    const paying = await stage({ faults: Array(5).fill(page) });
    expect((await payout(order, paying)).ended.code).toBe(75);
    const refunding = await stage({ faults: [undefined, page] });
    const half = { does: "refund", payment: 0, amount: 0, again: false } as const;
    expect((await refund(half, refunding)).ended.code).toBe(75);
  },
);
