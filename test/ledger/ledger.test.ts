import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { build as bundle } from "rolldown";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../src/ledger/database.ts";
import { type Ledger, openLedger } from "../../src/ledger/ledger.ts";
import type { Intent } from "../../src/ledger/operation.ts";
import type { Worker } from "../../src/ledger/worker.ts";
import { inDatabase, openMerchant, payoutOf } from "../merchant.ts";
import { scratchFolder } from "../run.ts";
import { runs } from "../runs.ts";
import { launcher, tool } from "../tool.js";

const startMs = Date.parse("2026-11-20T10:00:00.000Z");
const owner = { profile: "shop", environment: "sandbox", baseUrl: "http://a", keyId: "key" };

/** A worker whose clock ticks a second each time, and whose other processes are those in `alive`. */
function worker(given: Partial<Worker> = {}, alive: number[] = []): Worker {
  let ticks = 0;
  return {
    owner,
    user: "tester",
    command: "test",
    holder: { pid: 1, startedAt: "1", machine: "m" },
    now: () => startMs + 1_000 * ticks++,
    newId: () => `OP${Math.random().toString(36).slice(2)}`,
    scrub: (text: string) => text,
    isAlive: ({ pid }) => alive.includes(pid),
    ...given,
  };
}

function payout(reference: string, fingerprint = "f"): Intent & { reference: string } {
  return {
    kind: "payout",
    reference,
    fingerprint,
    amountPaisa: 500n,
    target: null,
    asked: { to: "x" },
  };
}

function payment(fingerprint: string): Intent {
  return {
    kind: "payment",
    reference: null,
    fingerprint,
    amountPaisa: 7n,
    target: null,
    asked: {},
  };
}

function refund(target: string): Intent {
  return { kind: "refund", reference: null, fingerprint: "r", amountPaisa: 5n, target, asked: {} };
}

async function memoryLedger(given: Partial<Worker> = {}, alive: number[] = []) {
  const database = await openDatabase(":memory:");
  return { database, ledger: openLedger(database, worker(given, alive)) };
}

const letGo = { letGo: true };

describe("a claim", () => {
  test("P4: is new once, held while its process lives, and resumed when that died", async () => {
    const alive = [1];
    const { ledger } = await memoryLedger({}, alive);
    expect(ledger.claim(payout("A"))).toMatchObject({
      kind: "new",
      operation: {
        state: "INTENT",
        reference: "A",
        attempts: 0,
        amountPaisa: 500n,
        asked: { to: "x" },
      },
    });
    expect(ledger.claim(payout("A"))).toMatchObject({ kind: "held", by: { pid: 1, machine: "m" } });
    alive.pop();
    expect(ledger.claim(payout("A"))).toMatchObject({ kind: "resumed" });
  });

  test("P4: is held by whoever resumed it, no longer by who died", async () => {
    const database = await openDatabase(":memory:");
    const alive = [1];
    const first = openLedger(database, worker({}, alive));
    const second = openLedger(
      database,
      worker({ holder: { pid: 2, startedAt: "1", machine: "m" } }, alive),
    );
    first.claim(payout("A"));
    alive[0] = 2;
    expect(second.claim(payout("A")).kind).toBe("resumed");
    expect(first.claim(payout("A"))).toMatchObject({ kind: "held", by: { pid: 2 } });
  });

  test("P6: of another fingerprint is another payout, for ever, whatever became of the first", async () => {
    const { ledger } = await memoryLedger();
    const claimed = ledger.claim(payout("A"));
    expect(ledger.claim(payout("A", "other"))).toMatchObject({
      kind: "other",
      operation: { reference: "A" },
    });
    for (const state of ["REFUSED", "NOT_SENT", "UNCERTAIN", "CONFIRMED", "CONFLICT"] as const) {
      ledger.settle(claimed.operation, { state, sent: true }, letGo);
      expect(ledger.claim(payout("A", "other")).kind).toBe("other");
    }
  });

  test.each([
    ["INTENT", undefined, "resumed"],
    ["NOT_SENT", undefined, "resumed"],
    ["UNCERTAIN", undefined, "resumed"],
    ["REFUSED", "access", "resumed"],
    ["REFUSED", "refused", "known"],
    ["CONFLICT", "conflict", "known"],
    ["CONFIRMED", undefined, "known"],
  ] as const)("P5, P17: that ended %s (%s) is %s", async (state, code, kind) => {
    const { ledger } = await memoryLedger();
    const { operation } = ledger.claim(payout("A"));
    ledger.settle(operation, { state, ...(code ? { code } : {}), sent: true }, letGo);
    expect(ledger.claim(payout("A")).kind).toBe(kind);
  });

  test("of the same reference by another account is an operation of its own", async () => {
    const database = await openDatabase(":memory:");
    const ledgers = ["key", "other"].map((keyId) =>
      openLedger(database, worker({ owner: { ...owner, keyId } })),
    );
    expect(ledgers.map((ledger) => ledger.claim(payout("A")).kind)).toEqual(["new", "new"]);
    expect(ledgers.map((ledger) => ledger.find("A")?.id)).toEqual(
      ledgers.map((ledger) => ledger.latest(1)?.id),
    );
  });
});

