import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { storedHead } from "../../src/ledger/head.ts";
import { writeHead } from "../../src/ledger/position.ts";
import { Pending } from "../../src/ledger/sql/transaction.ts";
import { integrityOf } from "../../src/ledger/sqlite/integrity.ts";
import { scratchFolder } from "../support/helpers.ts";
import { claim, claimed, memoryLedger, payout, record } from "./small-ledger.ts";

test("each commit has another ID of 12 random bytes", () => {
  const ids = Array.from({ length: 1_000 }, () => new Pending().commitId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => Buffer.from(id, "base64url").length !== 12)).toEqual([]);
});

describe("verify", () => {
  /** The account, its key and three payouts with their outcomes: events 1 to 8. */
  async function filled() {
    const { database, ledger } = await memoryLedger();
    for (const reference of ["A", "B", "C"]) {
      const made = {
        state: "CONFIRMED",
        remoteId: `PO${reference}`,
        status: "Processing",
      } as const;
      await record(ledger, await claimed(ledger, payout(reference)), { ...made, sent: true });
    }
    expect(await integrityOf(database)).toMatchObject({ events: 8, brokenAt: null, modified: [] });
    return { database, ledger };
  }

  test.each([1, 2, 3, 4, 5, 6, 7])("finds a deleted event: %i of 8", async (number) => {
    const { database } = await filled();
    database.prepare("DELETE FROM events WHERE number = ?").run(BigInt(number));
    expect((await integrityOf(database)).brokenAt).toBe(number);
    // Also if the gap is closed.
    database.prepare("UPDATE events SET number = number - 1 WHERE number > ?").run(BigInt(number));
    expect((await integrityOf(database)).brokenAt).toBe(number);
  });

  test("finds that the last event was deleted, because its operation differs", async () => {
    const { database, ledger } = await filled();
    database.exec("DELETE FROM events WHERE number = 8");
    expect(await integrityOf(database)).toMatchObject({
      events: 7,
      brokenAt: null,
      modified: [expect.objectContaining({ name: (await ledger.find("C"))?.id })],
    });
  });

  test("finds an inserted event, in the middle and at the end", async () => {
    for (const place of [3n, 8n]) {
      const { database } = await filled();
      database.exec("UPDATE events SET number = number + 100");
      database
        .prepare("UPDATE events SET number = number - 100 WHERE number < ?")
        .run(100n + place);
      database.exec("UPDATE events SET number = number - 99 WHERE number > 100");
      database
        .prepare(
          `INSERT INTO events (number, operation, at, event, data, commit_id, hash, login)
           SELECT ?, operation, at, event, data, commit_id, hash, login FROM events WHERE number = 2`,
        )
        .run(place);
      expect((await integrityOf(database)).brokenAt).toBe(Number(place));
    }
  });

  test("an operation that was resumed, reopened and rejected passes the check", async () => {
    const { database, ledger } = await memoryLedger();
    const first = await claimed(ledger, payout("A"));
    expect((await claim(ledger, payout("A"))).kind).toBe("resumed");
    await record(ledger, first, { state: "NOT_SENT", sent: false, code: "unreachable" });
    expect((await claim(ledger, payout("A"))).kind).toBe("resumed");
    expect((await integrityOf(database)).modified).toEqual([]);
    const half = { state: "UNCERTAIN", sent: true, message: "half \ud800" } as const;
    await ledger.record({ operation: first.number, outcome: half, release: false });
    await record(ledger, first, { state: "UNCERTAIN", sent: true, code: "uncertain" });
    expect((await integrityOf(database)).modified).toEqual([]);
  });
});

test("a ledger that cannot be compared with its stored head is not used", async () => {
  const { database, ledger } = await memoryLedger();
  await claimed(ledger, payout("A"));
  const path = join(scratchFolder(), "head.json");
  writeHead(path, { number: 1n, hash: "h" });
  expect(storedHead(database, path)).toMatchObject({ state: "not-contained" });
  database.exec("PRAGMA foreign_keys = OFF; DROP TABLE events");
  expect(() => storedHead(database, path)).toThrow(/no such table/);
});
