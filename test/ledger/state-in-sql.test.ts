import { expect, test } from "vitest";
import { isFreeInSql, isUsedUpInSql } from "../../src/ledger/state-in-sql.ts";
import { openDatabase } from "../../src/sqlite/open.ts";
import { isFree, isUsedUp, states } from "../../src/state.ts";

const all = states.flatMap((state) =>
  [null, "Processing", "Completed", "Cancelled"].flatMap((status) =>
    [null, "access", "refused"].map((code) => ({ state, status, code })),
  ),
);

test("whether a reference may go out again is the same in the ledger's SQL as everywhere else", async () => {
  const database = await openDatabase(":memory:");
  const asked = database.prepare(
    `SELECT ${isFreeInSql} AS free, ${isUsedUpInSql} AS usedUp
     FROM (SELECT ? AS state, ? AS status, ? AS code) o`,
  );
  for (const one of all) {
    const { state, status, code } = one;
    const told = asked.get(state, status, code);
    expect([one, told]).toEqual([
      one,
      { free: isFree(one) ? 1n : 0n, usedUp: isUsedUp(one) ? 1n : 0n },
    ]);
  }
  expect(all.filter(isFree).length).toBeGreaterThan(0);
  expect(all.filter((one) => isFree(one) && isUsedUp(one))).toEqual([]);
  database.close();
});