test("settling keeps what it is not told again, counts attempts alone, and lets go only when told", async () => {
  const { ledger } = await memoryLedger();
  const { operation } = ledger.claim(payout("A"));
  ledger.settle(operation, { state: "UNCERTAIN", sent: true, message: "lost" }, { letGo: false });
  expect(ledger.find(operation.id)).toMatchObject({
    state: "UNCERTAIN",
    attempts: 1,
    message: "lost",
    holder: { pid: 1 },
  });
  ledger.settle(
    operation,
    { state: "CONFIRMED", sent: true, remoteId: "PO1", status: "Processing" },
    letGo,
  );
  expect(ledger.find(operation.id)).toMatchObject({
    state: "CONFIRMED",
    attempts: 2,
    message: null,
    holder: null,
    remoteId: "PO1",
  });
  ledger.settle(operation, { state: "CONFIRMED", status: "Completed" }, letGo);
  expect(ledger.find(operation.id)).toMatchObject({
    attempts: 2,
    remoteId: "PO1",
    status: "Completed",
  });
  expect(ledger.historyOf(operation).map(({ event }) => event)).toEqual([
    "intent",
    "attempt",
    "attempt",
    "look",
  ]);
  expect(ledger.historyOf(operation)[1]).toMatchObject({
    data: { state: "UNCERTAIN", message: "lost" },
  });
});

test("beginning sees what was there of the same target or request, and a refusal leaves nothing behind", async () => {
  const { ledger } = await memoryLedger();
  const seen: (string | null)[][] = [];
  const note = (before: { target: string | null; fingerprint: string }[]) =>
    void seen.push(before.map(({ target, fingerprint }) => target ?? fingerprint));
  for (const intent of [
    payment("a"),
    payment("b"),
    payment("a"),
    refund("TX1"),
    refund("TX2"),
    refund("TX1"),
  ])
    ledger.begin(intent, note);
  expect(seen).toEqual([[], [], ["a"], [], [], ["TX1"]]);
  const forbid = () => {
    throw new Error("no");
  };
  expect(() => ledger.begin(payment("c"), forbid)).toThrow("no");
  expect([...ledger.all()]).toHaveLength(6);
  expect(ledger.verify()).toEqual({ events: 6, brokenAt: null, astray: [] });
});

