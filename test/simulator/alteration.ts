import { hashOf } from "../../src/ledger/chain.ts";
import { writerRights } from "../../src/ledger/postgres/schema.ts";
import { textRow } from "../../src/ledger/values.ts";
import type { Row, Value } from "../../src/platform/sqlite/database.ts";
import type { Disk } from "./disk.ts";
import { picked } from "./faults.ts";
import type { AlterCommand } from "./scenario.ts";

/*
 * What a member of lenden_writer may do with psql, on the simulated disk: to change the columns that the role may
 * change, and to insert orders with all their events.
 */

const tables = ["operations", "operations", "batches", "batch_rows"];
const outcomes = [
  { state: "NOT_SENT", phase: "free", status: null, code: "declared" },
  { state: "REFUSED", phase: "retired", status: null, code: null },
  { state: "REFUSED", phase: "free", status: null, code: "access" },
  { state: "CONFIRMED", phase: "retired", status: "Cancelled", code: null },
  { state: "UNCERTAIN", phase: "unresolved", status: null, code: null },
] satisfies Record<string, string | null>[];
const values: Value[] = [
  ...[null, "2020-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z", "free", "retired", "live"],
  ...["NOT_SENT", "REFUSED", "UNCERTAIN", "Cancelled", "Completed", "", 0n, 1n, 2n, 50_000n],
];

/** The recipient of planted orders, to whom no command of the simulator pays. */
const colleague = "01799999999";

export function alter(disk: Disk, { how, row, column, value }: AlterCommand): void {
  const [{ count } = {}] = disk.durableRows("SELECT count(*) AS count FROM operations");
  if (how === "plant") plant(disk, row % Math.max(1, Number(count)));
  else if (how === "outcome") disk.alter(...updateOf("operations", picked(outcomes, value), row));
  else {
    const table = picked(tables, column);
    const name = picked(writerRights[table]?.update ?? [], column);
    const [other] = disk.durableRows(
      `SELECT "${name}" AS value FROM ${table} LIMIT 1 OFFSET ${row}`,
    );
    const all = other?.value === undefined ? values : [...values, other.value];
    disk.alter(...updateOf(table, { [name]: picked(all, value) }, row));
  }
}

function updateOf(table: string, changes: Row, row: number): [string, ...Value[]] {
  const names = Object.keys(changes);
  const set = names.map((name) => `"${name}" = ?`).join(", ");
  const which = `(SELECT rowid FROM ${table} LIMIT 1 OFFSET ${row})`;
  return [`UPDATE ${table} SET ${set} WHERE rowid = ${which}`, ...Object.values(changes)];
}

/** Copies a payout with its events and its seal: to the colleague, as one whose outcome is unknown. */
function plant(disk: Disk, place: number): void {
  const payouts = "SELECT * FROM operations WHERE kind = 'payout' LIMIT 1 OFFSET ?";
  const [like] = disk.durableRows(payouts, BigInt(place));
  const [newest] = disk.durableRows("SELECT max(number) AS number FROM operations");
  if (!like) return;
  const number = BigInt(newest?.number ?? 0) + 1n;
  const [reference, id] = [`PLANTED-${number}`, `OPPLANTED${number}`];
  const asked = replaced(String(like.asked), {
    merchantRef: reference,
    recipientNumber: colleague,
  });
  const own = { number, id, reference, asked, recipient_key: colleague };
  const unknown = { state: "UNCERTAIN", phase: "unresolved", process: null, held_since: null };
  insert(disk, "operations", { ...like, ...own, ...unknown });
  const events = "SELECT * FROM events WHERE operation = ? ORDER BY number LIMIT 1";
  for (const event of disk.durableRows(events, like.number ?? null)) {
    const data = replaced(String(event.data), { id, reference, asked: JSON.parse(asked) });
    append(disk, { ...event, operation: number, data });
  }
  append(disk, { operation: number, event: "attempt", data: '{"state":"UNCERTAIN"}' });
}

function append(disk: Disk, event: Row): void {
  const [last] = disk.durableRows(
    "SELECT number, hash, at FROM events ORDER BY number DESC LIMIT 1",
  );
  const row: Row = { batch: null, at: last?.at ?? "", commit_id: "colleague", ...event };
  const hash = hashOf(textRow(row), String(last?.hash));
  insert(disk, "events", { ...row, number: BigInt(last?.number ?? 0) + 1n, hash });
}

function replaced(json: string, change: object): string {
  const data: object = JSON.parse(json);
  return JSON.stringify({ ...data, ...change });
}

function insert(disk: Disk, table: string, row: Row): void {
  const names = Object.keys(row).map((name) => `"${name}"`);
  const sql = `INSERT INTO ${table} (${names}) VALUES (${names.map(() => "?")})`;
  disk.alter(sql, ...Object.values(row));
}
