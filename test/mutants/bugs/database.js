import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { override } from "../override.js";

const sending = (title) => ["test/operations/payout/send-safety.test.ts", "-t", title];
const money = (title) => ["test/commands/api-money.test.ts", "-t", title];
const durable = (title) => ["test/ledger/durable.test.ts", "-t", title];
const safety = (title) => ["test/batch/send-safety.test.ts", "-t", title];
const fixedBatches = ["test/simulator/batch.test.ts", "-t", "two hundred batches"];

/** The outcome of an operation in one of these is unknown. */
const unknown = ["INTENT", "UNCERTAIN"];

/** Bugs of the database below the ledger. They match statements by verb and table, never as a whole. */
export const databaseBugs = [
  {
    name: "no intent: the reference is not written down before it is sent",
    seam: "database",
    decorate: withoutIntents,
    tests: sending("P4: a second process"),
  },
  {
    name: "a raw call that moves money is not written down",
    seam: "database",
    decorate: withoutIntents,
    tests: money("a raw payout is in the ledger"),
  },
  {
    name: "intent not durable: synchronous=OFF",
    seam: "file",
    decorate: (database) => {
      database.exec("PRAGMA synchronous = OFF");
      return database;
    },
    tests: durable("is on the disk when it returns"),
  },
  {
    name: "intent not durable: the transaction is not committed",
    seam: "file",
    decorate: (database) => rollingBack(database, () => true),
    tests: sending("P8: a death before the intent"),
  },
  {
    name: "a transaction is no transaction",
    seam: "file",
    decorate: withoutTransactions,
    tests: sending("P7: a disk that is full"),
  },
  {
    name: "the check for duplicate payouts is outside the transaction of the claim",
    seam: "database",
    decorate: withoutTransactions,
    tests: durable("P4: no other process"),
  },
  {
    name: "ledger error swallowed at the end",
    seam: "ledger",
    decorate: (ledger) => swallowing(ledger, ({ release }) => release),
    tests: sending("P21: if the ledger fails at the end"),
  },
  {
    name: "ledger error swallowed between attempts",
    seam: "ledger",
    decorate: (ledger) => swallowing(ledger, ({ release }) => !release),
    tests: sending("I4: a ledger that fails between"),
  },
  {
    name: "half of a character is stored, and ends the process that reads it",
    seam: "ledger",
    decorate: (ledger) => {
      const value = function () {
        return String(this);
      };
      Object.defineProperty(String.prototype, "toWellFormed", { value });
      return ledger;
    },
    tests: ["test/ledger/ledger.test.ts", "-t", "lone surrogate"],
  },
  {
    name: "the day of an unknown outcome begins with the first intent",
    seam: "database",
    decorate: (database) => reading(database, "operations", () => ({ reopened_at: null })),
    tests: sending("P25: the 24 hours start"),
  },
  {
    name: "the unknown outcome of an earlier run is forgotten",
    seam: "database",
    decorate: (database) => forgetting(database, "payout", unknown),
    tests: sending("I2, P6: a reference of unknown outcome"),
  },
  {
    name: "a payout older than a day is sent again",
    seam: "database",
    decorate: (database, worker) =>
      reading(database, "operations", () => {
        const now = new Date(worker.now()).toISOString();
        return { created_at: now, reopened_at: now };
      }),
    tests: ["test/commands/resolve.test.ts", "-t", "P25"],
  },
  {
    name: "an operation whose outcome is unknown is recorded as not sent",
    seam: "database",
    decorate: (database) =>
      writing(
        database,
        /^\s*UPDATE operations\b/,
        (run) =>
          (...values) =>
            run(
              ...values.map((value) =>
                typeof value === "string" ? value.replace(/\bUNCERTAIN\b/g, "NOT_SENT") : value,
              ),
            ),
      ),
    tests: sending("I2, P6: a reference of unknown outcome"),
  },
  {
    name: "a resumed payout leaves no trace for who read it before",
    seam: "database",
    decorate: (database) =>
      writing(database, /^\s*UPDATE operations\b/, (run) => (...values) => {
        const before = database.prepare("SELECT * FROM operations").all();
        const count = run(...values);
        const restore = database.prepare(
          `UPDATE operations SET updated_at = ? WHERE number = ? AND process IS NOT NULL
            AND (process IS NOT ? OR held_since IS NOT ?)`,
        );
        for (const { number, process, held_since: since, updated_at: at } of before)
          restore.run(at, number, process, since);
        return count;
      }),
    tests: ["test/operations/resolve.test.ts", "-t", "waits after a process that ended"],
  },
  {
    name: "one record of the service counts for two operations",
    seam: "database",
    decorate: withoutRecords,
    tests: ["test/operations/create.test.ts"],
  },
  {
    name: "a claim does not count the claims before it in its commit",
    seam: "claimKeys",
    decorate: withUniqueKeys,
    tests: ["test/ledger/ledger.test.ts", "-t", "before it in the same change"],
  },
  {
    name: "I10: an id that another operation has is recorded once more",
    seam: "database",
    decorate: withoutRecords,
    tests: ["test/ledger/ledger.test.ts", "-t", "I10"],
  },
  {
    name: "I10: two rows of one commit get the same ID",
    seam: "database",
    decorate: withOldIds,
    tests: ["test/ledger/ledger.test.ts", "-t", "in one change is recorded once"],
  },
  {
    name: "of what cannot be looked at it is said that it is gone",
    seam: "processLock",
    decorate: (lock, { ledger }) =>
      override(lock, {
        isAlive: (isAlive) => (name) =>
          existsSync(join(dirname(ledger), "processes", name)) && isAlive(name),
      }),
    tests: ["test/program/process-locks.test.ts"],
  },
  {
    name: "a held reference is stolen",
    seam: "worker",
    decorate: (worker) => override(worker, { isAlive: () => () => false }),
    tests: sending("P4: a second process"),
  },
  {
    name: "a process that holds a reference is not known to others",
    seam: "database",
    decorate: (database) => writing(database, /^\s*INSERT INTO processes\b/, () => () => 1),
    tests: sending("P4: a second process"),
  },
  {
    name: "a known reference is sent again",
    seam: "database",
    decorate: (database) => forgetting(database, "payout", ["CONFIRMED"]),
    tests: [
      "test/commands/duplicate-protection.test.ts",
      "-t",
      "shows the existing payout that is",
    ],
  },
  {
    name: "a known reference is sent again by hand",
    seam: "database",
    decorate: (database) => forgetting(database, "payout", ["CONFIRMED"]),
    tests: money("a raw payout is in the ledger"),
  },
  {
    name: "a payout is sent beside one whose outcome is unknown",
    seam: "database",
    decorate: (database) => forgetting(database, "payout", unknown),
    tests: ["test/commands/duplicate-protection.test.ts", "-t", "rejects a payout of state"],
  },
  {
    name: "--again is not needed for an uncertain payment",
    seam: "database",
    decorate: (database) => forgetting(database, "payment", unknown),
    tests: [
      "test/commands/resolve.test.ts",
      "-t",
      "a payment whose outcome is unknown is rejected",
    ],
  },
  {
    name: "a raw payment without an answer may be made again",
    seam: "database",
    decorate: (database) => forgetting(database, "payment", unknown),
    tests: money("without a response is rejected the second time"),
  },
  {
    name: "uncertain refunds do not count in the sum",
    seam: "database",
    decorate: (database) => forgetting(database, "refund", unknown),
    tests: ["test/commands/unknown-statuses.test.ts", "-t", "stay within its amount"],
  },
  {
    name: "a payment of a minute ago is no duplicate",
    seam: "database",
    decorate: (database) =>
      reading(database, "operations", ({ kind, created_at: at }) =>
        kind === "payment"
          ? { created_at: new Date(Date.parse(at) - 3_600_000).toISOString() }
          : {},
      ),
    tests: ["test/commands/duplicate-protection.test.ts", "-t", "payment for ten minutes"],
  },
  {
    name: "batch: its lock is not taken",
    seam: "database",
    decorate: (database) =>
      writing(
        database,
        /^\s*UPDATE batches\b.*\bprocess\b/s,
        after((result) => {
          database.exec("UPDATE batches SET process = NULL, held_since = NULL");
          return result;
        }),
      ),
    tests: safety("P4: a batch is locked"),
  },
  {
    name: "batch: its lock is stolen although the holder lives",
    seam: "database",
    decorate: (database) => reading(database, "batches", () => ({ holder: null })),
    tests: safety("P4: a batch is locked"),
  },
  {
    name: "a trigger that another program added to the ledger is trusted",
    seam: "file",
    decorate: (database) => {
      database.exec("PRAGMA trusted_schema = ON");
      return database;
    },
    tests: ["test/commands/ledger.test.ts", "-t", "trigger reads"],
  },
  {
    name: "batch: a process that lost it releases and cancels what another one took",
    seam: "database",
    decorate: (database) =>
      override(database, {
        prepare: (prepare) => (sql) =>
          prepare(
            /\bbatches\b/.test(sql)
              ? sql.replace(/\b(AND|OR) process = (\+?\?)/g, "$1 $2 IS NOT NULL")
              : sql,
          ),
      }),
    tests: ["test/ledger/batches.test.ts", "-t", "is not released"],
  },
  {
    name: "batch: what an interrupted plan left is not overwritten",
    seam: "database",
    decorate: (database) =>
      override(database, {
        prepare: (prepare) => (sql) =>
          prepare(
            sql.replace(
              /\bINSERT OR REPLACE INTO batch_rows\b/,
              "INSERT OR IGNORE INTO batch_rows",
            ),
          ),
      }),
    tests: ["test/ledger/batches.test.ts", "-t", "only the rows of its next plan"],
  },
  {
    name: "batch: a plan counts before its rows are durable",
    seam: "database",
    decorate: (database) =>
      writing(
        database,
        /^\s*UPDATE (?:OR \w+ )?batches\b.*\brow_count\b/s,
        (run) =>
          (...values) => {
            const count = run(...values);
            database.exec("DELETE FROM batch_rows WHERE row > 3");
            return count;
          },
      ),
    tests: safety("in the order of the file"),
  },
  {
    name: "batch: what was killed in flight is not unknown",
    seam: "database",
    decorate: (database) =>
      override(database, {
        prepare: (prepare) => (sql) =>
          prepare(
            /^\s*SELECT\b.*\bbatch_rows\b/s.test(sql) ? sql.replaceAll("'INTENT'", "''") : sql,
          ),
      }),
    tests: safety("P9, I3"),
  },
  {
    name: "batch: the sums drop a state",
    seam: "database",
    decorate: (database) =>
      withStatements(database, /^\s*SELECT\b.*\bbatch_rows\b.*\bGROUP BY\b/s, {
        all: after((rows) => rows.filter(({ state }) => state !== "REFUSED")),
      }),
    tests: fixedBatches,
  },
];

