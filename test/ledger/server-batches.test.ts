import type { Client } from "pg";
import { expect } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import type { Batch, BatchClaim, PlannedRow } from "../../src/ledger/batch.ts";
import type { Outcome } from "../../src/ledger/operation.ts";
import { type Cut, startCutProxy } from "../support/cut-proxy.ts";
import { until } from "../support/helpers.ts";
import { type Cluster, serverTest } from "../support/postgres.ts";
import { ledgerDatabase } from "./server-ledger.ts";
import {
  batchFile,
  claimed,
  payout,
  plannedBy,
  plannedRow,
  planning,
  record,
  sealer,
} from "./small-ledger.ts";

const file = batchFile("november.csv");

function* rowsOf(count: number): Generator<PlannedRow> {
  for (let row = 1; row <= count; row += 1) yield plannedRow(row);
}

/** An empty ledger, which any number of processes can open. */
async function shared() {
  const { cluster, name, login, open, run } = await ledgerDatabase();
  const openLedger = async ({ folder: host, port }: Pick<Cluster, "folder" | "port"> = cluster) =>
    (await open({ login: login({ host, port }) })).ledger;
  const openBatches = async (at?: Pick<Cluster, "folder" | "port">) =>
    (await openLedger(at)).batches;
  return { cluster, name, run, openLedger, open: openBatches };
}

function ours(claim: BatchClaim): Batch {
  expect(claim).toMatchObject({ kind: "ours" });
  return claim.batch;
}

serverTest.for<Cut>(["before", "half", "late", "unanswered", "after"])(
  "a plan whose COMMIT is cut (%s) is stored once",
  async (cut) => {
    const { cluster, open, run } = await shared();
    const proxy = await startCutProxy(cluster);
    const batches = await open({ folder: proxy.folder, port: 5432 });
    const batch = ours(await batches.claim(file, whichBatch));
    const cuts = [cut];
    proxy.onCommit = () => cuts.pop();
    const planned = await batches.plan(
      batch,
      planning(() => rowsOf(2_500)),
    );
    expect(planned).toMatchObject({ kind: "planned" });
    const plan = plannedBy(planned);
    expect(await batches.readPlan(plan.batch, sealer)).toEqual(plan);
    expect(
      await run(`SELECT (SELECT count(*)::int FROM lenden.batch_rows) AS rows,
        (SELECT count(*)::int FROM lenden.events WHERE event = 'plan') AS events`),
    ).toEqual([{ rows: 2_500, events: 1 }]);
  },
);

const isFreeNow = "state = 'NOT_SENT', phase = 'free', status = NULL";
const isAcceptedNow = "state = 'CONFIRMED', phase = 'live', status = 'Processing'";

serverTest.for([
  ["payout", isAcceptedNow, isFreeNow],
  ["new-recipient", isFreeNow, isAcceptedNow],
] as const)(
  "I13: a plan whose rows are edited while its %s limit is read is not stored",
  async ([limit, before, then]) => {
    const { cluster, name, run, openLedger } = await shared();
    const ledger = await openLedger();
    const { recipient: recipientNumber } = plannedRow(1);
    const { asked } = payout("R-1");
    const intent = payout("R-1", { asked: { ...asked, recipientNumber } });
    const outcome = { state: "NOT_SENT", code: "not-sent", sent: false } as const;
    await record(ledger, await claimed(ledger, intent), outcome);
    await run(`INSERT INTO limits (environment, account, name, value, set_at, login)
      VALUES ('sandbox', '${await ledger.account()}', '${limit}', '499', '2026-11-20T10:00:00.000Z', 'o')`);
    const batch = ours(await ledger.batches.claim(file, whichBatch));
    await run(`UPDATE operations SET ${before}`);
    const checkedUpTo = await ledger.newestEvent();
    const whileLimitsAreRead = pausedAtLimits(await cluster.connect(name));

    const planned = whileLimitsAreRead(
      () =>
        ledger.batches.plan(
          batch,
          planning(() => rowsOf(1), checkedUpTo),
        ),
      () => run(`UPDATE operations SET ${then}`),
    );

    await expect(planned).rejects.toMatchObject({ reason: "operation.locked" });
    expect(await run("SELECT count(*)::int AS rows FROM batch_rows")).toEqual([{ rows: 0 }]);
  },
);

