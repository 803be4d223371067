import { expect, test } from "vitest";
import { scheduled } from "./scheduled.ts";

function counted() {
  let points = 0;
  const rows = { first: () => 1, all: async () => [1] };
  const ledger = scheduled(
    {
      find: (id: string) => id,
      claim: async (id: string) => id,
      fail: () => Promise.reject(new Error("the disk is full")),
      batches: rows,
      async *list() {
        yield* [1, 2];
      },
    },
    {
      awaited: new Set(),
      point: async () => {
        points += 1;
      },
    },
  );
  return { ledger, points: () => points };
}

test("a synchronous ledger call is no scheduling point", () => {
  const { ledger, points } = counted();
  expect([ledger.find("OP1"), ledger.batches.first(), points()]).toEqual(["OP1", 1, 0]);
});

test("other processes can run before and after an awaited ledger call", async () => {
  const { ledger, points } = counted();
  expect([await ledger.claim("OP1"), points()]).toEqual(["OP1", 2]);
});

test("a ledger call that fails is a scheduling point, too", async () => {
  const { ledger, points } = counted();
  await expect(ledger.fail()).rejects.toThrow("the disk is full");
  expect(points()).toBe(2);
});

test("the awaited calls of a ledger's batches are scheduling points", async () => {
  const { ledger, points } = counted();
  expect([await ledger.batches.all(), points()]).toEqual([[1], 2]);
});

test("other processes can run before each item of an asynchronous list", async () => {
  const { ledger, points } = counted();
  const items: number[] = [];
  for await (const item of ledger.list()) items.push(item);
  expect([items, points()]).toEqual([[1, 2], 2]);
});