/** Other functions of the statements that match. */
function withStatements(database, pattern, changes) {
  return override(database, {
    prepare: (prepare) => (sql) => {
      const statement = prepare(sql);
      return pattern.test(sql) ? override(statement, changes) : statement;
    },
  });
}

/** Changes the result of a function. */
function after(change) {
  return (work) =>
    (...values) =>
      change(work(...values));
}

/** Another function in place of each that runs a statement, for the statements that match. */
function writing(database, pattern, change) {
  return withStatements(database, pattern, { run: change, get: change, all: change });
}

/** Other columns in the rows that are read of a table. */
function reading(database, table, change) {
  const pattern = new RegExp(`^\\s*(?:SELECT|WITH)\\b.*\\bFROM ${table}\\b`, "s");
  const read = (row) => row && { ...row, ...change(row) };
  return withStatements(database, pattern, {
    get: after(read),
    all: after((rows) => rows.map(read)),
  });
}

/** Operations of a kind in these states are read as if they were never sent. */
function forgetting(database, kind, states) {
  return reading(database, "operations", (row) =>
    row.kind === kind && states.includes(row.state) ? { state: "NOT_SENT" } : {},
  );
}

/** Rolls back each transaction that `isWanted` names at its end, and says nothing of that. */
function rollingBack(database, isWanted) {
  const undone = new Error("rolled back");
  let depth = 0;
  return override(database, {
    transaction: (transaction) => (work) => {
      if (depth > 0) return transaction(work);
      let result;
      depth += 1;
      try {
        return transaction(() => {
          result = work();
          if (isWanted()) throw undone;
          return result;
        });
      } catch (error) {
        if (error !== undone) throw error;
        return result;
      } finally {
        depth -= 1;
      }
    },
  });
}

