import { expect, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { fixedBatchColumns } from "../../src/ledger/plan.ts";
import { collect } from "../support/helpers.ts";
import { alter } from "../support/merchant.ts";
import { serverTest } from "../support/postgres.ts";
import { ledgerDatabase } from "./server-ledger.ts";
import { batchFile, claimed, memoryLedger, payout, plannedRow, planning } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

/** What would be read before everything else, or counted down in a total. */
const rejected = [
  ...["events", "operations", "batches"].flatMap((table) =>
    ["0", "-1"].map((number) => `UPDATE ${table} SET number = ${number}`),
  ),
  `UPDATE batch_rows SET "row" = 0`,
  "UPDATE batch_rows SET amount_paisa = 0",
];

/** A payout, a batch of one row and a callback. */
async function filled(ledger: Ledger): Promise<void> {
  await claimed(ledger, payout("A"));
  const { batch } = await ledger.batches.claim(batchFile("a.csv"), whichBatch);
  const planned = planning(() => [plannedRow(1)], 1_000n);
  expect(await ledger.batches.plan(batch, planned)).toMatchObject({ kind: "planned" });
  const request = { method: "POST", target: "/", headers: { a: '"' }, body: Buffer.from("{}") };
  await ledger.callbacks.keep(request, "received", true);
}

test("a file keeps what a planned batch was planned with, and its lock changes", async () => {
  const { database, ledger } = await memoryLedger();
  const { batch } = await ledger.batches.claim(batchFile("a.csv"), whichBatch);
  const update = (column: string) => database.exec(`UPDATE batches SET ${column} = ${column}`);
  for (const column of fixedBatchColumns) update(column);
  const planned = planning(() => [plannedRow(1)], 1_000n);
  expect(await ledger.batches.plan(batch, planned)).toMatchObject({ kind: "planned" });
  for (const column of fixedBatchColumns)
    expect(() => update(column), column).toThrow("a planned batch in the ledger does not change");
  for (const column of ["seal", "cancelled_at", "process", "held_since"]) update(column);
});

describeEach(databases, "the tables", ({ share }) => {
  test("reject a number below all others, and an amount below zero", async () => {
    const { open, run } = await share();
    await filled(await open());
    for (const sql of [...rejected, "UPDATE operations SET amount_paisa = -1"])
      await expect(run(sql), sql).rejects.toThrow(/check constraint/i);
    await run("UPDATE operations SET amount_paisa = 0");
  });
});

const noJson = ["", "[", "null", "7"];
const noObjects = [...noJson, "[]"];
const noTexts = [...noJson, "{}", "[1]", '["a",null]', '[["a"]]', '["\\q"]'];
const noTimes = [
  "",
  "(x)",
  "2026-11-20",
  "2026-13-01T00:00:00.000Z",
  "+012026-11-20T10:00:00.000Z",
];
const noIds = ["", "OP1';touch x;'", "OP1 ", "-\n", "O".repeat(65)];
const noReferences = [
  `OP${"0".repeat(26)}`,
  " A",
  "A ",
  "A\u200b",
  "A\u00ad",
  "A\u202e",
  "A\u001b[1m",
];
const noNumbers = ["0", String(2n ** 63n - 1n)];
const noWords = ["", "X", "payout "];
const tooLong = (bytes: number) => JSON.stringify({ a: "x".repeat(bytes) });

/** What lenden never writes, by table and column. */
const neverWritten: Record<string, Record<string, string[]>> = {
  processes: { id: noIds, origin: noObjects },
  accounts: { name: ["", "a b", "a\nb", "a;b", "\u001b[31m"] },
  account_keys: { first_used_at: noTimes },
  operations: {
    ...{
      number: noNumbers,
      reference: noReferences,
      id: noIds,
      kind: noWords,
      state: noWords,
      phase: noWords,
      actor: noWords,
      process: noIds,
    },
    ...{ asked: [...noObjects, tooLong(2_000_000)], origin: noObjects, held_since: noTimes },
    ...{ created_at: noTimes, updated_at: noTimes, accepted_at: noTimes, completed_at: noTimes },
    ...{ reopened_at: noTimes, resumed_at: noTimes },
  },
  events: {
    number: noNumbers,
    at: noTimes,
    event: ["", "an event"],
    data: [...noObjects, tooLong(2_000_000)],
  },
  batches: {
    ...{
      number: noNumbers,
      id: noIds,
      columns: noTexts,
      row_count: ["0", "-1", String(2n ** 63n - 1n)],
    },
    ...{ total_paisa: ["0", "-1"], process: noIds, held_since: noTimes },
    ...{ created_at: noTimes, cancelled_at: noTimes },
  },
  batch_rows: { reference: noReferences, cells: noTexts },
  callbacks: {
    ...{ received_at: noTimes, due_at: noTimes, records: [...noJson, "{}"] },
    ...{ headers: [...noObjects, '{"a":1}', '{"a":{}}'], body: ["x".repeat(1_000_000)] },
  },
  listeners: { process: noIds, held_since: noTimes },
};

serverTest("the tables of a server reject what lenden never writes", async () => {
  const { open, run } = await ledgerDatabase();
  const { ledger } = await open();
  await filled(ledger);
  await ledger.callbacks.listen();
  for (const [table, columns] of Object.entries(neverWritten))
    for (const [column, values] of Object.entries(columns))
      for (const value of values) {
        const sql = `UPDATE ${table} SET ${column} = $never$${value}$never$`;
        // A cast says what is wrong with a text that is no JSON.
        await expect(run(sql), sql.slice(0, 200)).rejects.toThrow(/check constraint|type json/);
      }
});

/** A row that only an owner of the tables can write, and what reads it. */
const unreadable: [named: string, edit: string, read: (ledger: Ledger) => Promise<unknown>][] = [
  ...["kind = 'X'", "state = 'X'", "asked = '['", "asked = 'null'", "created_at = '(x)'"].map(
    (edit): (typeof unreadable)[number] => [
      "Operation OP",
      `operations SET ${edit}`,
      ({ list }) => collect(list(undefined)),
    ],
  ),
  ["Batch B", "batches SET columns = '['", ({ batches }) => batches.list(1)],
  ["Batch B", "batches SET columns = '[1]'", ({ batches }) => batches.list(1)],
  [
    "Row 1 of a batch",
    "batch_rows SET cells = '{'",
    async ({ batches }) => {
      const [batch] = await batches.list(1);
      return batch && collect(batches.rows(batch, "all"));
    },
  ],
  ["Callback 1", "callbacks SET headers = '['", ({ callbacks }) => callbacks.list({}, 1)],
];

test.each(unreadable)("%s…: is named if %s cannot be read", async (named, edit, read) => {
  const { database, ledger } = await memoryLedger();
  await filled(ledger);
  await read(ledger);
  alter(database, () => database.exec(`UPDATE ${edit}`));
  await expect(read(ledger)).rejects.toMatchObject({
    reason: "ledger.modified",
    message: expect.stringMatching(new RegExp(`^${named}.* was modified in the ledger`)),
  });
});
