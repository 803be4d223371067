import { expect } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { allColumns } from "../../src/ledger/columns.ts";
import { type Cut, type CutProxy, startCutProxy } from "../support/cut-proxy.ts";
import { serverTest } from "../support/postgres.ts";
import { type LedgerDatabase, ledgerDatabase, newHeadFile } from "./server-ledger.ts";
import {
  batchFile,
  claim,
  claimed,
  payout,
  plannedRow,
  planning,
  record,
  refund,
} from "./small-ledger.ts";

/** Makes the ledger what it was before, as a lagging replica or a restored backup would be. */
async function rollBack({ run }: Pick<LedgerDatabase, "run">, before: Record<string, unknown>) {
  const { number, operation } = before;
  await run(`DELETE FROM events WHERE number > ${number};
    DELETE FROM operations WHERE number > ${operation}`);
}

const headOf = async ({ run }: Pick<LedgerDatabase, "run">) =>
  (
    await run(
      "SELECT max(e.number) AS number, max(o.number) AS operation FROM events e, operations o",
    )
  )[0] ?? {};

/** Statements wait 99 milliseconds for a lock, and not ten seconds. */
const impatient: CutProxy["replaces"] = ["lock_timeout = '10s'", "lock_timeout = '99 '"];

/** The same for what follows the lock of the ledger. */
const impatientForRows: CutProxy["replaces"] = ["'lock_timeout', '7000'", "'lock_timeout', '  99'"];

const lost = { reason: "ledger.truncated" };

serverTest("a server that lost events behind an open connection sends nothing", async () => {
  const database = await ledgerDatabase();
  const { ledger } = await database.open();
  await claimed(ledger, payout("A"));
  const before = await headOf(database);
  await claimed(ledger, refund("P1"));
  await rollBack(database, before);
  await expect(claimed(ledger, refund("P1"))).rejects.toMatchObject(lost);
  // Another process has written as many events since.
  const { ledger: other } = await database.open();
  await claimed(other, payout("B"));
  await claimed(other, payout("C"));
  await expect(claimed(ledger, refund("P1"))).rejects.toMatchObject(lost);
});

serverTest("a machine that only read a ledger sees that it lost events since", async () => {
  const database = await ledgerDatabase();
  const { ledger } = await database.open();
  await claimed(ledger, payout("A"));
  const before = await headOf(database);
  await claimed(ledger, refund("P1"));
  const headFile = newHeadFile();
  const reader = await database.open({ headFile });
  await reader.ledger.refundsOf("P1");
  await reader.close();
  await rollBack(database, before);
  const { ledger: sender } = await database.open({ headFile });
  await expect(claimed(sender, refund("P1"))).rejects.toMatchObject(lost);
});

serverTest("a ledger that is updated behind an open connection is not written", async () => {
  const { open, run } = await ledgerDatabase();
  const { ledger } = await open();
  await claimed(ledger, payout("A"));
  await run("UPDATE head SET version = 999");
  const failure = { reason: "ledger.newer-version" };
  await expect(claimed(ledger, payout("B"))).rejects.toMatchObject(failure);
  await run("UPDATE head SET version = 1");
});

serverTest(
  "an unknown COMMIT that cannot be looked up, because the ledger stays locked, is reported as that",
  async () => {
    const { cluster, name, login, open } = await ledgerDatabase();
    const proxy = await startCutProxy(cluster);
    proxy.replaces = impatient;
    const { ledger } = await open({ login: login({ host: proxy.folder, port: 5432 }) });
    await claimed(ledger, payout("A"));
    const other = await cluster.connect(name);
    proxy.onCommit = () => {
      proxy.onCommit = () => undefined;
      other.query("BEGIN; SELECT 1 FROM lenden.head FOR UPDATE").catch(() => {});
      return "before";
    };
    const failure = { reason: "ledger.unreachable", message: expect.stringContaining("locked") };
    await expect(claimed(ledger, payout("B"))).rejects.toMatchObject(failure);
  },
);

serverTest("names the reason if a server has no free connection", async () => {
  const { name, open, run } = await ledgerDatabase();
  await run(`ALTER DATABASE ${name} CONNECTION LIMIT 0`);
  const failure = {
    reason: "ledger.unreachable",
    message: expect.stringContaining("too many connections"),
  };
  await expect(open()).rejects.toMatchObject(failure);
  await run(`ALTER DATABASE ${name} CONNECTION LIMIT -1`);
});

const copied = allColumns.map(({ name }) => `"${name}"`).join(", ");
const copiedAs = allColumns
  .map(({ name }) => ({ number: "99", id: "'OP99'", reference: "'B'" })[name] ?? `"${name}"`)
  .join(", ");

