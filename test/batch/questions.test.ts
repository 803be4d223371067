import { expect, test } from "vitest";
import { findInLedger } from "../../src/batches/check.ts";
import { dialect } from "../../src/ledger/postgres/driver.ts";
import { RunAccount } from "../../src/ledger/sql/accounts.ts";
import type { Driver } from "../../src/ledger/sql/driver.ts";
import { createOverlaps } from "../../src/ledger/sql/overlaps.ts";
import { runNow } from "../../src/ledger/sql/work.ts";
import { owner } from "../ledger/small-ledger.ts";

test("the rows of a file are compared with the ledger in two round trips for 2,000 rows", async () => {
  const account = { number: 1n, name: "default", is_own: 1n };
  const trips: string[][] = [];
  const read: Driver["read"] = async (work) =>
    runNow(work(), (statements) => {
      trips.push(statements.map(({ given }) => (given ? String(given.rows.length) : "")));
      return statements.map(({ sql }) => (sql.includes("lenden.account_keys") ? [account] : []));
    });
  const ledger = createOverlaps({ dialect, read }, owner, new RunAccount(owner));
  const rows = Array.from({ length: 4_500 }, (_, index) => ({
    line: index + 2,
    reference: `R-${index}`,
    amountPaisa: 100n,
    recipient: "01712345678",
    methodId: "bkash",
  }));
  await findInLedger(rows, ledger, { since: "2026-11-28T00:00:00.000Z" });
  const [newestEvent, accounts, ...compared] = trips;
  expect([newestEvent, accounts]).toEqual([[""], [""]]);
  expect(compared).toEqual(["2000", "2000", "2000", "2000", "500", "500"].map((n) => [n, n]));
});