/** Changes something after the limits of a plan were asked for, and before they are read. */
function pausedAtLimits(blocker: Client) {
  return async <Result>(work: () => Promise<Result>, change: () => Promise<unknown>) => {
    await blocker.query("BEGIN; LOCK TABLE lenden.limits IN ACCESS EXCLUSIVE MODE");
    const done = work();
    done.catch(() => {});
    await until(async () => {
      const waiting = await blocker.query(
        "SELECT 1 FROM pg_locks WHERE relation = 'lenden.limits'::regclass AND NOT granted",
      );
      return waiting.rows.length > 0;
    });
    await change();
    await blocker.query("COMMIT");
    return done;
  };
}

serverTest(
  "I13: a plan of which two rows change places while limits are read is not stored",
  async () => {
    const { cluster, name, run, openLedger } = await shared();
    const ledger = await openLedger();
    const outcomes: [reference: string, taka: bigint, outcome: Outcome][] = [
      ["R-1", 1n, { state: "CONFIRMED", remoteId: "X1", status: "Processing", sent: true }],
      ["R-2", 5n, { state: "NOT_SENT", code: "not-sent", sent: false }],
    ];
    for (const [reference, taka, outcome] of outcomes) {
      const { recipient: recipientNumber } = plannedRow(Number(reference.at(-1)));
      const asked = { ...payout(reference).asked, amount: Number(taka), recipientNumber };
      const intent = payout(reference, { amountPaisa: taka * 100n, asked });
      await record(ledger, await claimed(ledger, intent), outcome);
    }
    await run(`INSERT INTO limits (environment, account, name, value, set_at, login)
    VALUES ('sandbox', '${await ledger.account()}', 'payout', '499', '2026-11-20T10:00:00.000Z', 'o')`);
    const swap = `UPDATE operations o SET (state, phase, status) =
    (SELECT p.state, p.phase, p.status FROM operations p WHERE p.number <> o.number)`;
    const batch = ours(await ledger.batches.claim(file, whichBatch));
    await run(swap);
    const checkedUpTo = await ledger.newestEvent();
    const rows = () => [
      plannedRow(1, { reference: "R-1", amountPaisa: 100n }),
      plannedRow(2, { reference: "R-2", amountPaisa: 500n }),
    ];

    const planned = pausedAtLimits(await cluster.connect(name))(
      () => ledger.batches.plan(batch, planning(rows, checkedUpTo)),
      () => run(swap),
    );

    await expect(planned).rejects.toMatchObject({ reason: "operation.locked" });
  },
);

serverTest("a batch that was cancelled before it was planned is not planned", async () => {
  const { run, open } = await shared();
  const batches = await open();
  const batch = ours(await batches.claim(file, whichBatch));
  await run(`INSERT INTO lenden.events (number, at, batch, event, data, commit_id, hash)
    VALUES (1000000000000000, '2026-11-20T10:00:00.000Z', ${batch.number}, 'cancelled', '{}', '', '')`);
  const rows = () => rowsOf(1);
  await expect(batches.plan(batch, planning(rows))).rejects.toMatchObject({
    reason: "ledger.modified",
  });
});

serverTest("a plan that is rejected leaves no row, and can be created later", async () => {
  const { open, run } = await shared();
  const [one, other] = [await open(), await open()];
  const batch = ours(await one.claim(file, whichBatch));
  const similar = ours(await other.claim(batchFile("other.csv"), whichBatch));
  expect(
    await other.plan(
      similar,
      planning(() => rowsOf(1)),
    ),
  ).toMatchObject({
    kind: "planned",
  });
  expect(
    await one.plan(
      batch,
      planning(() => rowsOf(2_500)),
    ),
  ).toEqual({ kind: "changed" });
  expect(await run("SELECT count(*)::int AS rows FROM lenden.batch_rows")).toEqual([{ rows: 1 }]);
  expect(
    await one.plan(
      batch,
      planning(() => rowsOf(2_500), 100n),
    ),
  ).toMatchObject({
    kind: "planned",
  });
});

serverTest("P4: of processes that claim a batch at once, one gets it", async () => {
  const { open } = await shared();
  const all = await Promise.all([open(), open(), open(), open()]);
  for (let round = 0; round < 10; round += 1) {
    const claims = await Promise.all(
      all.map((one) => one.claim(batchFile(`${round}.csv`), whichBatch)),
    );
    const kinds = claims.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(["held", "held", "held", "ours"]);
  }
});