test("listing, newest, latest and find see one account's operations alone, newest first", async () => {
  const { database, ledger } = await memoryLedger();
  const other = openLedger(database, worker({ owner: { ...owner, baseUrl: "http://b" } }));
  const confirm = (of: Ledger, reference: string, remoteId: string, status: string) =>
    of.settle(
      of.claim(payout(reference)).operation,
      { state: "CONFIRMED", remoteId, status, sent: true },
      letGo,
    );
  confirm(ledger, "A", "PO1", "Completed");
  confirm(other, "X", "PO9", "Completed");
  confirm(ledger, "B", "PO2", "Processing");
  ledger.claim(payout("C"));
  ledger.begin(payment("p"), () => {});
  const refs = (filter: object) =>
    ledger.list("payout", { limit: 50, ...filter }).map(({ reference }) => reference);
  expect(refs({})).toEqual(["C", "B", "A"]);
  expect(refs({ limit: 2 })).toEqual(["C", "B"]);
  expect(refs({ status: "Completed" })).toEqual(["A"]);
  const second = ledger.find("B")?.createdAt ?? "";
  expect(refs({ since: second })).toEqual(["C", "B"]);
  expect(refs({ until: second })).toEqual(["B", "A"]);
  expect(refs({ since: second, until: second, status: "Processing" })).toEqual(["B"]);
  expect([1, 2, 3].map((place) => ledger.newest("payout", place)?.remoteId)).toEqual([
    "PO2",
    "PO1",
    undefined,
  ]);
  expect([1, 2].map((place) => ledger.latest(place)?.kind)).toEqual(["payment", "payout"]);
  const found = ledger.find("A");
  expect([ledger.find("PO1"), ledger.find(found?.id ?? "")]).toEqual([found, found]);
  expect([ledger.find("X"), ledger.find("PO9"), ledger.find("")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(ledger.unsettled().map(({ reference, kind }) => reference ?? kind)).toEqual([
    "C",
    "payment",
  ]);
});

test("all operations come a page at a time, each once", async () => {
  const { ledger } = await memoryLedger();
  for (let index = 0; index < 1_203; index += 1) ledger.begin(payment(`${index}`), () => {});
  const numbers = [...ledger.all()].map(({ number }) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 1_203 }, (_, index) => index + 1));
});

describe("migrations", () => {
  test("a newer schema is refused and left as it is", async () => {
    const database = await openDatabase(":memory:");
    openLedger(database, worker());
    database.exec("PRAGMA user_version = 99");
    expect(() => openLedger(database, worker())).toThrow(/newer lenden/);
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99n });
  });

  test("P7: with a newer schema nothing is sent", async () => {
    const merchant = await openMerchant();
    await merchant.lenden(["ledger", "check"]);
    await merchant.inLedger((ledger) => ledger.exec("PRAGMA user_version = 99"));
    const { code, stderr } = await merchant.lenden(payoutOf("NEWER"));
    expect(code).toBe(1);
    expect(stderr).toContain("newer lenden");
    expect(await merchant.moneyRequests()).toEqual([]);
  });

  test("a ledger that an earlier lenden wrote keeps all that it had, and goes on", async () => {
    const database = await openDatabase(":memory:");
    // Written by the schema before the accounts had a table: two payouts, a payment, a batch of two.
    database.exec(readFileSync(resolve(import.meta.dirname, "version-2.sql"), "utf8"));
    const baseUrl = "http://127.0.0.1:41999/cp/api/v1";
    const ledger = openLedger(
      database,
      worker({ owner: { ...owner, baseUrl, keyId: "c82ae6a2afdf270c" } }),
    );
    expect(ledger.verify()).toEqual({ events: 8, brokenAt: null, astray: [] });
    expect([...ledger.all()].map(({ reference, amountPaisa }) => [reference, amountPaisa])).toEqual(
      [
        ["OLD-1", 50_025n],
        [null, 10_000n],
        ["ROW-1", 1_000n],
        ["ROW-2", 2_050n],
      ],
    );
    expect(ledger.find("OLD-1")).toMatchObject({ state: "CONFIRMED", baseUrl });
    expect(ledger.claim(payout("OLD-1")).kind).toBe("other");
    expect(ledger.claim(payout("NEW")).kind).toBe("new");
    const batch = ledger.batches().find("BGR9XY8");
    expect(batch?.plan).toMatchObject({ rowCount: 2, totalPaisa: 3_050n });
    expect(batch?.fileName).toBe("rows.csv");
    expect(batch && ledger.batches().tally(batch)).toEqual([
      { state: "CONFIRMED", status: "Processing", count: 2, sumPaisa: 3_050n },
    ]);
    expect(openLedger(database, worker()).find("OLD-1")).toBeUndefined();
  });

  test("an old empty file, and one that SQLite made without tables, are brought to the newest", async () => {
    for (const start of ["", "PRAGMA user_version = 0; CREATE TABLE other (x); DROP TABLE other"]) {
      const path = join(scratchFolder(), "ledger.db");
      writeFileSync(path, "", { mode: 0o644 });
      await inDatabase(path, (database) => {
        database.exec(start);
        expect(openLedger(database, worker()).claim(payout("A")).kind).toBe("new");
      });
      await inDatabase(path, (database) => {
        expect(openLedger(database, worker()).find("A")?.state).toBe("INTENT");
      });
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });
});

