import { expect, test } from "vitest";
import { openSupply } from "../../src/batch/supply.ts";
import type { PlannedPayout } from "../../src/ledger/batches/batch.ts";
import type { Claim } from "../../src/ledger/claiming.ts";
import { claim, memoryLedger, payout } from "../ledger/small-ledger.ts";

test("hands rows out in their order, each with its own claim, and ends when there are no more", async () => {
  for (const count of [0, 1, 4, 5, 8, 23]) {
    const { supply } = await supplied(count);
    const taken = await all(supply);
    expect(taken).toEqual(rows(count).map(({ reference }) => [reference, reference]));
    expect(await supply.next()).toBeUndefined();
  }
});

test("claims a page in one go, and the next one while a few are left", async () => {
  const { supply, pages } = await supplied(100);
  const taken = [];
  for (let count = 1; count <= 9; count += 1) {
    await supply.next();
    taken.push(pages.map((page) => page.length));
  }
  expect(taken.slice(0, 2)).toEqual([[4], [4]]);
  expect(taken.at(-1)?.every((length) => length === 4)).toBe(true);
  expect(pages.flat()).toEqual(rows(pages.length * 4).map(({ reference }) => reference));
});

test("many that ask at once get a row each, and no page is claimed twice", async () => {
  const { supply, pages } = await supplied(50);
  const taken = await Promise.all(Array.from({ length: 60 }, () => supply.next()));
  const references = taken.flatMap((one) => (one ? [one.row.reference] : []));
  expect(references.sort()).toEqual(
    rows(50)
      .map(({ reference }) => reference)
      .sort(),
  );
  expect(new Set(pages.flat()).size).toBe(50);
});

test("P22: once it is over no further page is claimed, and what is claimed is still handed out", async () => {
  const state = { isOver: false };
  const { supply, pages } = await supplied(100, { isOver: () => state.isOver });
  await supply.next();
  state.isOver = true;
  const left = await all(supply);
  expect(1 + left.length).toBe(pages.flat().length);
  expect(pages.flat().length).toBeLessThan(12);
});

test.each(["the claims", "the rows"])(
  "I4: an error in %s is told to everybody who asks, and nothing is handed out after it",
  async (where) => {
    const broken = new Error("the disk is full");
    const { supply } = await supplied(100, { where, broken });
    const taken: unknown[] = [];
    for (let count = 0; count < 20; count += 1)
      taken.push(await supply.next().catch((error: unknown) => error));
    const first = taken.indexOf(broken);
    expect(first).toBeLessThan(12);
    expect(taken.slice(first).every((one) => one === broken)).toBe(true);
  },
);

interface Wishes {
  isOver?: () => boolean;
  /** What fails from the ninth row on, and how. */
  where?: string;
  broken?: Error;
}

/** A supply of so many rows, four a page, claimed in a ledger of its own. */
async function supplied(count: number, { isOver = () => false, where, broken }: Wishes = {}) {
  const { ledger } = await memoryLedger();
  const pages: string[][] = [];
  const claimed = async (page: PlannedPayout[]): Promise<Claim[]> => {
    const references = page.map(({ reference }) => reference);
    pages.push(references);
    await new Promise(setImmediate);
    if (where === "the claims" && broken && references.includes("R-9")) throw broken;
    return references.map((reference) => claim(ledger, payout(reference)));
  };
  const options = { pageSize: 4, fewest: 2, claim: claimed, isOver };
  return { supply: openSupply(given(), options), pages };

  function* given(): Generator<PlannedPayout> {
    for (const row of rows(count)) {
      if (where === "the rows" && broken && row.reference === "R-9") throw broken;
      yield row;
    }
  }
}

async function all(supply: Awaited<ReturnType<typeof supplied>>["supply"]) {
  const taken: unknown[] = [];
  for (let next = await supply.next(); next; next = await supply.next())
    taken.push([next.row.reference, next.claim.operation.reference]);
  return taken;
}

function rows(count: number): PlannedPayout[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ line: index + 2, reference: `R-${index + 1}`, amountPaisa: 100n, methodId: "M1" },
    ...{ recipient: "01712345678", name: null, description: null },
  }));
}
