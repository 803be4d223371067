import { beforeAll, beforeEach, expect, test } from "vitest";
import { batchColumns, operationColumns, rowColumns } from "./altered-columns.ts";
import {
  dayOf,
  type Filled,
  liveDay,
  openFileShop,
  opening,
  type Shop,
  unordered,
} from "./shop.ts";

let shop: Shop;
let filled: Filled;

beforeAll(() =>
  opening(async (atEnd) => {
    ({ shop, filled } = await openFileShop(atEnd));
  }),
);
beforeEach(() => shop.reset());

test("a ledger that was not altered sends what was ordered", async () => {
  const outcomes = await liveDay(shop, filled);
  expect(outcomes.map(({ code }) => code)).toEqual(dayOf(filled).map(([, code]) => code));
  expect(unordered(shop.moved())).toEqual([]);
  expect(shop.moved()).toHaveLength(6);
});

// The shop is one in production, and its payouts have the references PAID-1 and UNKNOWN-1.
const newValue = (column: string, value: string) =>
  column === "environment" ? "'sandbox'" : value.replaceAll("017123456", "017110000");

/** A claim finds what it may repeat by these columns. On a server no colleague may change them, in a file a trigger keeps them. */
const lookups = ["kind", "environment", "amount_paisa", "recipient_key", "target"];

const ofOperations = operationColumns
  .filter(([column]) => !lookups.includes(column))
  .flatMap(([column, value, kind]) =>
    (kind === "payout"
      ? ["reference = 'PAID-1'", "reference = 'UNKNOWN-1'"]
      : ["kind = 'refund'"]
    ).map(
      (which) => `UPDATE operations SET "${column}" = ${newValue(column, value)} WHERE ${which}`,
    ),
  );
const newest = (column: string) => `(SELECT ${column} FROM batches)`;
const ofBatches = batchColumns.map(
  ([column, value]) => `UPDATE batches SET "${column}" = ${newValue(column, value)}
    WHERE number = ${newest("max(number)")}`,
);
const ofRows = rowColumns.map(
  ([column, value]) => `UPDATE batch_rows SET "${column}" = ${value} WHERE reference = 'JUNE-3'`,
);

test.each([...ofOperations, ...ofBatches, ...ofRows])(
  "nothing is paid again after %s",
  async (sql) => {
    await shop.alter(sql);
    const outcomes = await liveDay(shop, filled);
    expect([unordered(shop.moved()), outcomes.map(({ code }) => code)]).toEqual([
      [],
      expect.anything(),
    ]);
  },
);