describe("verify", () => {
  /** Three payouts with their outcomes: events 1 to 6. */
  async function filled() {
    const { database, ledger } = await memoryLedger();
    for (const reference of ["A", "B", "C"]) {
      const { operation } = ledger.claim(payout(reference));
      ledger.settle(
        operation,
        { state: "CONFIRMED", remoteId: `PO${reference}`, status: "Processing", sent: true },
        letGo,
      );
    }
    expect(ledger.verify()).toEqual({ events: 6, brokenAt: null, astray: [] });
    return { database, ledger };
  }

  const changes = {
    operation: "UPDATE events SET operation = operation % 3 + 1 WHERE number = ?",
    at: "UPDATE events SET at = at || ' ' WHERE number = ?",
    event: "UPDATE events SET event = event || 'x' WHERE number = ?",
    data: "UPDATE events SET data = replace(data, '}', ' }') WHERE number = ?",
    hash: "UPDATE events SET hash = replace(replace(hash, '0', 'f'), '1', 'e') || 'x' WHERE number = ?",
  };

  test("any altered event is found, at its place", async () => {
    const altered = fc.record({
      column: fc.constantFrom(...Object.keys(changes)),
      number: fc.bigInt({ min: 1n, max: 6n }),
    });
    await fc.assert(
      fc.asyncProperty(altered, async ({ column, number }) => {
        const { database, ledger } = await filled();
        database
          .prepare(Object.entries(changes).find(([name]) => name === column)?.[1] ?? "")
          .run(number);
        expect(ledger.verify().brokenAt).toBe(Number(number));
      }),
      { numRuns: runs(40, 400) },
    );
  });

  test.each([1, 2, 3, 4, 5])("a deleted event is found: %i of 6", async (number) => {
    const { database, ledger } = await filled();
    database.prepare("DELETE FROM events WHERE number = ?").run(BigInt(number));
    expect(ledger.verify().brokenAt).toBe(number);
    // And where somebody closes the gap as well.
    database.prepare("UPDATE events SET number = number - 1 WHERE number > ?").run(BigInt(number));
    expect(ledger.verify().brokenAt).toBe(number);
  });

  test("the deleted last event is found by the operation that stands elsewhere", async () => {
    const { database, ledger } = await filled();
    database.exec("DELETE FROM events WHERE number = 6");
    expect(ledger.verify()).toEqual({ events: 5, brokenAt: null, astray: [ledger.find("C")?.id] });
  });

  test("an inserted event is found, in the middle and at the end", async () => {
    for (const place of [3n, 7n]) {
      const { database, ledger } = await filled();
      database.exec("UPDATE events SET number = number + 100");
      database
        .prepare("UPDATE events SET number = number - 100 WHERE number < ?")
        .run(100n + place);
      database.exec("UPDATE events SET number = number - 99 WHERE number > 100");
      database
        .prepare(
          "INSERT INTO events SELECT ?, operation, at, event, data, hash FROM events WHERE number = 1",
        )
        .run(place);
      expect(ledger.verify().brokenAt).toBe(Number(place));
    }
  });

  const seen = {
    state: "'REFUSED'",
    reference: "'Z'",
    amount_paisa: "amount_paisa + 1",
  };
  test.each(Object.entries(seen))(
    "an operation whose %s was altered is found, and named",
    async (column, value) => {
      const { database, ledger } = await filled();
      const id = ledger.find("B")?.id;
      database.exec(`UPDATE operations SET ${column} = ${value} WHERE number = 2`);
      expect(ledger.verify()).toMatchObject({ brokenAt: null, astray: [id] });
    },
  );

  const unseen = {
    asked: `'{"to":"somebody else"}'`,
    fingerprint: "'another'",
    target: "'TX9'",
    kind: "'payment'",
    remote_id: "'PO9'",
    status: "'Completed'",
    id: "'OP0'",
  };
  test.each(Object.entries(unseen))(
    "an operation whose %s was altered is found",
    async (column, value) => {
      const { database, ledger } = await filled();
      database.exec(`UPDATE operations SET ${column} = ${value} WHERE number = 2`);
      expect(ledger.verify().astray).toHaveLength(1);
    },
  );

  test("an operation that was deleted is found by the events that it left", async () => {
    const { database, ledger } = await filled();
    database.exec("PRAGMA foreign_keys = OFF; DELETE FROM operations WHERE number = 2");
    const { brokenAt, astray } = ledger.verify();
    expect([brokenAt !== null, astray.length > 0]).toContain(true);
  });
});

