import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFault } from "../../src/api/contract/fault.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built } from "../support/lenden.ts";
import {
  inDatabase,
  type Merchant,
  openMerchantApart,
  paidPayment,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";

const closing: (() => Promise<void>)[] = [];
let merchant: Merchant;

/** A payment, a payout, a refund whose response was lost, a batch and a callback. */
beforeAll(async () => {
  const lost = readFault("createRefund:lost-reply");
  const faults = lost.ok ? [lost.value] : [];
  merchant = await openMerchantApart({ faults }, (close) => void closing.push(close));
  const paid = await paidPayment(merchant);
  await merchant.id(payoutOf("SINGLE"));
  expect(await merchant.built(refundOf(paid, "40"))).toMatchObject({ code: 75 });
  const file = join(scratchFolder(), "payees.csv");
  const rows = ["ROW-1,7,01812345678,bkash,Rahim", "ROW-2,8,01912345678,bkash,"];
  writeFileSync(file, `${["ref,amount,to,method,name", ...rows].join("\n")}\n`);
  expect(await merchant.built(["payout", "batch", "send", file])).toMatchObject({ code: 0 });
  const waited = ["callback", "listen", "--port", "0", "--for", paid];
  expect(await merchant.built(waited)).toMatchObject({ code: 0 });
}, 60_000);
afterAll(async () => {
  for (const close of closing) await close();
});

/** Checks a copy of the ledger after it was changed with plain SQL. */
async function checkAfter(sql: string) {
  const folder = join(scratchFolder(), "data");
  mkdirSync(folder, { mode: 0o700 });
  const copy = join(folder, "ledger.db");
  await merchant.inLedger((ledger) => ledger.prepare("VACUUM INTO ?").run(copy));
  await inDatabase(copy, (ledger) => ledger.exec(`PRAGMA foreign_keys = OFF; ${sql}`));
  const env = { ...merchant.env, LENDEN_DATA_DIR: folder };
  const { code, stdout, stderr } = await built(["ledger", "check", "--json"], { env });
  return { code, report: stdout === "" ? {} : JSON.parse(stdout), stderr };
}

test("an unmodified ledger passes", async () => {
  const { code, report } = await checkAfter("SELECT 1");
  expect({ code, ...report }).toMatchObject({ code: 0, holds: true, modified: [] });
});

const payout = "reference = 'SINGLE'";
const refund = "kind = 'refund'";

describe("a changed column of an operation is detected", () => {
  test.each([
    ["id", "'OP0'", payout],
    ["kind", "'payment'", payout],
    ["profile", "'other'", payout],
    ["environment", "'production'", payout],
    ["account", "NULL", payout],
    ["reference", "'ANOTHER'", payout],
    ["fingerprint", "'f'", payout],
    ["amount_paisa", "amount_paisa + 1", payout],
    ["target", "'TX0'", refund],
    ["asked", `replace(asked, '01712345678', '01712345679')`, payout],
    ["state", "'REFUSED'", payout],
    ["remote_id", "'PO0'", payout],
    ["status", "'Completed'", payout],
    ["code", "'access'", refund],
    ["message", "'The API rejected it.'", refund],
    ["attempts", "attempts + 1", payout],
    ["user", "'other'", payout],
    ["command", "'api'", payout],
    ["created_at", "'2020-01-01T00:00:00.000Z'", payout],
    ["updated_at", "'2020-01-01T00:00:00.000Z'", payout],
    ["reopened_at", "updated_at", payout],
    ["resumed_at", "updated_at", payout],
    ["base_url", "'https://a.example'", payout],
    ["key_hash", "'k'", payout],
    ["actor", "'{}'", payout],
    ["recipient_key", "'01712345679'", payout],
    ["recipient_name", "'Karim'", payout],
    ["method_id", "'0'", payout],
    ["method_name", "'nagad'", payout],
    ["description", "'other'", payout],
    ["batch", "1", payout],
    ["phase", "'free'", payout],
    ["accepted_at", "NULL", payout],
    ["completed_at", "updated_at", payout],
    ["payment_url", "'https://a.example'", payout],
  ])("%s", async (column, value, which) => {
    const { code, report } = await checkAfter(
      `UPDATE operations SET ${column} = ${value} WHERE ${which}`,
    );
    expect({ code, modified: report.modified }).toEqual({
      code: 1,
      modified: [
        expect.objectContaining({ kind: "operation", problem: "changed", columns: [column] }),
      ],
    });
  });
});

describe("a changed column of an event is detected", () => {
  test.each([
    ["operation", "3"],
    ["batch", "1"],
    ["at", "'2020-01-01T00:00:00.000Z'"],
    ["event", "'look'"],
    ["data", "replace(data, '500', '900')"],
    ["commit_id", "'c'"],
    ["hash", "'0'"],
  ])("%s", async (column, value) => {
    const { code, report } = await checkAfter(
      `UPDATE events SET ${column} = ${value} WHERE number =
        (SELECT number FROM events WHERE event = 'intent' AND data LIKE '%SINGLE%')`,
    );
    expect({ code, brokenAt: report.brokenAt }).toEqual({ code: 1, brokenAt: expect.any(Number) });
  });
});

const batchColumns: [string, string][] = [
  ["id", "'B0'"],
  ["profile", "'other'"],
  ["environment", "'production'"],
  ["account", "NULL"],
  ["name", "'other.csv'"],
  ["file_name", "'other.csv'"],
  ["file_hash", "'0'"],
  ["columns", `'["ref"]'`],
  ["method", "'nagad'"],
  ["row_count", "3"],
  ["total_paisa", "total_paisa + 1"],
  ["digest", "'0'"],
  ["identity", "'0'"],
  ["cancelled_at", "created_at"],
  ["user", "'other'"],
  ["created_at", "'2020-01-01T00:00:00.000Z'"],
];
const rowColumns: [string, string][] = [
  ["line", "line + 1"],
  ["reference", "'ANOTHER'"],
  ["amount_paisa", "amount_paisa + 1"],
  ["recipient", "'01512345678'"],
  ["method_id", "'0'"],
  ["method", "'nagad'"],
  ["name", "'Karim'"],
  ["description", "'null'"],
  ["cells", "'[]'"],
  ["fingerprint", "'f'"],
  ["recipient_key", "'01512345678'"],
  ["accepted", "1"],
];

const changeOf = (column: string, sql: string): [string, string, string] => ["batch", column, sql];

describe("a changed batch or account is detected", () => {
  const changed = (name: string) => `UPDATE batches SET ${name}`;
  const changedRow = (name: string) => `UPDATE batch_rows SET ${name}`;
  test.each<[string, string, string]>([
    ...batchColumns.map(([name, value]) => changeOf(name, `${changed(name)} = ${value}`)),
    ...rowColumns.map(([name, value]) =>
      changeOf("rows", `${changedRow(name)} = ${value} WHERE row = 1`),
    ),
    ["batch", "rows", "DELETE FROM batch_rows WHERE row = 2"],
    [
      "batch",
      "rows",
      `INSERT INTO batch_rows SELECT batch, 3, line, 'ROW-3', amount_paisa, recipient, method_id,
        method, name, description, cells, fingerprint, recipient_key, accepted FROM batch_rows WHERE row = 1`,
    ],
    ["account", "environment", "UPDATE accounts SET environment = 'production'"],
    ["account", "name", "UPDATE accounts SET name = 'other'"],
  ])("%s: %s (%s)", async (kind, column, sql) => {
    const { code, report } = await checkAfter(sql);
    expect({ code, modified: report.modified }).toEqual({
      code: 1,
      modified: [expect.objectContaining({ kind, problem: "changed", columns: [column] })],
    });
  });
});

describe("a changed callback is detected", () => {
  test.each([
    ["verdict", "'mismatched'"],
    ["because", "'x'"],
    ["records", "'[]'"],
    ["finding", "'x'"],
    ["body", "''"],
    ["headers", "'{}'"],
    ["target", "'/other'"],
    ["received_at", "'2020-01-01T00:00:00.000Z'"],
    ["forwarded_to", "'http://a.example/'"],
  ])("%s", async (column, value) => {
    const { code, report } = await checkAfter(`UPDATE callbacks SET ${column} = ${value}`);
    expect({ code, modified: report.modified }).toEqual({
      code: 1,
      modified: [expect.objectContaining({ kind: "callback", problem: "changed" })],
    });
  });
});

const inserted = `INSERT INTO operations (id, kind, profile, environment, account, reference,
    fingerprint, amount_paisa, asked, state, attempts, user, command, created_at, updated_at)
  SELECT 'OP9', kind, profile, environment, account, 'NINE', fingerprint, amount_paisa, asked, state,
    attempts, user, command, created_at, updated_at FROM operations WHERE ${payout}`;

describe("an added or missing row, or a changed schema, is detected", () => {
  test.each<[string, string, string]>([
    ["operation", "added", inserted],
    ["operation", "missing", `DELETE FROM operations WHERE ${payout}`],
    ["batch", "missing", "DELETE FROM batches"],
    ["batch", "missing", "UPDATE batches SET digest = NULL"],
    ["account", "added", "INSERT INTO accounts (environment, name) VALUES ('sandbox', 'other')"],
    [
      "trigger",
      "added",
      "CREATE TRIGGER quiet AFTER INSERT ON operations BEGIN DELETE FROM batches; END",
    ],
    ["view", "added", "CREATE VIEW everything AS SELECT * FROM operations"],
    ["table", "added", "CREATE TABLE more (x)"],
    ["index", "missing", "DROP INDEX by_reference"],
    [
      "index",
      "changed",
      "DROP INDEX by_reference; CREATE INDEX by_reference ON operations (account, reference)",
    ],
    ["table", "changed", "ALTER TABLE operations ADD COLUMN more TEXT"],
  ])("%s %s: %s", async (kind, problem, sql) => {
    const { code, report } = await checkAfter(sql);
    expect({ code, modified: report.modified }).toEqual({
      code: 1,
      modified: expect.arrayContaining([expect.objectContaining({ kind, problem })]),
    });
  });

  test.each([
    ["0", /schema/],
    ["8", /schema/],
    ["99", /newer version of lenden/],
  ])("PRAGMA user_version = %s", async (version, says) => {
    const { code, stderr } = await checkAfter(`PRAGMA user_version = ${version}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining("error")]);
    expect(stderr).toMatch(says);
  });
});
