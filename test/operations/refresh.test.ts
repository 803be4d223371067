import { expect, test } from "vitest";
import type { Operation } from "../../src/ledger/operation.ts";
import { payoutIntent } from "../../src/operations/payout/claim.ts";
import { refreshStatus } from "../../src/operations/refresh.ts";
import { claimed } from "../ledger/small-ledger.ts";
import { collect } from "../support/helpers.ts";
import { created, data, order, recordOutcome, refused, scripted, unsent } from "./scripted.ts";

const record = { ...created, recipientNumber: order.recipientNumber };

/** So many payouts of one ledger, each confirmed as PO1, PO2, … */
async function confirmed(count: number, script: Parameters<typeof scripted>[0]) {
  const run = scripted(script);
  const ledger = await run.ledger();
  const orders = Array.from({ length: count }, (_, index) => ({
    ...order,
    reference: `INV-${index + 1}`,
  }));
  for (const [index, one] of orders.entries()) {
    const outcome = {
      state: "CONFIRMED",
      remoteId: `PO${index + 1}`,
      status: "Processing",
    } as const;
    await recordOutcome(ledger, await claimed(ledger, payoutIntent(one)), {
      ...outcome,
      sent: true,
    });
  }
  const operations = async (): Promise<Operation[]> =>
    collect(ledger.list("payout", { oldestFirst: true }));
  return { ...run, operations };
}

test("records changed statuses and counts payouts that are still open", async () => {
  const { operations, deps } = await confirmed(2, {
    retrievePayout: [
      data({ ...record, merchantRef: "INV-1", status: "Completed" }),
      data({ ...record, merchantRef: "INV-2" }),
    ],
  });
  expect(await refreshStatus(await operations(), deps)).toEqual({
    open: 1,
    unseen: undefined,
    conflict: undefined,
    isCutShort: false,
  });
  expect((await operations()).map(({ status }) => status)).toEqual(["Completed", "Processing"]);
});

test("a recipient that cannot be compared is not a conflict", async () => {
  const hidden = data({ ...record, merchantRef: "INV-1", recipientNumber: "hidden" });
  const { operations, deps } = await confirmed(1, { retrievePayout: [hidden] });
  await refreshStatus(await operations(), deps);
  expect(await operations()).toMatchObject([{ state: "CONFIRMED" }]);
});

test("an unknown ID does not stop the other status checks", async () => {
  const { operations, deps } = await confirmed(2, {
    retrievePayout: [
      refused("unknown id", 404),
      data({ ...record, merchantRef: "INV-2", status: "Completed" }),
    ],
  });
  const { open, unseen } = await refreshStatus(await operations(), deps);
  expect([open, unseen?.kind]).toEqual([1, "not-found"]);
  expect((await operations()).map(({ status }) => status)).toEqual(["Processing", "Completed"]);
});

test("stops the status checks if the API does not respond", async () => {
  const { operations, of, deps } = await confirmed(60, {
    retrievePayout: Array(60).fill(unsent("connection refused")),
  });
  expect(await refreshStatus(await operations(), deps)).toMatchObject({
    unseen: { kind: "unreachable" },
  });
  expect(of("retrievePayout").length).toBeLessThan(20);
});

test("reports status checks that --timeout cut short, but not those that a signal did", async () => {
  for (const isOutOfTime of [true, false]) {
    const { operations, deps, of } = await confirmed(2, {});
    const over = { ...deps, isStopping: () => true, isOutOfTime: () => isOutOfTime };
    const { unseen, isCutShort } = await refreshStatus(await operations(), over);
    expect([unseen?.kind, isCutShort, of("retrievePayout")]).toEqual([
      isOutOfTime ? "unreachable" : undefined,
      true,
      [],
    ]);
  }
});