describe("the file", () => {
  test.each(["000", "022", "077"])(
    "has mode 0600 and its folder 0700 with the umask %s, SQLite's own files too",
    async (umask) => {
      const merchant = await openMerchant();
      const script = `umask ${umask}; exec "$0" "$@"`;
      const { stdout } = await promisify(execFile)(
        "sh",
        ["-c", script, ...tool, ...payoutOf("MODE", "-q")],
        { env: { PATH: process.env.PATH, ...merchant.env } },
      );
      expect(stdout).toMatch(/^PO/);
      const mode = (path: string) => statSync(path).mode & 0o777;
      expect(mode(merchant.ledgerFile)).toBe(0o600);
      expect(mode(merchant.dataFolder)).toBe(0o700);
      const files = execFileSync("ls", [merchant.dataFolder], { encoding: "utf8" })
        .trim()
        .split("\n");
      for (const file of files)
        expect([file, mode(join(merchant.dataFolder, file))]).toEqual([file, 0o600]);
    },
  );

  test("is made private where it was not, and a symbolic link is refused", async () => {
    const folder = scratchFolder();
    const path = join(folder, "open.db");
    writeFileSync(path, "", { mode: 0o666 });
    (await openDatabase(path)).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    symlinkSync(path, join(folder, "link.db"));
    await expect(openDatabase(join(folder, "link.db"))).rejects.toThrow(/cannot be used for data/);
    mkdirSync(join(folder, "folder.db"));
    await expect(openDatabase(join(folder, "folder.db"))).rejects.toThrow(
      /cannot be used for data/,
    );
  });

  test("keeps its locks when the same process opens it a second time", async () => {
    const path = join(scratchFolder(), "ledger.db");
    const first = await openDatabase(path);
    first.exec("CREATE TABLE kept (x)");
    first.prepare("SELECT * FROM kept").all();
    // Whoever closes last puts the log away: another process must see that it is not the last.
    const script = `
      const leave = (database) => { database.exec("INSERT INTO kept VALUES (1)"); database.close(); };
      import("node:sqlite").then(
        ({ DatabaseSync }) => leave(new DatabaseSync(process.argv[1])),
        () => leave(new (require("libsql"))(process.argv[1])),
      );`;
    const logIsLeft = () => {
      execFileSync(process.execPath, ["-e", script, path]);
      return existsSync(`${path}-wal`);
    };
    const before = logIsLeft();
    (await openDatabase(path)).close();
    if (before) expect(logIsLeft()).toBe(true);
  });

  test("stands in a folder that is made private where it was not", async () => {
    const merchant = await openMerchant();
    mkdirSync(merchant.dataFolder, { mode: 0o755 });
    await merchant.lenden(["ledger", "check"]);
    expect(statSync(merchant.dataFolder).mode & 0o777).toBe(0o700);
  });
});

