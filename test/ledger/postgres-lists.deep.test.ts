import { expect } from "vitest";
import type { Failure } from "../../src/domain/failure.ts";
import type { Traits } from "../../src/ledger/batch.ts";
import type { Filter, Kind } from "../../src/ledger/operation.ts";
import { compiled, type Query } from "../../src/ledger/postgres/connection.ts";
import { dialect } from "../../src/ledger/postgres/driver.ts";
import { createLists } from "../../src/ledger/postgres/lists.ts";
import { schemaSql } from "../../src/ledger/postgres/schema.ts";
import { RunAccount } from "../../src/ledger/sql/accounts.ts";
import { createBatches } from "../../src/ledger/sql/batches.ts";
import type { Driver } from "../../src/ledger/sql/driver.ts";
import { RunLimits } from "../../src/ledger/sql/limits.ts";
import { createOverlaps } from "../../src/ledger/sql/overlaps.ts";
import { createReads } from "../../src/ledger/sql/reads.ts";
import { runRemotely } from "../../src/ledger/sql/work.ts";
import { collect } from "../support/helpers.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { worker } from "./small-ledger.ts";

/** A payout each minute. The account "idle" has every other one of the first fifth, and nothing since then. */
const count = 40_000;
/** So many rows are a few percent: what is counted to find out whether there are few, and some more. */
const most = 2_500;
const fill = `
  INSERT INTO lenden.accounts (environment, name) VALUES ('production', 'busy'), ('production', 'idle');
  INSERT INTO lenden.account_keys (environment, key_hash, account)
    VALUES ('production', 'busy', 1), ('production', 'idle', 2);
  INSERT INTO lenden.operations (number, id, kind, profile, environment, reference, amount_paisa, asked, state,
    remote_id, status, attempts, "user", command, created_at, updated_at, account, key_hash, base_url,
    origin, actor, recipient_key, method_id, batch, phase, accepted_at)
  SELECT n, 'OP' || n, 'payout', 'shop', 'production', 'REF-' || n, 500, '{}', state,
    CASE state WHEN 'CONFIRMED' THEN 'TX' || n END,
    CASE state WHEN 'CONFIRMED' THEN CASE WHEN n < ${count - 5_000} THEN 'Completed' ELSE 'Processing' END END,
    1, 'root', 'payout batch send', at, at, account, 'busy', 'https://a', '{}', 'person', '0' || (1710000000 + n),
    'm1', n / 5000, CASE state WHEN 'CONFIRMED' THEN 'live' ELSE 'unresolved' END, at
  FROM (SELECT n, CASE WHEN n < ${count / 5} AND n % 2 = 0 THEN 2 ELSE 1 END AS account,
    CASE WHEN n % 1000 = 0 THEN 'UNCERTAIN' ELSE 'CONFIRMED' END AS state,
    to_char(timestamp '2026-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
    FROM generate_series(1, ${count}) n) one;
  INSERT INTO lenden.batches (id, profile, environment, name, file_name, file_hash, identity, columns, "user", created_at,
    account, row_count, total_paisa)
    VALUES ('B000001', 'shop', 'production', 'may', 'may', '', '000000000001', '[]', 'root', '2026-02-11T00:00:00.000Z', 1, 99, 99);
  INSERT INTO lenden.batches (id, profile, environment, name, file_name, file_hash, identity, columns, "user", created_at,
    account, row_count, total_paisa)
  SELECT 'B' || lpad(n::text, 6, '0'), 'shop', 'production', 'name-' || n, 'file-' || n, 'hash-' || n,
    regexp_replace(lpad(n::text, 6, '0'), '(.)', '0\\1', 'g'), '[]',
    'root', '2026-02-11T00:00:00.000Z', CASE WHEN n > 9950 THEN 2 ELSE 1 END, n, n
  FROM generate_series(2, 10000) n;
  INSERT INTO lenden.events (number, batch, at, event, data, commit_id, hash, login)
  SELECT (SELECT coalesce(max(number), 0) FROM lenden.events) + number, number, created_at, 'plan', '{}', '', '', 'tester'
  FROM lenden.batches;
  INSERT INTO lenden.batch_rows (batch, "row", line, reference, amount_paisa, recipient, method_id, method, cells,
    recipient_key, accepted)
  SELECT 1 + n / 100, n, n, 'NEW-' || n, 500, recipient_key, 'm1', 'bkash', '[]', recipient_key, 0
  FROM (SELECT number AS n, recipient_key FROM lenden.operations) one;
  VACUUM ANALYZE;
`;

