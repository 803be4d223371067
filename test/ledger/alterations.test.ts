import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { integrityOf } from "../../src/ledger/sqlite/integrity.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { migrate } from "../../src/ledger/sqlite/schema.ts";
import type { Database } from "../../src/platform/sqlite/database.ts";
import { openDatabase, writeCopy } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";
import { inDatabase } from "../support/merchant.ts";
import { claimed, payment, payout, record, refund, worker } from "./small-ledger.ts";

let original: Database;

/** A payment, a payout, a refund whose outcome is unknown, a batch and a callback. */
beforeAll(async () => {
  original = await openDatabase(":memory:");
  const ledger = openLedger(original, worker());
  const confirmed = { state: "CONFIRMED", status: "Processing", sent: true } as const;
  const paid = await claimed(ledger, payment("tea"));
  await record(ledger, paid, { ...confirmed, remoteId: "TX1" });
  const asked = { recipientNumber: "01712345678", paymentMethodId: "m1", recipientName: "Rahim" };
  const sent = await claimed(ledger, payout("SINGLE", { asked }));
  await record(ledger, sent, { ...confirmed, remoteId: "PO1" });
  const unknown = { state: "UNCERTAIN", code: "uncertain", message: "No response." } as const;
  await record(ledger, await claimed(ledger, refund("TX1")), { ...unknown, sent: true });
  await planBatch(ledger);
  const request = { method: "POST", target: "/a", headers: { a: "b" }, body: Buffer.from("x") };
  const received = await ledger.callbacks.keep(request, "received", true);
  const verdict = { verdict: "verified", explanation: null, records: [], finding: "f" };
  await ledger.callbacks.recordVerdict(received?.number ?? 0, verdict, "http://h/");
  await ledger.callbacks.recordForwarded(received?.number ?? 0, {
    to: "http://h/",
    status: 200,
    finding: "f",
  });
});

async function planBatch({ batches }: Ledger): Promise<void> {
  const file = { name: "payees.csv", fileName: "payees.csv", hash: "h", identity: "aa" };
  const claim = await batches.claim({ ...file, columns: ["ref", "amount"], method: null });
  const row = { line: 2, amountPaisa: 700n, methodId: "m1", method: "bkash", description: null };
  const others = { recipient: "01812345678", name: "Rahim", cells: ["7"], isAccepted: false };
  const rows = [1, 2].map((place) => ({
    ...row,
    ...others,
    row: place,
    reference: `ROW-${place}`,
  }));
  expect(await batches.plan(claim.batch, () => rows, 0n)).toMatchObject({ kind: "planned" });
}

/** The findings of a check of a copy that was changed with plain SQL. */
async function foundAfter(sql: string) {
  const copy = join(scratchFolder(), "ledger.db");
  writeCopy(original, copy);
  return inDatabase(copy, (ledger) => {
    ledger.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
    return integrityOf(ledger);
  });
}

test("ledger check finds nothing in an unmodified ledger", async () => {
  expect(await foundAfter("SELECT 1")).toMatchObject({ modified: [], brokenAt: null, damage: [] });
});

const ofPayout = "reference = 'SINGLE'";
const ofRefund = "kind = 'refund'";