serverTest("a ledger that is locked for ten seconds names the login that locked it", async () => {
  const { cluster, name, login, open, run } = await ledgerDatabase();
  const proxy = await startCutProxy(cluster);
  proxy.replaces = impatient;
  await run("DROP ROLE IF EXISTS holder; CREATE ROLE holder LOGIN; GRANT lenden_writer TO holder");
  const holder = await cluster.connect(name, { user: "holder" });
  await holder.query("BEGIN; SELECT 1 FROM lenden.head FOR UPDATE");
  const waiting = await cluster.connect(name);
  waiting.query("SELECT 1 FROM lenden.head FOR UPDATE").catch(() => {});
  const { ledger } = await open({ login: login({ host: proxy.folder, port: 5432 }) });
  await expect(claimed(ledger, payout("A"))).rejects.toMatchObject({
    reason: "ledger.server-busy",
    message: expect.stringMatching(
      /^The ledger is locked by login holder \(server process \d+\)\.$/,
    ),
  });
});

serverTest.each([
  ["a row", "SELECT 1 FROM lenden.operations FOR UPDATE"],
  [
    "a new row",
    `INSERT INTO lenden.operations (${copied}) SELECT ${copiedAs} FROM lenden.operations`,
  ],
])("a change that waits for %s in a table names the login that locked it", async (_, locking) => {
  const { cluster, name, login, open, run } = await ledgerDatabase();
  const proxy = await startCutProxy(cluster);
  proxy.replaces = impatientForRows;
  await run("DROP ROLE IF EXISTS holder; CREATE ROLE holder LOGIN; GRANT lenden_writer TO holder");
  const { ledger } = await open({ login: login({ host: proxy.folder, port: 5432 }) });
  const operation = await claimed(ledger, payout("A"));
  const holder = await cluster.connect(name, { user: "holder" });
  await holder.query(`BEGIN; ${locking}`);
  const changing = locking.startsWith("SELECT")
    ? record(ledger, operation, { state: "CONFIRMED", remoteId: "X", status: "Processing" })
    : claimed(ledger, payout("B"));
  await expect(changing).rejects.toMatchObject({
    reason: "ledger.server-busy",
    message: expect.stringMatching(/^The ledger is locked by login holder /),
  });
});

serverTest.for(["new", "new, the response is lost", "unknown"] as const)(
  "a process that others count as ended sends nothing more, although its clocks stood still (%s)",
  async (kind) => {
    const { cluster, login, open, run } = await ledgerDatabase();
    const proxy = await startCutProxy(cluster);
    const one = await open({ login: login({ host: proxy.folder, port: 5432 }) });
    const other = await open();
    await claimed(one.ledger, payout("A"));
    const unknown = await claimed(other.ledger, payout("B"));
    await run("UPDATE processes SET lease_until = clock_timestamp() - interval '100 s'");
    expect(await claim(other.ledger, payout("A"))).toMatchObject({ kind: "resumed" });
    expect(() => one.ledger.assertStillOurs()).not.toThrow();
    const cuts: Cut[] = kind === "new, the response is lost" ? ["late"] : [];
    proxy.onCommit = () => cuts.pop();
    await claimed(one.ledger, payout(kind === "unknown" ? String(unknown.reference) : "C"));
    expect(() => one.ledger.assertStillOurs()).toThrow(/did not hear/);
  },
);

serverTest(
  "I3: a payout of a machine whose clock is behind rests as one of this moment",
  async () => {
    const { open } = await ledgerDatabase();
    const [slow, right] = [
      await open({ now: () => Date.now() - 60_000 }),
      await open({ now: Date.now }),
    ];
    const operation = await claimed(slow.ledger, payout("A"));
    await record(slow.ledger, operation, { state: "UNCERTAIN", sent: true });
    expect(Date.parse(await right.ledger.lastSentAt(operation))).toBeGreaterThan(
      Date.now() - 5_000,
    );
  },
);

serverTest("a batch that another process planned and released is not planned again", async () => {
  const { open } = await ledgerDatabase();
  const [one, other] = [(await open()).ledger.batches, (await open()).ledger.batches];
  const { batch } = await one.claim(file, whichBatch);
  await one.release(batch);
  const { batch: theirs } = await other.claim(file, whichBatch);
  expect(await other.plan(theirs, planning(rows))).toMatchObject({ kind: "planned" });
  await other.release(theirs);
  await expect(one.plan(batch, planning(rows))).rejects.toMatchObject({
    reason: "operation.locked",
  });
});

const file = batchFile("a");
const rows = () => [plannedRow(1)];

serverTest("a database that became read-only since the first look is named as that", async () => {
  const { cluster, name, open } = await ledgerDatabase();
  const { ledger } = await open();
  await cluster.run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  const { ledger: second } = await open();
  const failure = { reason: "ledger.server-read-only" };
  const claiming = second.batches.claim(file, whichBatch);
  await expect(claiming).rejects.toMatchObject(failure);
  await cluster.run(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  expect(await ledger.batches.claim(file, whichBatch)).toMatchObject({ kind: "ours" });
});
