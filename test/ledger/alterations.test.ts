import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import type { Integrity } from "../../src/ledger/integrity.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Query, ServerLogin } from "../../src/ledger/postgres/connection.ts";
import { serverIntegrityOf } from "../../src/ledger/postgres/integrity.ts";
import { connectTo, openServerLedger } from "../../src/ledger/postgres/ledger.ts";
import { schemaSql, writerRole } from "../../src/ledger/postgres/schema.ts";
import { integrityOf } from "../../src/ledger/sqlite/integrity.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { migrate } from "../../src/ledger/sqlite/schema.ts";
import type { Database } from "../../src/platform/sqlite/database.ts";
import { openDatabase, writeCopy } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";
import { alter, inDatabase } from "../support/merchant.ts";
import { isSkipped, serverTest, sharedCluster } from "../support/postgres.ts";
import { batchColumns, operationColumns, rowColumns } from "./altered-columns.ts";
import { droppingChecks, patient } from "./server-ledger.ts";
import {
  batchFile,
  claimed,
  payment,
  payout,
  plannedRow,
  planning,
  record,
  refund,
  worker,
} from "./small-ledger.ts";

/** A payment, a payout, a refund whose outcome is unknown, a batch and a callback. */
async function fill(ledger: Ledger): Promise<void> {
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
    fault: null,
    finding: "f",
  });
}

async function planBatch({ batches }: Ledger): Promise<void> {
  const claim = await batches.claim({ ...batchFile("payees.csv"), method: null }, whichBatch);
  const rows = [1, 2].map((row) => plannedRow(row, { name: "Rahim" }));
  expect(
    await batches.plan(
      claim.batch,
      planning(() => rows),
    ),
  ).toMatchObject({
    kind: "planned",
  });
}

interface Altered {
  test: typeof serverTest;
  /** The findings of a check of a ledger that was changed with plain SQL. */
  foundAfter(sql: string): Promise<Integrity>;
}

let original: Database;
let server: pg.Client;
/** Of a user who may only use the ledger. */
let login: ServerLogin;

const sqlite: Altered = {
  test,
  foundAfter: async (sql) => {
    const copy = join(scratchFolder(), "ledger.db");
    writeCopy(original, copy);
    return inDatabase(copy, (ledger) => {
      ledger.exec("PRAGMA foreign_keys = OFF");
      alter(ledger, () => ledger.exec(sql));
      return integrityOf(ledger);
    });
  },
};

const postgres = {
  test: serverTest,
  /** In a transaction that is rolled back. */
  foundAfter: async (sql: string) => {
    await server.query(
      `BEGIN; SET LOCAL search_path = lenden; ${sql}; SET LOCAL search_path = public`,
    );
    const query: Query = async (sql, ...values) => {
      const texts = values.map((value) => (typeof value === "bigint" ? String(value) : value));
      return (await server.query(sql, texts)).rows;
    };
    try {
      return await serverIntegrityOf({ snapshot: (work) => work(query) });
    } finally {
      await server.query("ROLLBACK");
    }
  },
} satisfies Altered;

const clock = { now: Date.now, leftMs: patient };

beforeAll(async () => {
  original = await openDatabase(":memory:");
  await fill(openLedger(original, worker()));
  if (isSkipped) return;
  const cluster = await sharedCluster();
  const database = await cluster.create();
  await cluster.run(schemaSql(), database);
  await cluster.run(`CREATE ROLE app LOGIN IN ROLE ${writerRole}`);
  const { folder: host, port } = cluster;
  login = {
    ...{ text: "the server", host, port, database, user: "app" },
    ...{ password: async () => "", tls: false },
  };
  const clocks = { ...clock, wallMs: Date.now, monotonicMs: () => performance.now() };
  const head = join(scratchFolder(), "head");
  const { ledger, close } = await openServerLedger(login, { ...worker(), ...clocks }, head);
  await fill(ledger);
  await close();
  const types = { getTypeParser: () => (text: string) => text };
  server = new pg.Client({ host, port, database, user: "postgres", password: "", types });
  await server.connect();
  await server.query(`SET session_replication_role = replica; ${droppingChecks}`);
  return () => server.end();
});

const ofPayout = "reference = 'SINGLE'";
const ofRefund = "kind = 'refund'";

const changeOf = (column: string, sql: string): [string, string, string] => ["batch", column, sql];

