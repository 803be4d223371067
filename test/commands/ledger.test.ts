import Sqlite from "libsql";
import { expect, test } from "vitest";
import { errorOf } from "../support/lenden.ts";
import { openMerchant, payoutNumber } from "../support/merchant.ts";
import { busyMerchant } from "./busy-merchant.ts";

test("ledger show and ledger export show everything except secrets", async () => {
  const { merchant, payouts } = await busyMerchant();
  const shown = await merchant.json(["ledger", "show", "REF-1"]);
  expect(shown).toMatchObject({
    remoteId: payouts[0],
    amount: "5",
    command: "payout send",
    methodName: "bkash",
    request: { recipientNumber: "01712345678" },
  });
  expect(shown.history).toMatchObject([
    { event: "intent" },
    { event: "attempt", data: { state: "CONFIRMED", remoteId: payouts[0] } },
  ]);
  const toWhom = await merchant.lenden(["ledger", "show", "REF-1"]);
  expect(toWhom.stdout).toMatch(/^ {2}To +01712345678$/m);
  const csv = await merchant.lenden(["ledger", "export"]);
  expect(csv.stdout.trim().split(/\r?\n/)).toHaveLength(6);
  const ndjson = await merchant.lenden(["ledger", "export", "-o", "ndjson"]);
  const rows = ndjson.stdout
    .trim()
    .split("\n")
    .map((line): { kind: string; methodName: string | null } => JSON.parse(line));
  expect(rows.map(({ kind, methodName }) => [kind, methodName])).toEqual([
    ["payment", "bkash"],
    ["payment", "bkash"],
    ["payout", "bkash"],
    ["payout", "bkash"],
    ["refund", null],
  ]);
  const card = await merchant.lenden(["ledger", "show", "@last"]);
  for (const text of [csv.stdout, ndjson.stdout, card.stdout, JSON.stringify(shown)]) {
    expect(text).not.toContain(merchant.apiKey);
    expect(text).not.toContain(merchant.env.LENDEN_PAYOUT_SECRET);
  }
});

test("ledger check ends with 1 if an index lacks a row of its table", async () => {
  const { merchant } = await busyMerchant();
  // Each entry of the index is looked for under another value now, as if it had never been written.
  // Only libsql writes the schema on every Node: node:sqlite protects it from version 24 on.
  const ledger = new Sqlite(merchant.ledgerFile);
  ledger.exec("PRAGMA writable_schema = ON");
  ledger.exec(
    "UPDATE sqlite_schema SET sql = replace(sql, '(target, kind', '(profile, kind') WHERE name = 'by_target'",
  );
  ledger.close();
  const { code, stdout } = await merchant.lenden(["ledger", "check", "--json"]);
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, holds: false, brokenAt: null });
  expect(JSON.parse(stdout).damage[0]).toMatch(/index by_target/);
});

test("nothing is sent with a ledger whose trigger reads what only SQLite itself may read", async () => {
  const merchant = await openMerchant();
  expect(await merchant.lenden(payoutNumber(1, "A"))).toMatchObject({ code: 0 });
  await merchant.inLedger((ledger) =>
    ledger.exec(`
      CREATE TRIGGER added AFTER INSERT ON operations BEGIN
        UPDATE operations SET message = (SELECT file FROM pragma_database_list)
          WHERE number = new.number;
      END`),
  );
  const sent = await merchant.lenden([...payoutNumber(2, "B"), "--json"]);
  expect([sent.code, errorOf(sent)]).toMatchObject([1, { effect: "nothing-sent" }]);
  expect(await merchant.count("payouts")).toBe(1);
});