function withoutIntents(database) {
  let hasIntent = false;
  const notice = after((result) => {
    hasIntent = true;
    return result;
  });
  const insert = /^\s*INSERT (?:OR \w+ )?INTO operations\b/;
  const noticing = withStatements(database, insert, { run: notice, get: notice, all: notice });
  return rollingBack(noticing, () => {
    const had = hasIntent;
    hasIntent = false;
    return had;
  });
}

function withoutTransactions(database) {
  return override(database, { transaction: () => (work) => work() });
}

/** Swallows the error of an outcome that cannot be recorded, alone or with others of a batch. */
function swallowing(ledger, isSuch) {
  const swallowed = (error, requests) => {
    if (!requests.every((one) => one.kind === "record" && isSuch(one))) throw error;
    return requests.map(() => ({ kind: "recorded" }));
  };
  return override(ledger, {
    change: (change) => (requests) => change(requests).catch((error) => swallowed(error, requests)),
    record: (record) => (request) =>
      record(request).catch((error) => swallowed(error, [{ kind: "record", ...request }])[0]),
  });
}

/** No two claims have a key in common but their reference, which the database itself stores once. */
function withUniqueKeys(keysOf) {
  let count = 0;
  return (claim) => {
    count += 1;
    return keysOf(claim).map((key) => (key.startsWith("ref ") ? key : `${key} ${count}`));
  };
}

/** Compares the ID of an outcome with those of before the transaction: only before its first update is one found. */
function withOldIds(database) {
  let updatedIn = -1;
  const noticing = writing(
    database,
    /^\s*UPDATE operations\b/,
    after((result) => {
      updatedIn = database.transactionCount();
      return result;
    }),
  );
  const isSameId = /^\s*SELECT\b.*\boperations\b.*\bother\.remote_id\b/s;
  return withStatements(noticing, isSameId, {
    all: after((rows) => (updatedIn === database.transactionCount() ? [] : rows)),
  });
}

/** Finds no operation by the ID of the API. */
function withoutRecords(database) {
  return override(database, {
    prepare: (prepare) => (sql) =>
      prepare(
        /^\s*SELECT\b.*\boperations\b/s.test(sql)
          ? sql.replace(/\bremote_id = \+?\?/g, "$& AND false")
          : sql,
      ),
  });
}