interface Plan {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Relation Name"?: string;
  Plans?: Plan[];
}

/** How many rows of tables a statement read. */
function rowsRead(plan: Plan): number {
  const rows = plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0);
  const own = plan["Relation Name"] === undefined ? 0 : rows * plan["Actual Loops"];
  return (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), own);
}

/** Opens the reads of accounts, which store the plan of each statement. */
async function openReads() {
  const cluster = await sharedCluster();
  const database = await cluster.create();
  await cluster.run(schemaSql(), database);
  // Statements of one text are a transaction, and VACUUM needs its own.
  for (const sql of fill.split(";\n")) await cluster.run(sql, database);
  const types = { getTypeParser: () => (text: string) => text };
  const client = await cluster.connect(database, { types });
  const plans: Plan[] = [];
  const read: Query = async (sql, ...values) => {
    const sent = values.map((one) => (typeof one === "bigint" ? String(one) : one));
    const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`;
    const [explained] = (await client.query<Record<string, string>>(explain, sent)).rows;
    const [found]: { Plan: Plan }[] = JSON.parse(explained?.["QUERY PLAN"] ?? "[]");
    if (found) plans.push(found.Plan);
    return (await client.query<Record<string, string | null>>(sql, sent)).rows;
  };
  const rejected = () => Promise.reject(new Error("no process holds or writes anything"));
  const driver: Driver = {
    dialect,
    write: rejected,
    writeAfter: rejected,
    snapshot: rejected,
    pages: () => {
      throw new Error("nothing is read page by page");
    },
    read: (work) =>
      runRemotely(work(), async (statements) => {
        const answers = [];
        for (const one of statements.map(compiled))
          answers.push(await read(one.sql, ...one.values));
        return answers;
      }),
  };
  const as = (keyId: string) => {
    const owner = { profile: "shop", environment: "production", baseUrl: "https://a", keyId };
    const account = new RunAccount(owner);
    const limits = new RunLimits(driver.dialect, worker({ owner }));
    return {
      ...createReads(driver, worker({ owner }), account),
      ...createLists({ read }, driver, account),
      ...createOverlaps(driver, owner, account),
      batches: createBatches(driver, account, worker({ owner }), limits),
    };
  };
  return { as, plans };
}

type Reads = Awaited<ReturnType<typeof openReads>>["as"] extends (id: string) => infer One
  ? One
  : never;

const unknown: Filter = { states: ["INTENT", "UNCERTAIN"], openedUntil: "2027" };
const lists: [account: string, size: number, kind: Kind | undefined, filter: Filter][] = [
  ["busy", 20, "payout", {}],
  ["idle", 20, "payout", {}],
  ["idle", 20, undefined, {}],
  ["idle", 20, "payout", { oldestFirst: true }],
  ["idle", 20, "payout", { method: { name: "none", ids: ["m1"] } }],
  ["idle", 20, undefined, { states: ["CONFIRMED"] }],
  ["idle", 20, "payout", { status: "Completed" }],
  ["idle", 7, undefined, unknown],
  ["busy", 20, "payout", unknown],
  ["busy", 0, "payout", { states: ["REFUSED"] }],
  ["busy", 0, "refund", {}],
  ["busy", 0, "payout", { status: "Cancelled" }],
  ["busy", 0, undefined, { status: "Cancelled" }],
  ["busy", 20, undefined, { status: "Processing" }],
  ["busy", 20, "payout", { status: "Processing", oldestFirst: true }],
  ["busy", 20, "payout", { since: "2026-01-28" }],
  ["busy", 20, "payout", { since: "2026-01-05" }],
  ["busy", 20, "payout", { until: "2026-01-01T10" }],
  ["busy", 0, "payout", { until: "2020" }],
  ["busy", 0, "payout", { recipient: "01999999999" }],
  ["busy", 1, "payout", { recipient: "01710000077", since: "2026-01-01" }],
  ["busy", 1, undefined, { reference: "REF-77" }],
  ["busy", 20, "payout", { batch: 1n }],
  ["busy", 20, undefined, { batch: 4n, oldestFirst: true }],
];

const known =
  (traits: Traits) =>
  async ({ batches }: Reads) =>
    (await batches.known(traits)).batches;
const numbers = Array.from({ length: 100 }, (_, at) => 351 * (at + 1));
const references = numbers.map((one) => `REF-${one}`);
const payees = numbers.map((one) => `0${1_710_000_000 + one}`);
const rows = payees.map((recipient) => ({ reference: "NEW", recipient, amountPaisa: 500n }));
const lookUps: [size: number, work: (ledger: Reads) => Promise<unknown>][] = [
  [1, (one) => one.find("OP77")],
  [1, (one) => one.find("REF-77")],
  [1, (one) => one.find("TX77")],
  [0, (one) => one.find("none")],
  [1, (one) => one.findElsewhere("TX76")],
  // These operations have no events, so what is found is rejected.
  [1, (one) => one.ofRecord("payout", "TX77").catch((error: Failure) => error.reason)],
  [0, (one) => one.refundsOf("TX77")],
  [33, (one) => one.unsettled()],
  [
    100,
    async (one) => [...(await one.references(references, { withPlans: false })).payouts.keys()],
  ],
  [89, async (one) => [...(await one.paidRecipients(payees))]],
  [
    100,
    async (one) => {
      const planned = numbers.map((n) => `NEW-${n}`);
      return [...(await one.references(planned, { withPlans: true })).plans.keys()];
    },
  ],
  [100, async (one) => [...(await one.overlaps(rows, { since: "2026-01-28" })).keys()]],
  [1, known({ id: "B000077" })],
  [1, known({ hash: "hash-77" })],
  [1, known({ identity: "000000000707", name: "name-77" })],
  [1, known({ name: "file-77" })],
  [0, known({ identity: "none", name: "none" })],
  [20, (one) => one.batches.list(20)],
  [20, (one) => one.batches.list(20, { since: "2026", below: 5_000n })],
];

serverTest("lists and look-ups on a server read few rows of a large ledger", async () => {
  const { as, plans } = await openReads();
  const readBy = async (account: string, work: (ledger: Reads) => Promise<unknown>) => {
    plans.length = 0;
    const found = [await work(as(account))].flat().filter((one) => one !== undefined);
    return { found, statements: plans.length, rows: Math.max(...plans.map(rowsRead)) };
  };
  for (const [account, size, kind, filter] of lists) {
    const title = `${account} ${kind} ${Object.entries(filter).join(" ")}`;
    const listed = await readBy(account, (one) =>
      collect(one.list(kind, { ...filter, limit: 20 })),
    );
    expect([listed.found.length, listed.statements], title).toEqual([size, 2]);
    const counted = await readBy(account, (one) => one.count(kind, filter, 100));
    expect(Math.max(listed.rows, counted.rows), title).toBeLessThan(most);
  }
  for (const [size, work] of lookUps) {
    const { found, rows } = await readBy("busy", work);
    expect(found.length, `${work}`).toBe(size);
    expect(rows, `${work}`).toBeLessThan(most);
  }
});
