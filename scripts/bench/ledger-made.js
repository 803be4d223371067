// A ledger of any size, at once.
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Fills the ledger in a folder, where one payout has just been sent: that one stays the newest, and
 * all before it are its copies, a minute apart and completed. The chain is whole, hashes and all.
 */
export async function fillLedger(folder, size) {
  const database = await open(join(folder, "ledger.db"));
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; BEGIN IMMEDIATE");
  const all = (sql) => database.prepare(sql).all();
  const [{ _metadata, ...real }] = all("SELECT * FROM operations");
  const told = all("SELECT operation, at, event, data FROM events ORDER BY number");
  const [intent, attempt] = ["intent", "attempt"].map((name) => dataOf(told, name));
  database.exec("DELETE FROM events; DELETE FROM operations");
  const addOperation = inserter(database, "operations", Object.keys(real));
  const addEvent = chained(inserter(database, "events", eventColumns));
  for (const { operation, at, event, data } of told)
    if (operation === null) addEvent({ number: null, at }, event, JSON.parse(data));
  for (let number = 1; number <= size; number += 1) {
    const operation = number === size ? { ...real, number } : copyOf(real, number, size);
    addOperation(operation);
    const { id, reference, remote_id: remoteId, status, created_at: at } = operation;
    const asked = JSON.parse(operation.asked);
    addEvent({ number, at }, "intent", { ...intent, id, reference, asked });
    addEvent({ number, at: operation.updated_at }, "attempt", { ...attempt, remoteId, status });
  }
  database.exec("COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  // The stored head is that of the ledger that was here before; a missing one stops nothing.
  for (const name of readdirSync(folder))
    if (name.startsWith("ledger-head-")) rmSync(join(folder, name));
}

const eventColumns = ["operation", "at", "event", "data", "commit_id", "hash"];

function dataOf(told, name) {
  return JSON.parse(told.find(({ event }) => event === name).data);
}

/** To one of a thousand recipients; accepted and completed at once. */
function copyOf(real, number, size) {
  const at = new Date(Date.parse(real.created_at) - (size - number) * 60_000).toISOString();
  const recipientNumber = `0171${String(number % 1_000).padStart(7, "0")}`;
  return {
    ...real,
    number,
    id: `OP${number}`,
    reference: `REF-${number}`,
    remote_id: `PO${number}`,
    asked: JSON.stringify({ ...JSON.parse(real.asked), recipientNumber }),
    recipient_key: recipientNumber,
    status: "Completed",
    created_at: at,
    updated_at: at,
    accepted_at: at,
    completed_at: at,
  };
}

function inserter(database, table, columns) {
  const places = columns.map(() => "?").join(", ");
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`,
  );
  return (row) => insert.run(...columns.map((column) => row[column]));
}

/** Every event's hash covers the one before it. */
function chained(add) {
  let hash = "0".repeat(64);
  return ({ number, at }, event, content) => {
    const data = JSON.stringify(content);
    const operation = number === null ? null : String(number);
    const covered = JSON.stringify([hash, operation, null, at, event, data, "filled"]);
    hash = createHash("sha256").update(covered).digest("hex");
    add({ operation: number, at, event, data, commit_id: "filled", hash });
  };
}

async function open(path) {
  const builtIn = await import("node:sqlite").catch(() => undefined);
  if (builtIn) return new builtIn.DatabaseSync(path);
  return new (await import("libsql")).default(path);
}
