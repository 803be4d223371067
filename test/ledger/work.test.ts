import { describe, expect, test } from "vitest";
import { createDriver as createServerDriver } from "../../src/ledger/postgres/driver.ts";
import { ServerProcess } from "../../src/ledger/postgres/processes.ts";
import type { Driver } from "../../src/ledger/sql/driver.ts";
import { all, both, done, query, RowsMissing, type Work } from "../../src/ledger/sql/work.ts";
import { createDriver } from "../../src/ledger/sqlite/driver.ts";
import { migrate } from "../../src/ledger/sqlite/schema.ts";
import type { Row } from "../../src/ledger/values.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { collect } from "../support/helpers.ts";
import { isSkipped } from "../support/postgres.ts";
import { ledgerDatabase, patient } from "./server-ledger.ts";
import { worker } from "./small-ledger.ts";

const drivers: { name: string; isMissing: boolean; open(): Promise<Driver> }[] = [
  {
    name: "SQLite",
    isMissing: false,
    open: async () => {
      const database = await openDatabase(":memory:");
      migrate(database);
      return createDriver(database, worker());
    },
  },
  {
    name: "PostgreSQL",
    isMissing: isSkipped,
    open: async () => {
      const { connection } = await (await ledgerDatabase()).open();
      const clocks = { monotonicMs: () => 0, wallMs: () => 0, leftMs: patient };
      return createServerDriver(
        connection,
        new ServerProcess(connection, { ...worker(), ...clocks }),
      );
    },
  },
];

const insert = "INSERT INTO lenden.accounts (environment, name) VALUES ($1, $2)";
const names = (driver: Driver) =>
  driver.read(function* () {
    const rows = yield* query("SELECT name FROM lenden.accounts ORDER BY number");
    return rows.map(({ name }) => name);
  });

for (const { name, isMissing, open } of drivers)
  describe.skipIf(isMissing)(`work on a database (${name})`, () => {
    test("sees what it sent before, and commits what it sent last", async () => {
      const driver = await open();
      const seen = await driver.write(function* (write) {
        write.send({ sql: insert, values: ["sandbox", "first"] });
        const rows = yield* query("SELECT name FROM lenden.accounts");
        write.send({ sql: insert, values: ["sandbox", "last"] });
        return rows;
      });
      expect(seen).toEqual([{ name: "first" }]);
      expect(await names(driver)).toEqual(["first", "last"]);
    });

    test.each([0, 2])("commits nothing if a statement changes 1 row and not %i", async (rows) => {
      const driver = await open();
      const failing = driver.write((write) => {
        write.send({ sql: insert, values: ["sandbox", "one"] });
        return done(write.send({ sql: insert, values: ["sandbox", "other"], rows }));
      });
      await expect(failing).rejects.toThrow(RowsMissing);
      expect(await names(driver)).toEqual([]);
    });

    test("stops work at the statement that must find a row", async () => {
      const driver = await open();
      const sql = "SELECT 1 FROM lenden.accounts WHERE name = $1";
      const found = driver.write(function* (write): Work<string> {
        write.send({ sql: insert, values: ["sandbox", "kept"] });
        try {
          yield [{ sql, values: ["missing"], rows: 1 }];
        } catch (error) {
          throw new Error("taken", { cause: error });
        }
        return "never";
      });
      await expect(found).rejects.toThrow("taken");
      expect(await names(driver)).toEqual([]);
    });

    test("gets the rows of each statement of a step, and of each given row in its place", async () => {
      const driver = await open();
      const rows = [
        { place: 0n, text: "রহিম\u{1F600}'\"\\", number: 2n ** 62n },
        { place: 1n, text: null, number: null },
      ];
      const columns = { place: "number", text: "text", number: "number" } as const;
      const sql =
        "SELECT given.place AS place, given.text AS text, given.number AS number FROM given";
      const found = await driver.read(function* (): Work<{ given: Row[]; sum: string }> {
        const [given = [], [one] = []] = yield [
          { sql, values: [], given: { columns, rows } },
          { sql: "SELECT CAST($1 AS bigint) + 1 AS sum", values: [1n] },
        ];
        return { given, sum: String(one?.sum) };
      });
      const texts = rows.map((row) => [row.text, row.number === null ? null : String(row.number)]);
      expect(
        found.given.map((row) => [row.text, row.number === null ? null : String(row.number)]),
      ).toEqual(texts);
      expect(found.sum).toBe("2");
    });

    test("reads pages in the order of a number", async () => {
      const driver = await open();
      const rows = Array.from({ length: 4_100 }, (_, n) => ({ name: `A-${n}` }));
      const sql =
        "INSERT INTO lenden.accounts (environment, name) SELECT $1, given.name FROM given";
      const given = { columns: { name: "text" }, rows } as const;
      await driver.write((write) =>
        done(write.send({ sql, values: ["sandbox"], given, rows: rows.length })),
      );
      const from = "FROM lenden.accounts a WHERE a.environment = $1";
      const columns = { number: "a.number", name: "a.name" };
      const pages = await collect(
        driver.pages(columns, from, { by: "a.number", values: ["sandbox"] }),
      );
      expect(pages.flat().map((row) => row.name)).toEqual(rows.map((row) => row.name));
      expect(pages.length).toBeGreaterThan(2);
    });
  });

test("works side by side yield together, each until it ends", () => {
  const asking = function* (sqls: string[]): Work<string[]> {
    const seen: string[] = [];
    for (const sql of sqls) seen.push(String((yield* query(sql))[0]?.of));
    return seen;
  };
  const work = both(all([asking(["a", "b"]), asking([]), asking(["c"])]), asking(["d", "e", "f"]));
  const steps: string[][] = [];
  let step = work.next([]);
  while (!step.done) {
    const asked = step.value.map(({ sql }) => sql);
    steps.push(asked);
    step = work.next(asked.map((of) => [{ of }]));
  }
  expect(steps).toEqual([["a", "c", "d"], ["b", "e"], ["f"]]);
  expect(step.value).toEqual([
    [["a", "b"], [], ["c"]],
    ["d", "e", "f"],
  ]);
});
