import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { readHead, writeHead } from "../../src/ledger/position.ts";
import { type ServerIdentity, unknownServer } from "../../src/ledger/server-identity.ts";
import { serverTest, sharedCluster, startCluster } from "../support/postgres.ts";
import { type LedgerDatabase, ledgerDatabase, ledgerOf, newHeadFile } from "./server-ledger.ts";
import { claim, payment } from "./small-ledger.ts";

/** A ledger with one operation, and the position of a machine that has seen it. */
async function seenLedger(database: LedgerDatabase) {
  const headFile = newHeadFile();
  const { ledger, close } = await database.open({ headFile });
  await claim(ledger, payment("one"));
  await close();
  return { headFile, seen: positionIn(headFile) };
}

function positionIn(file: string) {
  const read = readHead(file);
  if (typeof read === "string") throw new Error(`the position is ${read}`);
  return read;
}

/** Stores the position as if the server had told something else then. */
function change(file: string, told: Partial<ServerIdentity>): void {
  const { head, isModified, server } = positionIn(file);
  writeHead(file, head, { isModified, server: { ...server, ...told } });
}

async function claimAt(database: LedgerDatabase, headFile: string, description: string) {
  const { ledger, close } = await database.open({ headFile });
  try {
    return await claim(ledger, payment(description));
  } finally {
    await close();
  }
}

async function operationsOf(database: LedgerDatabase): Promise<unknown> {
  const [row] = await database.run("SELECT count(*)::int AS count FROM operations");
  return row?.count;
}

describe("the position of a ledger on a server", () => {
  serverTest("has the server's system identifier and the oids of database and head", async () => {
    const database = await ledgerDatabase();
    const { seen } = await seenLedger(database);
    const [told] = await database.run(`
      SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system,
        (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database,
        'lenden.head'::regclass::oid::text AS head`);
    expect(seen.server).toEqual(told);
  });

  serverTest.for(["system", "database", "head"] as const)(
    "stops all writes if %s is another one, until it is accepted",
    async (part) => {
      const database = await ledgerDatabase();
      const { headFile, seen } = await seenLedger(database);
      change(headFile, { [part]: "4711" });
      const stored = positionIn(headFile);
      const opened = await database.open({ headFile });
      expect(opened.connection.unaccepted()).toMatchObject({ reason: "ledger.other-server" });
      await expect(claim(opened.ledger, payment("two"))).rejects.toMatchObject({
        reason: "ledger.other-server",
      });
      await opened.close();
      expect([await operationsOf(database), positionIn(headFile)]).toEqual([1, stored]);
      writeHead(headFile, seen.head, { server: seen.server });
      expect(await claimAt(database, headFile, "two")).toMatchObject({ kind: "new" });
    },
  );

  serverTest("is completed if an earlier version stored it without the server", async () => {
    const database = await ledgerDatabase();
    const { headFile, seen } = await seenLedger(database);
    writeHead(headFile, seen.head);
    expect(positionIn(headFile).server).toEqual(unknownServer);
    const { close } = await database.open({ headFile });
    await close();
    expect(positionIn(headFile)).toEqual(seen);
  });

  serverTest("keeps what the server does not tell any more, and compares the rest", async () => {
    const database = await ledgerOf(await sharedCluster());
    const { headFile, seen } = await seenLedger(database);
    await database.run("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    const fresh = newHeadFile();
    expect(await claimAt(database, fresh, "two")).toMatchObject({ kind: "new" });
    expect(positionIn(fresh).server).toEqual({ ...seen.server, system: null });
    expect(await claimAt(database, headFile, "three")).toMatchObject({ kind: "new" });
    expect(positionIn(headFile).server).toEqual(seen.server);
    await database.run("REVOKE SELECT ON pg_database FROM PUBLIC");
    expect(await claimAt(database, headFile, "four")).toMatchObject({ kind: "new" });
    change(headFile, { head: "4711" });
    await expect(claimAt(database, headFile, "five")).rejects.toMatchObject({
      reason: "ledger.other-server",
    });
  });

  serverTest("shows whether this machine only read the ledger, or wrote it too", async () => {
    const database = await ledgerDatabase();
    await seenLedger(database);
    const headFile = newHeadFile();
    const reader = await database.open({ headFile });
    await reader.ledger.find("none");
    await reader.close();
    expect(positionIn(headFile)).toMatchObject({ isUsed: false });
    await claimAt(database, headFile, "two");
    expect(positionIn(headFile)).toMatchObject({ isUsed: true });
    const again = await database.open({ headFile });
    await again.close();
    expect(positionIn(headFile)).toMatchObject({ isUsed: true });
  });

  serverTest("is not replaced by a process that still uses the server before", async () => {
    const database = await ledgerDatabase();
    const { headFile } = await seenLedger(database);
    const { ledger, close } = await database.open({ headFile });
    change(headFile, { system: "4711" });
    const accepted = positionIn(headFile);
    await claim(ledger, payment("two"));
    await close();
    expect(positionIn(headFile)).toEqual(accepted);
  });
});

serverTest("a table that was created again stops a process at its next transaction", async () => {
  const database = await ledgerOf(await sharedCluster());
  const { headFile } = await seenLedger(database);
  const { ledger } = await database.open({ headFile });
  await claim(ledger, payment("two"));
  await database.run(`
    BEGIN; ALTER TABLE head RENAME TO before; CREATE TABLE head (LIKE before INCLUDING ALL);
    INSERT INTO head SELECT * FROM before; DROP TABLE before;
    GRANT SELECT, UPDATE ON head TO lenden_writer; COMMIT`);
  await expect(claim(ledger, payment("three"))).rejects.toMatchObject({
    reason: "ledger.other-server",
  });
  await expect(claimAt(database, headFile, "three")).rejects.toMatchObject({
    reason: "ledger.other-server",
  });
  expect(await operationsOf(database)).toBe(2);
});

serverTest("a ledger that changed its files, but not its place, is the same one", async () => {
  const database = await ledgerOf(await sharedCluster());
  const { headFile } = await seenLedger(database);
  await database.cluster.run("VACUUM FULL lenden.head", database.name);
  await database.run("CLUSTER operations USING operations_pkey");
  expect(await claimAt(database, headFile, "two")).toMatchObject({ kind: "new" });
});

serverTest("a standby server that was promoted is the same server", async () => {
  const cluster = await startCluster();
  const database = await ledgerOf(cluster);
  const { headFile, seen } = await seenLedger(database);
  const copy = join(cluster.folder, "copy");
  const from = ["-h", cluster.folder, "-U", "postgres", "--no-sync", "-c", "fast"];
  await cluster.program("pg_basebackup", "-D", copy, ...from);
  writeFileSync(join(copy, "standby.signal"), "");
  const standby = await startCluster({ data: copy });
  await cluster.kill();
  await standby.run("SELECT pg_promote()");
  const { ledger, close } = await database.open({
    headFile,
    login: database.login({ host: standby.folder }),
  });
  expect(await claim(ledger, payment("two"))).toMatchObject({ kind: "new" });
  await close();
  expect(positionIn(headFile).server).toEqual(seen.server);
});
