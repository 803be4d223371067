import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Batch, BatchClaim, BatchFile, PlannedRow } from "../../src/ledger/batch.ts";
import { openServerLedger } from "../../src/ledger/postgres/ledger.ts";
import { schemaSql } from "../../src/ledger/postgres/schema.ts";
import { type Cut, startCutProxy } from "../support/cut-proxy.ts";
import { collectGarbage, runs, scratchFolder } from "../support/helpers.ts";
import { type Cluster, serverTest, sharedCluster } from "../support/postgres.ts";
import { worker } from "./small-ledger.ts";

function fileOf(name: string): BatchFile {
  const identity = createHash("sha256").update(name).digest("hex");
  return { name, fileName: name, hash: "a1", identity, columns: ["ref"], method: "bkash" };
}

const file = fileOf("november.csv");

function* rowsOf(count: number): Generator<PlannedRow> {
  for (let row = 1; row <= count; row += 1)
    yield {
      ...{ row, line: row + 1, reference: `R-${row}`, amountPaisa: 500n, isAccepted: false },
      ...{ recipient: `017${String(row).padStart(8, "0")}`, name: null, description: null },
      ...{ methodId: "m1", method: "bkash", cells: [`R-${row}`] },
    };
}

/** A new ledger, which any number of processes can open. */
async function shared() {
  const cluster = await sharedCluster();
  const database = await cluster.create();
  await cluster.run(schemaSql(true), database);
  const open = async (through: Pick<Cluster, "folder" | "port"> = cluster) => {
    const login = {
      ...{ text: "the server", host: through.folder, port: through.port, database },
      ...{ user: "postgres", password: async () => "", tls: false as const },
    };
    const clocks = { now: Date.now, wallMs: Date.now, monotonicMs: () => performance.now() };
    const head = join(scratchFolder(), "head");
    const opened = await openServerLedger(login, { ...worker(), ...clocks }, head);
    onTestFinished(() => opened.close());
    return opened.ledger.batches;
  };
  return { cluster, open, run: (sql: string) => cluster.run(sql, database) };
}

function ours(claim: BatchClaim): Batch {
  expect(claim).toMatchObject({ kind: "ours" });
  return claim.batch;
}

serverTest("a plan needs no more memory if it has more rows", async () => {
  const count = runs(10_000, 100_000);
  const { open } = await shared();
  const batches = await open();
  const batch = ours(await batches.claim(file));
  let [before, after] = [0, 0];
  const measured = function* () {
    for (const row of rowsOf(count)) {
      if (row.row === 4_000) before = usedMemory();
      if (row.row === count) after = usedMemory();
      yield row;
    }
  };
  const planned = await batches.plan(batch, measured, 0n);
  expect(planned).toMatchObject({ kind: "planned", batch: { plan: { rowCount: count } } });
  expect(after - before).toBeLessThan(count * 50);
});

function usedMemory(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

serverTest.for<Cut>(["before", "half", "late", "unanswered", "after"])(
  "a plan whose COMMIT is cut (%s) is stored once",
  async (cut) => {
    const { cluster, open, run } = await shared();
    const proxy = await startCutProxy(cluster);
    const batches = await open({ folder: proxy.folder, port: 5432 });
    const batch = ours(await batches.claim(file));
    const cuts = [cut];
    proxy.onCommit = () => cuts.pop();
    const planned = await batches.plan(batch, () => rowsOf(2_500), 0n);
    expect(planned).toMatchObject({ kind: "planned" });
    expect(await batches.isUnaltered(planned.kind === "planned" ? planned.batch : batch)).toBe(
      true,
    );
    expect(
      await run(`SELECT (SELECT count(*)::int FROM lenden.batch_rows) AS rows,
        (SELECT count(*)::int FROM lenden.events WHERE event = 'plan') AS events`),
    ).toEqual([{ rows: 2_500, events: 1 }]);
  },
);

serverTest("a plan that is rejected leaves no row, and can be created later", async () => {
  const { open, run } = await shared();
  const [one, other] = [await open(), await open()];
  const batch = ours(await one.claim(file));
  const similar = ours(await other.claim(fileOf("other.csv")));
  expect(await other.plan(similar, () => rowsOf(1), 0n)).toMatchObject({ kind: "planned" });
  expect(await one.plan(batch, () => rowsOf(2_500), 0n)).toEqual({ kind: "changed" });
  expect(await run("SELECT count(*)::int AS rows FROM lenden.batch_rows")).toEqual([{ rows: 1 }]);
  expect(await one.plan(batch, () => rowsOf(2_500), 100n)).toMatchObject({ kind: "planned" });
});

serverTest("P4: of processes that claim a batch at once, one gets it", async () => {
  const { open } = await shared();
  const all = await Promise.all([open(), open(), open(), open()]);
  for (let round = 0; round < 10; round += 1) {
    const claims = await Promise.all(all.map((one) => one.claim(fileOf(`${round}.csv`))));
    const kinds = claims.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(["held", "held", "held", "ours"]);
  }
});

serverTest(
  "P4: a process whose lease ended cannot plan a batch that another one took",
  async () => {
    const { open, run } = await shared();
    const [one, other] = [await open(), await open()];
    const batch = ours(await one.claim(file));
    expect(await other.claim(file)).toMatchObject({ kind: "held" });
    await run(
      `UPDATE lenden.processes SET lease_until = clock_timestamp() - interval '61 seconds'
     WHERE id = '${batch.holder?.lock}'`,
    );
    const taken = ours(await other.claim(file));
    const lost = { reason: "ledger.lease-ended" };
    await expect(one.plan(batch, () => rowsOf(10), 0n)).rejects.toMatchObject(lost);
    await expect(one.cancel(batch)).rejects.toMatchObject(lost);
    await one.release(batch);
    expect(await one.claim(file)).toMatchObject({ kind: "held" });
    expect(await other.plan(taken, () => rowsOf(20), 0n)).toMatchObject({ kind: "planned" });
    expect(await run("SELECT count(*)::int AS rows FROM lenden.batch_rows")).toEqual([
      { rows: 20 },
    ]);
  },
);