test("8 processes that write 50 operations each at once lose nothing, and the chain is whole", async () => {
  const path = join(scratchFolder(), "ledger.db");
  const writer = await bundledWriter();
  const env = { ...process.env, NODE_PATH: resolve("node_modules") };
  const written = await Promise.all(
    Array.from({ length: 8 }, (_, number) =>
      promisify(execFile)(process.execPath, [writer, path, `${number}`, "50"], { env }),
    ),
  );
  const references = written.flatMap(({ stdout }) => stdout.trim().split("\n"));
  expect(new Set(references).size).toBe(400);
  await inDatabase(path, (database) => {
    const ledger = openLedger(database, worker());
    const kept = ledger.list("payout", { limit: 1_000 });
    expect(kept.map(({ reference }) => reference).sort()).toEqual(references.sort());
    expect(kept.every(({ state, attempts }) => state === "CONFIRMED" && attempts === 1)).toBe(true);
    expect(ledger.verify()).toEqual({ events: 800, brokenAt: null, astray: [] });
  });
}, 30_000);

/** A script that writes payouts into a ledger: `<path> <its number> <how many>`. */
async function bundledWriter(): Promise<string> {
  const folder = scratchFolder();
  const source = (name: string) => JSON.stringify(resolve("src/ledger", name));
  const input = join(folder, "writer.ts");
  writeFileSync(
    input,
    `import { openDatabase } from ${source("database.ts")};
    import { openLedger } from ${source("ledger.ts")};
    const [path, number, count] = process.argv.slice(2);
    openDatabase(path).then((database) => {
      const ledger = openLedger(database, {
        owner: ${JSON.stringify(owner)}, user: "u", command: "c",
        holder: { pid: process.pid, startedAt: "1", machine: "m" },
        now: Date.now, newId: () => crypto.randomUUID(), isAlive: () => true, scrub: (text) => text,
      });
      for (let index = 0; index < Number(count); index += 1) {
        const reference = number + "-" + index;
        const { operation } = ledger.claim({ kind: "payout", reference, fingerprint: "f",
          amountPaisa: 1n, target: null, asked: {} });
        const outcome = { state: "CONFIRMED", sent: true, remoteId: "PO" + reference };
        ledger.settle(operation, outcome, { letGo: true });
        console.log(reference);
      }
    });`,
  );
  const file = join(folder, "writer.cjs");
  await bundle({
    input,
    platform: "node",
    external: ["libsql"],
    output: { file, format: "cjs", dynamicImportInCjs: false, codeSplitting: false },
    logLevel: "silent",
  });
  return file;
}

describe("one file, two engines", async () => {
  const other = await nodeWithSqlite();

  test.skipIf(!other)(
    "what libsql wrote, Node's own SQLite reads and continues, and the reverse",
    async () => {
      const merchant = await openMerchant();
      const env = { PATH: process.env.PATH, ...merchant.env };
      const onNode = async (node: string, line: string[]) =>
        (await promisify(execFile)(node, [launcher, ...line], { env })).stdout.trim();
      const here = (line: string[]) => onNode(process.execPath, line);
      const there = (line: string[]) => onNode(other ?? "", line);
      const first = await here(payoutOf("HERE", "-q"));
      expect(await there(["payout", "list", "-q"])).toBe(first);
      const second = await there(payoutOf("THERE", "-q"));
      expect(await here(["payout", "list", "-q"])).toBe(`${second}\n${first}`);
      expect(JSON.parse(await there(payoutOf("HERE", "--json")))).toMatchObject({
        payoutId: first,
        existing: true,
      });
      expect(JSON.parse(await here(payoutOf("THERE", "--json")))).toMatchObject({
        payoutId: second,
        existing: true,
      });
      await Promise.all(
        [0, 1, 2].flatMap((index) => [
          here(payoutOf(`H${index}`, "-q")),
          there(payoutOf(`T${index}`, "-q")),
        ]),
      );
      for (const check of [here, there])
        expect(JSON.parse(await check(["ledger", "check", "--json"]))).toMatchObject({
          holds: true,
        });
      expect(await merchant.books("payouts")).toHaveLength(8);
    },
    60_000,
  );
});

/** A Node with an SQLite of its own beside one without, from npm; undefined where there is none. */
async function nodeWithSqlite(): Promise<string | undefined> {
  if (await import("node:sqlite").catch(() => undefined)) return undefined;
  const args = ["-y", "-p", "node@24", "node", "-p", "process.execPath"];
  return promisify(execFile)("npx", args).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
