import fc from "fast-check";
import { expect, test } from "vitest";
import { readLedgerUrl } from "../../src/domain/ledger-url.ts";
import { runs } from "../support/helpers.ts";

function problemOf(text: string, takesPassword = false): string {
  const read = readLedgerUrl(text, takesPassword);
  return read.ok ? "" : read.problem;
}

test.each([
  ["postgres://ann@db.example/lenden", "postgres://ann@db.example/lenden"],
  ["postgresql://ann@DB.Example.:5432/lenden", "postgres://ann@db.example/lenden"],
  ["postgres://ann@db.example:6432/l%20d", "postgres://ann@db.example:6432/l%20d"],
  ["postgres://ann:@127.1/lenden?sslmode=disable", "postgres://ann@127.0.0.1/lenden"],
  ["postgres://ann@[0:0:0:0:0:0:0:1]/lenden", "postgres://ann@[::1]/lenden"],
  ["postgres://ann@%2fvar%2Frun/lenden", "postgres://ann@%2Fvar%2Frun/lenden"],
  ["postgres://ann@/lenden?host=/var/run/", "postgres://ann@%2Fvar%2Frun/lenden"],
  ["postgres://ann@db.example/lenden?sslmode=require", "postgres://ann@db.example/lenden"],
])("%s names the ledger %s", (typed, text) => {
  expect(readLedgerUrl(typed)).toMatchObject({ ok: true, value: { text } });
});

test("one ledger is recognized by each spelling and each login, and by no other place", () => {
  const ledgerAt = (place: string) => {
    const read = readLedgerUrl(`postgres://${place}`);
    return read.ok ? read.value.ledger : read.problem;
  };
  const hosts = ["localhost", "LOCALHOST.", "127.0.0.1", "127.1", "[::1]", "[0::1]"];
  const spelled = hosts.flatMap((host) => [`ann@${host}/l`, `bo@${host}:5432/l`]);
  expect(new Set(spelled.map(ledgerAt))).toEqual(new Set(["postgres://localhost/l"]));
  const others = [
    "localhost:5433/l",
    "localhost/L",
    "127.0.0.2/l",
    "%2Frun/l",
    "db/l",
    "db.example/l",
  ];
  expect(new Set(others.map((place) => ledgerAt(`ann@${place}`))).size).toBe(others.length);
  expect(ledgerAt("ann@DB.Example.:5432/l")).toBe(ledgerAt("bo@db.example/l"));
});

test("only loopback addresses and sockets are local", () => {
  const isLocal = (host: string) => {
    const read = readLedgerUrl(`postgres://ann@${host}/lenden`);
    return read.ok && read.value.isLocal;
  };
  const hosts = ["localhost", "127.9.0.1", "2130706433", "[::1]", "%2Ftmp"];
  expect(hosts.filter((host) => !isLocal(host))).toEqual([]);
  const elsewhere = ["localhost.example", "10.0.0.1", "[::2]", "db", "127.0.0.1.example"];
  expect(elsewhere.filter(isLocal)).toEqual([]);
});

test.each([
  ["mysql://ann@db/lenden", "not a valid ledger URL"],
  ["ledger.db", "not a valid ledger URL"],
  ["postgres://ann@db/len den", "not a valid ledger URL"],
  ["postgres://db/lenden", "The user is missing."],
  ["postgres://a%@db/lenden", "The user is not valid."],
  [`postgres://${"a".repeat(64)}@db/lenden`, "The user is not valid."],
  ["postgres://ann@/lenden", "The host is missing."],
  ["postgres://ann@a,b/lenden", "The host is not valid."],
  ["postgres://ann@256.1.1.1/lenden", "The host is not valid."],
  ["postgres://ann@db:0/lenden", "The port is not"],
  ["postgres://ann@db:65536/lenden", "The port is not"],
  ["postgres://ann@db", "The database is missing."],
  ["postgres://ann@db/a/b", "The database name is not valid."],
  ["postgres://ann@db/a%00", "The database name is not valid."],
  ["postgres://ann@db/lenden#x", "fragment"],
  ["postgres://ann@db/lenden?options=-c", "The parameter options is not supported."],
  ["postgres://ann@db/lenden?sslmode=prefer", "sslmode must be"],
  ["postgres://ann@db/lenden?sslmode=disable", "on this machine only"],
  ["postgres://ann@localhost/lenden?sslmode=require", "there is no TLS"],
  ["postgres://ann@db/lenden?host=/tmp", "Use one of them"],
  ["postgres://ann@/lenden?host=tmp", "not a full path"],
])("%s is rejected: %s", (typed, why) => {
  expect(problemOf(typed)).toContain(why);
});

test("all problems of a URL are named at once", () => {
  const problem = problemOf("postgres://:x@db:99999?sslmode=disable&options=a");
  for (const part of ["user", "password", "port", "database", "sslmode=disable", "options"])
    expect(problem).toContain(part);
});

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((text) => {
  return !/[\p{C}]/u.test(text) && text.isWellFormed();
});
const host = fc.constantFrom("db.example", "127.0.0.1", "[2001:db8::1]", "%2Ftmp%2Fpg");

test("a password is rejected or kept apart, and appears in no text", () => {
  const secret = fc.string({ unit: "grapheme-ascii", minLength: 5, maxLength: 20 }).map((text) => {
    return `#Pw/${text}@`;
  });
  fc.assert(
    fc.property(name, secret, host, fc.boolean(), (user, password, at, isEncoded) => {
      const [login, typed] = [encodeURIComponent(user), encodeURIComponent(password)];
      const text = `postgres://${login}:${isEncoded ? typed : password}@${at}/lenden`;
      const rejected = readLedgerUrl(text);
      expect(rejected.ok).toBe(false);
      expect(JSON.stringify(rejected)).not.toContain("Pw");
      const accepted = readLedgerUrl(text, true);
      expect(accepted.ok).toBe(isEncoded);
      expect(accepted.ok ? accepted.value.password : password).toBe(password);
      expect(accepted.ok ? accepted.value.text : accepted.problem).not.toContain("Pw");
    }),
    { numRuns: runs(300, 20_000) },
  );
});

test("a URL as it is shown reads as the same ledger", () => {
  const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
  fc.assert(
    fc.property(name, host, port, name, (user, at, port, database) => {
      const login = encodeURIComponent(user);
      const place = port === undefined ? at : `${at}:${port}`;
      const first = readLedgerUrl(`postgres://${login}@${place}/${encodeURIComponent(database)}`);
      fc.pre(first.ok); // a name may be too long
      expect(first.value).toMatchObject({ user, database, port: port ?? 5432 });
      expect(readLedgerUrl(first.value.text)).toEqual(first);
    }),
    { numRuns: runs(300, 20_000) },
  );
});

test("no text makes the reader fail", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
      expect(typeof readLedgerUrl(`postgres://${text}`, true).ok).toBe("boolean");
    }),
    { numRuns: runs(200, 50_000) },
  );
});