const inserted = `INSERT INTO operations (number, id, kind, profile, environment, account, reference,
    amount_paisa, asked, origin, actor, state, attempts, "user", command, created_at, updated_at,
    key_hash, base_url, phase, login)
  SELECT 99, 'OP9', kind, profile, environment, account, 'NINE', amount_paisa, asked, origin, actor,
    state, attempts, "user", command, created_at, updated_at, key_hash, base_url, phase, login
  FROM operations WHERE ${ofPayout}`;

const addedOrMissing: [string, string, string][] = [
  ["operation", "added", inserted],
  ["operation", "missing", `DELETE FROM operations WHERE ${ofPayout}`],
  ["batch", "missing", "DELETE FROM batches"],
  ["batch", "missing", "UPDATE batches SET row_count = NULL"],
  ["account", "added", "INSERT INTO accounts (environment, name) VALUES ('sandbox', 'other')"],
  ["key", "missing", "DELETE FROM account_keys"],
];

const changeIndex =
  "DROP INDEX by_reference; CREATE INDEX by_reference ON operations (account, reference)";

/** What the owner of a ledger file can change, and the check finds. */
const changedSchema: [string, string, string][] = [
  [
    "trigger",
    "added",
    "CREATE TRIGGER quiet AFTER INSERT ON operations BEGIN DELETE FROM batches; END",
  ],
  ["view", "added", "CREATE VIEW everything AS SELECT * FROM operations"],
  ["table", "added", "CREATE TABLE more (x)"],
  ["index", "missing", "DROP INDEX by_reference"],
  ["index", "changed", changeIndex],
  ["table", "changed", "ALTER TABLE operations ADD COLUMN more TEXT"],
];

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
])("ledger check of %s", (name, { test, foundAfter }) => {
  test("finds nothing in an unmodified ledger", async () => {
    expect(await foundAfter("SELECT 1")).toMatchObject({
      modified: [],
      brokenAt: null,
      damage: [],
    });
  });

  describe("finds a changed column of an operation", () => {
    test.each(operationColumns)("%s", async (column, value, kind) => {
      const which = kind === "refund" ? ofRefund : ofPayout;
      const found = await foundAfter(`UPDATE operations SET "${column}" = ${value} WHERE ${which}`);
      expect(found.modified).toEqual([
        expect.objectContaining({ kind: "operation", problem: "changed", columns: [column] }),
      ]);
    });
  });

  describe("finds a changed column of an event", () => {
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
        `UPDATE events SET "${column}" = ${value} WHERE number =
          (SELECT number FROM events WHERE event = 'intent' AND data LIKE '%SINGLE%')`,
      );
      expect(brokenAt).toEqual(expect.any(Number));
    });
  });

  test.each([
    ["has another name", "event = 'unknown'"],
    ["has another name of those that exist", "event = 'resumed'"],
    ["is no JSON", "data = '{'"],
    ["is no object", "data = '[]'"],
    ["lacks a field", `data = replace(data, '"command"', '"com"')`],
    ["has a field of another type", `data = replace(data, '"500"', '"5x"')`],
  ])("finds an event that cannot be read because it %s", async (_, change) => {
    const { modified } = await foundAfter(
      `UPDATE events SET ${change} WHERE event = 'intent' AND data LIKE '%SINGLE%'`,
    );
    expect(modified).toEqual([
      expect.objectContaining({ kind: "operation", problem: "changed", columns: ["events"] }),
    ]);
  });

  test("finds an acceptance that cannot be read", async () => {
    const values = "(SELECT max(number) + 1 FROM events), '', 'accepted', '{', '', '', ''";
    const sql = `INSERT INTO events (number, at, event, data, commit_id, hash, login) SELECT ${values}`;
    expect(await foundAfter(sql)).toMatchObject({
      accepted: null,
      brokenAt: expect.any(Number),
    });
  });

  describe("finds a changed batch or account", () => {
    const changed = (name: string) => `UPDATE batches SET "${name}"`;
    const changedRow = (name: string) => `UPDATE batch_rows SET "${name}"`;
    const foundAs = (name: string) =>
      name === "accepted" ? name : name === "seal" ? "seals" : "rows";
    test.each<[string, string, string]>([
      ...batchColumns.map(([name, value]) =>
        changeOf(name === "seal" ? "seals" : name, `${changed(name)} = ${value}`),
      ),
      ...rowColumns.map(([name, value]) =>
        changeOf(foundAs(name), `${changedRow(name)} = ${value} WHERE "row" = 1`),
      ),
      ["batch", "rows,seals", 'DELETE FROM batch_rows WHERE "row" = 2'],
      [
        "batch",
        "rows,seals",
        `INSERT INTO batch_rows SELECT batch, 3, line, 'ROW-3', amount_paisa, recipient, method_id,
          method, name, description, cells, recipient_key, accepted, seal FROM batch_rows WHERE "row" = 1`,
      ],
      ["account", "environment", "UPDATE accounts SET environment = 'production'"],
      ["account", "name", "UPDATE accounts SET name = 'other'"],
    ])("%s: %s (%s)", async (kind, column, sql) => {
      expect((await foundAfter(sql)).modified).toEqual([
        expect.objectContaining({ kind, problem: "changed", columns: column.split(",") }),
      ]);
    });
  });

  describe("finds a changed callback", () => {
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
      ["forwarded_fault", "'x'"],
    ])("%s", async (column, value) => {
      const { modified } = await foundAfter(`UPDATE callbacks SET "${column}" = ${value}`);
      expect(modified).toEqual([expect.objectContaining({ kind: "callback", problem: "changed" })]);
    });
  });

  describe("finds an added or missing row, or a changed schema", () => {
    test.each([...addedOrMissing, ...(name === "SQLite" ? changedSchema : [])])(
      "%s %s: %s",
      async (kind, problem, sql) => {
        const { modified } = await foundAfter(sql);
        expect(modified).toContainEqual(expect.objectContaining({ kind, problem }));
      },
    );
  });
});

