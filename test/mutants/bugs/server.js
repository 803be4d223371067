import pg from "pg";
import { override } from "../override.js";

const leases = (title) => ["test/ledger/server-leases.test.ts", "-t", title];

const place = (title) => ["test/ledger/server-identity.test.ts", "-t", title];

const firstUse = (title) => ["test/commands/first-use.test.ts", "-t", title];

const beside = (title) => ["test/commands/unmoved-file.test.ts", "-t", title];

/** Bugs of a ledger on PostgreSQL: statements without a part, and a lease that is not measured. */
export const serverBugs = [
  {
    name: "server: a payout is sent beside a file that was never moved",
    seam: "unmoved",
    decorate: () => () => undefined,
    tests: beside("lets no command send"),
  },
  {
    name: "server: a file that was accepted stays accepted, whatever it records later",
    seam: "unmoved",
    decorate: (failureOf) => {
      const accepted = new Set();
      return (found, server) => {
        if (found.state === "accepted") accepted.add(found.path);
        return accepted.has(found.path) ? undefined : failureOf(found, server);
      };
    },
    tests: beside("until it gets another one"),
  },
  {
    name: "server: a file that was moved to one server counts as moved to each",
    seam: "unmoved",
    decorate: (failureOf) => (found, server) =>
      found.state === "moved-elsewhere" ? undefined : failureOf(found, server),
    tests: ["test/ledger/move.test.ts", "-t", "to one server does not open another one"],
  },
  {
    name: "server: a file that was accepted beside one server is accepted beside each",
    seam: "sameLedger",
    decorate: () => () => true,
    tests: beside("for one server and one environment"),
  },
  {
    name: "server: a ledger that was restored, recreated or replaced counts as the same",
    seam: "serverDifferences",
    decorate: () => () => [],
    tests: place("stops"),
  },
  {
    name: "server: the table with the head may be another one",
    seam: "serverDifferences",
    decorate: (right) => (one, other) => right(one, other).filter((part) => part !== "head"),
    tests: place("created again"),
  },
  {
    name: "server: what a server does not tell counts as a difference",
    seam: "serverDifferences",
    decorate: () => (one, other) => Object.keys(one).filter((part) => one[part] !== other[part]),
    tests: place("completed if an earlier version"),
  },
  {
    name: "server: production uses a ledger that is new to the machine without a question",
    seam: "server",
    decorate: (open) => (login, worker, headFile) => open(login, worker, headFile),
    tests: firstUse("asks in a terminal"),
  },
  {
    name: "server: a machine that only read a ledger counts as one that used it",
    seam: "position",
    decorate: (read) => (path) => {
      const stored = read(path);
      return typeof stored === "string" ? stored : { ...stored, isUsed: true };
    },
    tests: firstUse("is not asked for a list"),
  },
  {
    name: "server: the ledger is not locked before facts are read",
    seam: "server",
    decorate: withStatements((sql) => sql.replace(/(FROM lenden\.head\b[^;]*) FOR UPDATE/, "$1")),
    tests: leases("at once"),
  },
  {
    name: "server: a claim does not see the outcomes in its commit",
    seam: "serverDriver",
    decorate: readingFirst,
    tests: ["test/ledger/ledger.test.ts", "-t", "sees the outcomes"],
  },
  {
    name: "server: a process records what another one took over",
    seam: "server",
    decorate: withStatements((sql) =>
      sql
        .replace("AND o.process IS NOT DISTINCT FROM given.before", "")
        .replace("given.taker IS NULL OR", "true OR")
        .replace("process = given.after", "process = coalesce(given.after, o.process)"),
    ),
    tests: leases("P4"),
  },
  {
    name: "server: a process records what was given back to it",
    seam: "server",
    decorate: withStatements((sql) => sql.replace("given.taker IS NULL OR", "true OR")),
    tests: ["test/ledger/other-logins.test.ts", "-t", "stays unknown, whatever"],
  },
  {
    name: "server: a transaction is committed although a row was not changed",
    seam: "server",
    decorate: withStatements((sql) => sql.replace(/\bSELECT 1 \/ (?=\()/, "SELECT ")),
    tests: ["test/ledger/ledger.test.ts", "-t", "I10"],
  },
  {
    name: "server: a COMMIT that is answered with ROLLBACK counts as one",
    seam: "server",
    decorate: withAnswers((result) =>
      result?.command === "ROLLBACK" ? { ...result, command: "COMMIT" } : result,
    ),
    tests: ["test/ledger/server-commits.test.ts", "-t", "answers with ROLLBACK"],
  },
  {
    name: "server: a request is sent until the end of the lease",
    seam: "server",
    decorate: (open) => (login, worker, headFile) =>
      open(login, { ...worker, ...slower(worker) }, headFile),
    tests: leases("less than 10 s"),
  },
  {
    name: "server: the lease is measured by the monotonic clock alone",
    seam: "server",
    decorate: (open) => (login, worker, headFile) =>
      open(login, { ...worker, wallMs: worker.monotonicMs }, headFile),
    tests: leases("less than 10 s"),
  },
  {
    name: "server: a process takes over as soon as a lease ends",
    seam: "server",
    decorate: withStatements((sql) =>
      sql.replaceAll("interval '60 seconds'", "interval '0 seconds'"),
    ),
    tests: leases("P4"),
  },
];

/** What is to be stored is sent after what reads. */
function readingFirst(create) {
  const reading = ({ pending, nextOperation, run }) => ({
    ...{ pending, nextOperation },
    run: async (statements) => {
      const waiting = pending.take();
      const answers = await run(statements);
      for (const one of waiting) pending.send(one);
      return answers;
    },
  });
  return (connection, own) =>
    create(
      override(connection, {
        write: (write) => (work, options) => write((one) => work(reading(one)), options),
      }),
      own,
    );
}

/** Clocks by which 30 s of the lease are 20 s. */
function slower({ monotonicMs, wallMs }) {
  return { monotonicMs: () => (monotonicMs() * 2) / 3, wallMs: () => (wallMs() * 2) / 3 };
}

/** Opens ledgers whose statements are other ones. */
function withStatements(change) {
  return patched(
    (query) =>
      function patchedQuery(sql, ...more) {
        return query.call(this, typeof sql === "string" ? change(sql) : sql, ...more);
      },
  );
}

/** Opens ledgers that get other answers. */
function withAnswers(change) {
  return patched(
    (query) =>
      async function patchedQuery(...asked) {
        return change(await query.apply(this, asked));
      },
  );
}

function patched(replace) {
  let isPatched = false;
  return (open) =>
    (...asked) => {
      if (!isPatched) pg.Client.prototype.query = replace(pg.Client.prototype.query);
      isPatched = true;
      return open(...asked);
    };
}