describe("ledger check finds a changed column of an operation", () => {
  test.each([
    ["id", "'OP0'", ofPayout],
    ["kind", "'payment'", ofPayout],
    ["profile", "'other'", ofPayout],
    ["environment", "'production'", ofPayout],
    ["account", "NULL", ofPayout],
    ["reference", "'ANOTHER'", ofPayout],
    ["fingerprint", "'f'", ofPayout],
    ["amount_paisa", "amount_paisa + 1", ofPayout],
    ["target", "'TX0'", ofRefund],
    ["asked", `replace(asked, '01712345678', '01712345679')`, ofPayout],
    ["state", "'REFUSED'", ofPayout],
    ["remote_id", "'PO0'", ofPayout],
    ["status", "'Completed'", ofPayout],
    ["code", "'access'", ofRefund],
    ["message", "'The API rejected it.'", ofRefund],
    ["attempts", "attempts + 1", ofPayout],
    ["user", "'other'", ofPayout],
    ["command", "'api'", ofPayout],
    ["created_at", "'2020-01-01T00:00:00.000Z'", ofPayout],
    ["updated_at", "'2020-01-01T00:00:00.000Z'", ofPayout],
    ["reopened_at", "updated_at", ofPayout],
    ["resumed_at", "updated_at", ofPayout],
    ["base_url", "'https://a.example'", ofPayout],
    ["key_hash", "'k'", ofPayout],
    ["actor", "'{}'", ofPayout],
    ["recipient_key", "'01712345679'", ofPayout],
    ["recipient_name", "'Karim'", ofPayout],
    ["method_id", "'0'", ofPayout],
    ["method_name", "'nagad'", ofPayout],
    ["description", "'other'", ofPayout],
    ["batch", "1", ofPayout],
    ["phase", "'free'", ofPayout],
    ["accepted_at", "NULL", ofPayout],
    ["completed_at", "updated_at", ofPayout],
    ["payment_url", "'https://a.example'", ofPayout],
  ])("%s", async (column, value, which) => {
    const found = await foundAfter(`UPDATE operations SET ${column} = ${value} WHERE ${which}`);
    expect(found.modified).toEqual([
      expect.objectContaining({ kind: "operation", problem: "changed", columns: [column] }),
    ]);
  });
});

describe("ledger check finds a changed column of an event", () => {
  test.each([
    ["operation", "3"],
    ["batch", "1"],
    ["at", "'2020-01-01T00:00:00.000Z'"],
    ["event", "'look'"],
    ["data", "replace(data, '500', '900')"],
    ["commit_id", "'c'"],
    ["hash", "'0'"],
  ])("%s", async (column, value) => {
    const { brokenAt } = await foundAfter(
      `UPDATE events SET ${column} = ${value} WHERE number =
        (SELECT number FROM events WHERE event = 'intent' AND data LIKE '%SINGLE%')`,
    );
    expect(brokenAt).toEqual(expect.any(Number));
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

describe("ledger check finds a changed batch or account", () => {
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
    expect((await foundAfter(sql)).modified).toEqual([
      expect.objectContaining({ kind, problem: "changed", columns: [column] }),
    ]);
  });
});

describe("ledger check finds a changed callback", () => {
  test.each([
    ["verdict", "'mismatched'"],
    ["because", "'x'"],
    ["records", "'[1]'"],
    ["finding", "'x'"],
    ["body", "''"],
    ["headers", "'{}'"],
    ["target", "'/other'"],
    ["received_at", "'2020-01-01T00:00:00.000Z'"],
    ["forwarded_to", "'http://a.example/'"],
  ])("%s", async (column, value) => {
    const { modified } = await foundAfter(`UPDATE callbacks SET ${column} = ${value}`);
    expect(modified).toEqual([expect.objectContaining({ kind: "callback", problem: "changed" })]);
  });
});

const inserted = `INSERT INTO operations (id, kind, profile, environment, account, reference,
    fingerprint, amount_paisa, asked, state, attempts, user, command, created_at, updated_at)
  SELECT 'OP9', kind, profile, environment, account, 'NINE', fingerprint, amount_paisa, asked, state,
    attempts, user, command, created_at, updated_at FROM operations WHERE ${ofPayout}`;

describe("ledger check finds an added or missing row, or a changed schema", () => {
  test.each<[string, string, string]>([
    ["operation", "added", inserted],
    ["operation", "missing", `DELETE FROM operations WHERE ${ofPayout}`],
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
    const { modified } = await foundAfter(sql);
    expect(modified).toContainEqual(expect.objectContaining({ kind, problem }));
  });
});

describe("a ledger with another schema than its version is not migrated", () => {
  test.each([
    ["0", /schema/],
    ["8", /schema/],
    ["99", /newer version of lenden/],
  ])("PRAGMA user_version = %s", async (version, cause) => {
    const copy = join(scratchFolder(), "ledger.db");
    writeCopy(original, copy);
    await inDatabase(copy, (ledger) => {
      ledger.exec(`PRAGMA user_version = ${version}`);
      expect(() => migrate(ledger)).toThrow(cause);
    });
  });
});