serverTest("ledger check of PostgreSQL needs no more rights than sending", async () => {
  const { connection } = connectTo(login, clock, join(scratchFolder(), "head"));
  onTestFinished(() => connection.close());
  expect(await serverIntegrityOf(connection)).toMatchObject({ modified: [], server: [] });
});

const restricted = "SET LOCAL ROLE app";

serverTest.each<[string, object[]]>([
  ["SELECT 1", [{ kind: "superuser", login: "postgres" }]],
  [
    "GRANT INSERT (login) ON events TO app",
    [{ kind: "superuser", login: "postgres" }, privilege("events", "INSERT", ["login"])],
  ],
  [
    `GRANT INSERT ON operations TO app; ${restricted}`,
    [privilege("operations", "INSERT", ["login"])],
  ],
  [
    `GRANT UPDATE (login) ON batches TO app; ${restricted}`,
    [privilege("batches", "UPDATE", ["login"])],
  ],
  [restricted, []],
  [`GRANT DELETE ON events TO app; ${restricted}`, [privilege("events", "DELETE")]],
  [`GRANT TRUNCATE ON events TO ${writerRole}; ${restricted}`, [privilege("events", "TRUNCATE")]],
  [`GRANT UPDATE ON accounts TO PUBLIC; ${restricted}`, [privilege("accounts", "UPDATE")]],
  [
    `GRANT UPDATE (state, amount_paisa) ON operations TO app; ${restricted}`,
    [privilege("operations", "UPDATE", ["amount_paisa"])],
  ],
  [`ALTER TABLE events OWNER TO app; ${restricted}`, [{ kind: "owner", login: "app" }]],
  [
    `SET LOCAL synchronous_commit = off; ${restricted}`,
    [{ kind: "setting", name: "synchronous_commit", value: "off" }],
  ],
])(
  "ledger check of PostgreSQL names unneeded rights and unsafe settings: %s",
  async (sql, found) => {
    const { server } = await postgres.foundAfter(sql);
    // Other tests have logins at the same server.
    expect(server.filter((one) => one.kind === "setting" || ours.includes(one.login))).toEqual(
      found,
    );
  },
);

const ours = ["app", "postgres"];

function privilege(table: string, privilege: string, columns: string[] = []) {
  return { kind: "privilege", login: "app", table, privilege, columns };
}

describe("a ledger with another schema than its version is not migrated", () => {
  test.each([
    [0, "ledger.schema-modified"],
    [8, "ledger.newer-version"],
  ])("PRAGMA user_version = %i", async (version, reason) => {
    const copy = join(scratchFolder(), "ledger.db");
    writeCopy(original, copy);
    await inDatabase(copy, (ledger) => {
      ledger.exec(`PRAGMA user_version = ${version}`);
      expect(() => migrate(ledger)).toThrow(expect.objectContaining({ reason }));
    });
  });
});

test.each(["kind", "environment", "amount_paisa", "recipient_key", "target", "reference", "asked"])(
  "a file rejects a change of %s, by which a claim finds an operation",
  (column) => {
    const change = () => original.exec(`UPDATE operations SET "${column}" = "${column}"`);
    expect(change).toThrow("an order in the ledger does not change");
  },
);
