import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { beforeAll, beforeEach, describe, expect } from "vitest";
import { idsOf } from "../../src/ledger/batch.ts";
import { allColumns } from "../../src/ledger/columns.ts";
import { PlanSums, planEvent } from "../../src/ledger/plan.ts";
import { fileOf } from "../batch/files.ts";
import { until } from "../support/helpers.ts";
import { errorOf, typedBy } from "../support/lenden.ts";
import { isSkipped, serverTest, sharedCluster } from "../support/postgres.ts";
import { asRejected, flood } from "./plants.ts";
import {
  declare,
  type Filled,
  insert,
  opening,
  openSharedShop,
  orders,
  plant,
  recipients,
  type SharedShop,
  toColleague,
} from "./shop.ts";

const byColleague = /created by mallory \(as \S+\) on /;
/** What would hide a batch from the guards that find it. */
const hiding: Record<string, string> = {
  ...{ name: "'x.csv'", file_name: "'x.csv'", file_hash: "'00'", columns: `'["x"]'` },
  ...{ method: "'nagad'", row_count: "NULL", total_paisa: "total_paisa + 1", created_at: "''" },
};
const newestBatch = "SELECT * FROM batches ORDER BY number DESC LIMIT 1";
const unsentRow = `SELECT * FROM batch_rows WHERE batch = $1
  AND reference NOT IN (SELECT reference FROM operations WHERE reference IS NOT NULL)`;
/** Inserts a row to him into the open batch. */
const plantedRow = `INSERT INTO batch_rows
  SELECT (jsonb_populate_record(r, jsonb_build_object('row', 4, 'line', 5, 'amount_paisa', 4900000,
    'reference', 'JUNE-4', 'recipient', '${recipients.colleague}',
    'recipient_key', '${recipients.colleague}'))).*
  FROM batch_rows r WHERE r.reference = 'JUNE-3'`;
/** What a copy of an operation has in place of its own columns. */
const belowAll: Record<string, string> = {
  number: "-number",
  id: "id || '0'",
  reference: "reference || '0'",
};
const accepted = "state = 'CONFIRMED', status = 'Completed', phase = 'live'";
const { payout, refund, payment } = orders;
const create = "/payout/create-by-server";

describe("a colleague with psql", () => {
  let shop: SharedShop;
  let filled: Filled;

  beforeAll(() => {
    if (isSkipped) return undefined;
    return opening(async (atEnd) => {
      ({ shop, filled } = await openSharedShop(atEnd));
    });
  });
  beforeEach(() => shop?.reset());

  serverTest("plants a payout of unknown outcome, and resolve does not send it", async () => {
    await plant(shop, "UNKNOWN-1", toColleague("PLANTED-1", 49_000));
    expect((await shop.ben(["ledger", "check"])).code).toBe(0);

    const resolved = await shop.annBuilt(["ledger", "resolve", "PLANTED-1", "--yes", "--json"]);

    expect([resolved.code, errorOf(resolved)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
    expect(shop.moved()).toEqual([]);
  });

  serverTest.each(["", ", in another account"])(
    "plants the unsent row of a cancelled batch%s, and resolve does not send it",
    async (where) => {
      await stopPlanned();
      const { rows: batches } = await shop.colleague.query(newestBatch);
      const [{ number, id, login: _login, ...batch }] = batches;
      await shop.ann(["payout", "batch", "cancel", id, "--yes"]);
      const { rows } = await shop.colleague.query(unsentRow, [number]);
      const [row] = rows;
      const given = where ? String(BigInt(number) + 1n) : number;
      if (where) {
        await insert(shop, "batches", { ...batch, number: given, id, account: "77" });
        await shop.append({ operation: null, batch: BigInt(given), event: "plan", data: {} });
      }
      await plant(shop, "UNKNOWN-1", (intent) => ({
        ...intent,
        ...{ id: "OPCOPY", reference: row.reference, amountPaisa: row.amount_paisa },
        ...{ batch: given, seal: row.seal },
        asked: {
          ...{ amount: Number(row.amount_paisa) / 100, merchantRef: row.reference },
          ...{ recipientNumber: row.recipient, paymentMethodId: row.method_id },
        },
      }));

      const sent = await shop.annBuilt(["ledger", "resolve", "OPCOPY", "--yes", "--json"]);

      expect(shop.moved()).toEqual([]);
      expect([sent.code, errorOf(sent)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
    },
  );

  serverTest.each(["another name", "the same name, in a sandbox"])(
    "copies a sealed payout into an account of %s, and resolve does not send it",
    async (what) => {
      const account = what.endsWith("sandbox")
        ? "SELECT 'sandbox', name FROM accounts"
        : "SELECT environment, 'other' FROM accounts";
      await shop.alter(`INSERT INTO accounts (environment, name) ${account} LIMIT 1`);
      const { rows } = await shop.colleague.query("SELECT max(number) AS number FROM accounts");
      const copy = { id: "OPCOPY", account: rows[0].number };
      await plant(shop, "UNKNOWN-1", (intent) => ({ ...intent, ...copy }));

      const expected = ["--expect-total", "700", "--expect-count", "1"];
      const resolving = ["ledger", "resolve", "OPCOPY", "--yes", "--json"];
      await shop.ann([...resolving, ...expected]);
      const sent = await shop.annBuilt(resolving);

      expect(shop.moved()).toEqual([]);
      expect([sent.code, errorOf(sent)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
      expect(errorOf(sent).message).toContain("belongs to another account");
    },
  );

  serverTest("plants the batch of the next file, with his number in one row", async () => {
    const { batch, rows } = await nextBatch();
    const [, second] = rows;
    Object.assign(second ?? {}, {
      recipient: recipients.colleague,
      recipient_key: recipients.colleague,
    });
    await plantBatch(batch, rows);
    expect((await shop.ben(["ledger", "check"])).code).toBe(0);

    const byFile = await shop.annBuilt(filled.sending.planned);
    const byId = await shop.annBuilt(orders.batch(batch.id ?? "", [2, 63]));

    expect([byFile.code, byFile.stderr]).toEqual([5, expect.stringMatching(byColleague)]);
    expect([byId.code, byId.stderr]).toEqual([4, expect.stringMatching(byColleague)]);
    expect(byId.stderr).toContain("has no valid seal of this payout secret");
    expect(shop.moved()).toEqual([]);
  });

  serverTest("plants a copy of a sealed batch, whose confirmation names him", async () => {
    const { batch, rows } = await nextBatch();
    await plantBatch(batch, rows);

    const sent = await shop.annBuilt(orders.batch(batch.id ?? "", [2, 63]));

    expect([sent.code, sent.stderr]).toEqual([
      0,
      expect.stringMatching(/Created: by mallory \(as /),
    ]);
    expect(shop.moved()).toHaveLength(2);
  });

  serverTest("accepts a line of a statement in ann's name, and reconcile names him", async () => {
    const pay = async () => {
      const [first] = shop.api.payouts;
      shop.api.set("payout", first?.payoutId ?? "", "Completed");
      await shop.ann(["payout", "list", "--refresh"]);
    };
    const day = new Date(Date.now() + 6 * 3_600_000).toISOString().slice(0, 10);
    const file = fileOf(
      `Date,Details,Recipient,Amount,Direction\n${day},B2C,${recipients.paid},500,out\n`,
      "statement.csv",
    );
    const fields = ["date", "narration", "recipient", "amount", "direction"];
    const columns = ["Date", "Details", "Recipient", "Amount", "Direction"];
    const maps = columns.flatMap((column, place) => ["--map", `${column}=${fields[place]}`]);
    const line = ["reconcile", file, ...maps, "--yes", "--json"];
    await pay();
    await shop.ann([...line, "--accept", "2=PAID-1:mine"]);
    const { rows } = await shop.colleague.query("SELECT data FROM events WHERE data LIKE '%mine%'");
    const data = JSON.parse(rows[0].data);
    await shop.reset();
    await pay();
    const matched = { ...data.matched, reason: "checked (by ann)", by: "ann" };
    await declare(shop, "reference = 'PAID-1'", { event: "look", data: { ...data, matched } });

    const { stdout } = await shop.annBuilt(line);

    const accepted = { line: 2, explained: "accepted", reason: "checked (by ann) (by mallory)" };
    expect(JSON.parse(stdout).lines).toContainEqual(expect.objectContaining(accepted));
  });

  serverTest("plants the payout of a line of a statement, and reconcile names him", async () => {
    await plant(shop, "PAID-1", toColleague("PLANTED-1", 49_000));
    const look = { state: "CONFIRMED", remoteId: "2099", status: "Completed" };
    await declare(shop, "reference = 'PLANTED-1'", { event: "look", data: look });
    const file = fileOf("ID,Amount\n2099,49000\n", "statement.csv");
    const line = ["reconcile", file, "--map", "ID=id", "--map", "Amount=amount", "--yes"];

    const { stdout } = await shop.annBuilt([
      ...line,
      "--since",
      "yesterday",
      "--until",
      "today",
      "--json",
    ]);

    const found = JSON.parse(stdout);
    expect(found.lines).toMatchObject([{ result: "matched", login: "mallory" }]);
    expect(found.warnings).toContainEqual({
      reason: "statement.recorded-by-others",
      message:
        "1 matched operation (BDT 49,000.00) was recorded by other logins: mallory. To compare them with the API, run 'lenden ledger audit'.",
    });
  });

  serverTest.for([
    ["not sent", { state: "NOT_SENT", code: "access", sent: false }, 4, "payout.not-sealed"],
    ["unknown", { state: "UNCERTAIN", code: "uncertain", sent: true }, 75, "batch.outcome-unknown"],
  ] as const)(
    "plants sealed orders as rows of the next file that are %s, and the other rows are sent",
    async ([, outcome, code, reason]) => {
      const rows = [65, 66, 67].map((amount, at) => ({
        ...{ amount, reference: `SEP-${at}`, recipientNumber: `0171100006${at}` },
      }));
      for (const { amount, reference, recipientNumber } of rows.slice(0, 2)) {
        await plant(shop, "UNKNOWN-1", ({ asked, ...intent }) => ({
          ...{ ...intent, id: `OPCOPY${amount}`, reference, amountPaisa: String(amount * 100) },
          asked: { ...Object(asked), amount, merchantRef: reference, recipientNumber },
        }));
        const event = { event: "attempt", data: outcome };
        await declare(shop, `reference = '${reference}'`, event);
      }
      const cells = rows.map(
        (row) => `${row.reference},${row.amount},${row.recipientNumber},bkash`,
      );
      const path = fileOf(`ref,amount,to,method\n${cells.join("\n")}\n`, "september.csv");

      const line = [...orders.batch(path, [3, 198]), "--wait", "--timeout", "5s", "--json"];
      const sent = await shop.annBuilt(line);

      expect([sent.code, errorOf(sent)]).toMatchObject([code, { reason }]);
      const { message, hint } = errorOf(sent);
      const why = "2 rows not tried: Cannot send payout SEP-0: login mallory recorded it on ";
      expect(message).toContain(why);
      expect(shop.moved()).toEqual(["payout 67 01711000062"]);
      // What the error advises works.
      if (code === 75)
        for (const reference of ["SEP-0", "SEP-1"]) {
          expect(hint).toContain("--not-created");
          await shop.annBuilt(["ledger", "resolve", reference, "--not-created", "--yes"]);
        }
      const again = code === 75 ? errorOf(await shop.annBuilt(line)).hint : hint;
      const cancelled = await shop.annBuilt([...typedBy(again, "payout batch cancel"), "--yes"]);
      expect(cancelled.code).toBe(0);
      const others = orders.payout("65", "01711000060", "--ref", "OTHER", "--again");
      expect((await shop.annBuilt(others)).code).toBe(0);
    },
  );

  serverTest("plants values that have no text, and commands name the operation", async () => {
    const odd = { toString: 1, valueOf: 1 };
    await plant(shop, "UNKNOWN-1", ({ asked, ...intent }) => ({
      ...{ ...intent, id: "OPODD", reference: "ODD-1", origin: JSON.stringify({ user: odd }) },
      asked: { ...Object(asked), amount: odd, recipientNumber: odd, merchantRef: "ODD-1" },
    }));
    const codes = [];
    for (const line of [
      ["ledger", "show", "OPODD"],
      ["ledger", "check"],
      ["ledger", "resolve", "OPODD", "--yes"],
      orders.payout("5", recipients.next, "--ref", "ODD-1"),
    ]) {
      const { code, stderr } = await shop.annBuilt(line);
      codes.push(code);
      expect(stderr).not.toContain("Internal error");
    }
    expect(codes).toEqual([0, 0, 4, 5]);
  });

  /** A batch whose only row, S-1, the API rejected. */
  async function rejectRow(): Promise<string> {
    const path = fileOf("ref,amount,to,method\nS-1,41,01711000041,bkash\n", "rejected.csv");
    const body = '{"success":false,"message":"bad wallet"}';
    const response = () => ({ do: "answer", status: 400, body }) as const;
    shop.api.disturb(create, { response, takesEffect: false }, 1);
    await shop.ann(orders.batch(path, [1, 41]));
    shop.api.heal();
    return path;
  }

  serverTest("plants new references of a rejected row, and the batch names him", async () => {
    const path = await rejectRow();
    await plant(shop, "PAID-1", (intent) => ({
      ...toColleague("S-1-lenden2", 41)(intent),
      id: "OPNEW",
    }));

    const status = await shop.annBuilt(["payout", "batch", "status", path]);
    const failed = await shop.annBuilt(["payout", "batch", "export", path, "--only", "failed"]);

    const named = "Other logins recorded some of them: mallory.";
    for (const { stderr } of [status, failed]) expect(stderr).toContain(named);
  });

  serverTest("plants many references of a rejected row, of which 200 are followed", async () => {
    const path = await rejectRow();
    for (let n = 2; n <= 202; n += 1)
      await plant(shop, "S-1", (intent) => ({
        ...toColleague(`S-1-lenden${n}`, 41)(intent),
        batch: null,
      }));
    const followed = await shop.annBuilt(["payout", "batch", "status", path]);
    expect(followed.stderr).toContain("for example S-1-lenden201");
  });

  serverTest("plants references that are shell commands, and hints quote them", async () => {
    const [paid, unsure] = ["INV-9';touch x;$(date)'", "INV-9`date`; ~x"];
    const as = (id: string, reference: string, amount: number) => (intent: object) => ({
      ...toColleague(reference, amount)({ ...intent }),
      id,
    });
    await plant(shop, "PAID-1", as("OP1", paid, 80));
    await plant(shop, "UNKNOWN-1", as("OP2", unsure, 81));
    const words: string[] = [];
    for (const line of [
      payout("80", recipients.colleague),
      payout("81", recipients.colleague),
      ["payout", "get", "@last"],
      ["ledger", "list", "--unknown"],
      ["ledger", "resolve", unsure, "--yes"],
    ]) {
      const { stdout, stderr } = await shop.annBuilt(line);
      const named = /lenden (?:[a-z]+ )+(INV-9(?:\\.|[\w-])*)/g;
      for (const [, word = ""] of `${stdout}${stderr}`.matchAll(named)) words.push(word);
    }

    // As a shell reads them.
    const read = words.map((word) =>
      execFileSync("sh", ["-c", `printf %s ${word}`], { encoding: "utf8" }),
    );
    expect(read).toEqual([paid, ...Array.from({ length: 4 }, () => unsure)]);
  });

  serverTest("edits states, and neither a payout nor a refund is sent again", async () => {
    await shop.alter(`UPDATE operations
      SET state = 'CONFIRMED', status = 'Cancelled', phase = 'retired'
      WHERE kind IN ('payout', 'refund')`);
    for (const line of [
      payout("500", recipients.paid),
      refund(filled.refunded, "60"),
      refund(filled.unsure, "70"),
    ]) {
      const again = await shop.annBuilt([...line, "--json"]);
      expect([again.code, errorOf(again)]).toMatchObject([1, { reason: "ledger.modified" }]);
    }
    expect(shop.moved()).toEqual([]);
  });

  /** What he edits of ann's newest operations, and the commands that act on them. */
  const acting: [
    what: string,
    set: string,
    which: string,
    lines: (filled: Filled) => string[][],
  ][] = [
    [
      "the page of a payment",
      "payment_url = 'https://evil.example/'",
      "description = 'tea'",
      () => [
        ["pay", "link", "@last"],
        ["pay", "get", "@last"],
        ["pay", "wait", "@last", "--wait-timeout", "1ms"],
      ],
    ],
    [
      "the API ID of a payment",
      "remote_id = (SELECT remote_id FROM operations WHERE description = 'unsure')",
      "description = 'tea'",
      ({ unsure }) => [
        ["pay", "link", unsure],
        ["pay", "get", unsure],
        refund("@last", "30"),
        refund(unsure, "30"),
      ],
    ],
    [
      "the state of a payment",
      "state = 'NOT_SENT', phase = 'free', remote_id = NULL",
      "description = 'tea'",
      () => [["pay", "get", "@last"], refund("@last", "30")],
    ],
    [
      "the API ID of a refund",
      "remote_id = 'rf_0', state = 'CONFIRMED', phase = 'live'",
      "kind = 'refund' AND state = 'UNCERTAIN'",
      () => [["refund", "cancel", "@last", "--yes"]],
    ],
    [
      "the state of a payout",
      "state = 'CONFIRMED', phase = 'live', status = 'Completed', remote_id = 'PO-0'",
      "reference = 'UNKNOWN-1'",
      () => [["ledger", "resolve", "UNKNOWN-1", "--yes"]],
    ],
  ];

  serverTest.each(acting)("edits %s, and no command acts on it", async (_, set, which, lines) => {
    const { rowCount } = await shop.colleague.query(`UPDATE operations SET ${set} WHERE ${which}`);
    expect(rowCount).toBe(1);
    const moved = structuredClone(shop.api.refunds);

    for (const line of lines(filled)) {
      const acted = await shop.ann([...line, "--json"]);
      const reason = acted.code === 1 ? errorOf(acted).reason : acted.stdout;
      expect.soft([line, acted.code, reason]).toEqual([line, 1, "ledger.modified"]);
    }
    expect(shop.api.refunds).toEqual(moved);
    expect((await shop.ann(["ledger", "show", "@last"])).code).toBe(0);
  });

  serverTest("plants a payment with the ID of ann's, and pay link names him", async () => {
    const link = ["pay", "link", filled.unsure];
    expect((await shop.ann(link)).stderr).not.toContain("was recorded by");
    await plant(shop, "unsure", (intent) => ({ ...intent, id: "OPCOPY" }));

    const { stderr } = await shop.annBuilt(link);

    expect(stderr).toMatch(/was recorded by mallory \(as \S+\)\. .* 'lenden ledger show OPCOPY'/);
  });

  serverTest("inserts no event, operation or batch with a number below all others", async () => {
    const below = [
      `INSERT INTO events (number, operation, at, event, data, commit_id, hash)
        SELECT -number, operation, at, event, data, commit_id, hash FROM events`,
      `INSERT INTO operations (${allColumns.map(({ name }) => `"${name}"`)})
        SELECT ${allColumns.map(({ name }) => belowAll[name] ?? `"${name}"`)} FROM operations`,
      `INSERT INTO batches (number, id, environment, account, profile, identity, "user", name, file_name,
          file_hash, columns, created_at)
        SELECT -number, id || '0', environment, account, profile, identity || '0', "user", name, file_name,
          file_hash, columns, created_at FROM batches`,
    ];
    for (const sql of below) await expect(shop.alter(sql)).rejects.toMatchObject({ code: "23514" });
  });

  serverTest.each(["id", "environment"])(
    "plants an unplanned batch of the next file with another %s, which is not sent",
    async (column) => {
      const { batch } = await nextBatch();
      const unplanned = { row_count: null, total_paisa: null, seal: null, cancelled_at: null };
      const free = { process: null, held_since: null, [column]: "x" };
      await insert(shop, "batches", { ...batch, ...unplanned, ...free });

      const sent = await shop.annBuilt([...filled.sending.planned, "--json"]);

      expect([sent.code, errorOf(sent)]).toMatchObject([1, { reason: "ledger.modified" }]);
      expect(shop.moved()).toEqual([]);
    },
  );

  serverTest("inserts a row for the next batch, which is then sent by another name", async () => {
    const { rows: newest } = await shop.colleague.query(newestBatch);
    const { rows } = await shop.colleague.query(
      'SELECT * FROM batch_rows ORDER BY "row" DESC LIMIT 1',
    );
    for (const number of [1n, 2n])
      await insert(shop, "batch_rows", {
        ...rows[0],
        batch: String(BigInt(newest[0].number) + number),
        row: "999",
      });
    const path = fileOf("ref,amount,to,method\nNEXT-1,51,01711000051,bkash\n", "next.csv");

    const sent = await shop.annBuilt([...orders.batch(path, [1, 51]), "--json"]);

    const error = { reason: "batch.plan-modified", hint: expect.stringContaining("--name") };
    expect([sent.code, errorOf(sent)]).toMatchObject([1, error]);
    expect(shop.moved()).toEqual([]);
  });

  /** A row that he adds to a batch of another person, beside the row of a reference. */
  const added = (reference: string, paisa: number, to: string, beside: string) =>
    `INSERT INTO batch_rows
    SELECT (jsonb_populate_record(r, jsonb_build_object('row', 999, 'line', 999, 'reference', '${reference}',
      'amount_paisa', ${paisa}, 'recipient', '${to}', 'recipient_key', '${to}'))).*
    FROM batch_rows r WHERE ${beside} ORDER BY r.batch DESC LIMIT 1`;

  serverTest("adds a row to a paid batch, and no file with its rows is sent", async () => {
    const rows = "amount,to,method\n41,01711000041,bkash\n42,01711000042,bkash\n";
    expect((await shop.ann(orders.batch(fileOf(rows, "aug.csv"), [2, 83]))).code).toBe(0);
    await shop.alter(added("X-1", 1, "01711000009", "r.recipient = '01711000041'"));
    const more = fileOf(`${rows}43,01711000043,bkash\n`, "more.csv");

    const sent = await shop.annBuilt([
      ...orders.batch(more, [3, 126]),
      "--allow-duplicates",
      "--json",
    ]);

    expect([sent.code, errorOf(sent)]).toMatchObject([1, { reason: "batch.plan-modified" }]);
    expect(shop.moved()).toHaveLength(2);
  });

  serverTest.each(["export", "resolve"])(
    "adds a row to an open batch, and no %s has it",
    async (command) => {
      const { rows } = await shop.colleague.query("SELECT id FROM batches WHERE name = 'june.csv'");
      const [{ id }] = rows;
      await shop.alter(added("LOST-1", 75_000, recipients.lost, "r.reference = 'JUNE-1'"));
      const flags = command === "export" ? ["--only", "failed"] : ["--not-created", "--yes"];

      const outcome = await shop.annBuilt(["payout", "batch", command, id, ...flags]);

      expect([outcome.code, outcome.stdout]).toEqual([1, ""]);
      expect(outcome.stderr).toContain("were modified in the ledger");
    },
  );

  serverTest("adds a row to a batch and plans it again, and no export has the row", async () => {
    const { rows } = await shop.colleague.query("SELECT * FROM batches WHERE name = 'june.csv'");
    const [batch] = rows;
    await shop.alter(added("X-1", 5_000, recipients.colleague, "r.reference = 'JUNE-1'"));
    const sums = new PlanSums();
    const ofRows = 'SELECT * FROM batch_rows WHERE batch = $1 ORDER BY "row"';
    for (const row of (await shop.colleague.query(ofRows, [batch.number])).rows) sums.add(row);
    const { event, data } = planEvent(batch, new Date().toISOString(), sums);
    await shop.append({ operation: null, batch: batch.number, event, data: JSON.parse(data) });

    const exported = await shop.annBuilt([
      "payout",
      "batch",
      "export",
      batch.id,
      "--only",
      "failed",
    ]);

    expect([exported.code, exported.stdout]).toEqual([1, ""]);
    const checked = await shop.annBuilt(["ledger", "check"]);
    expect([checked.code, checked.stdout]).toEqual([
      1,
      expect.stringContaining(`batch ${batch.id}: rows`),
    ]);
  });

  serverTest("exports a batch of a colleague with his name", async () => {
    const { batch, rows } = await nextBatch();
    await plantBatch(batch, rows);
    const exported = await shop.annBuilt(["payout", "batch", "export", batch.id ?? ""]);
    expect(exported.stderr).toMatch(byColleague);
  });

  serverTest("plans the rows of the next file with other digits, which are not sent", async () => {
    const { batch, rows } = await nextBatch();
    const [, second] = rows;
    const digits = String(second?.recipient).replaceAll(/\d/g, (one) =>
      String.fromCodePoint(0x9e6 + Number(one)),
    );
    Object.assign(second ?? {}, { recipient: digits });
    await plantBatch(batch, rows);

    const sent = await shop.annBuilt([...filled.sending.planned, "--json"]);

    expect([sent.code, errorOf(sent)]).toMatchObject([5, { reason: "batch.other-rows" }]);
    expect(shop.moved()).toEqual([]);
  });

  /** A time that no other check rejects: of a clock that is minutes ahead when the test runs. */
  const soon = {
    get created_at() {
      return new Date(Date.now() + 3 * 60_000).toISOString();
    },
  };
  const unequal: [what: string, batch: object, row: object, error: [number, string]][] = [
    ["other columns", { columns: '["ref","to","amount","method"]' }, {}, [5, "batch.other-rows"]],
    ["another method by its name", {}, { method: "nagad" }, [5, "batch.other-rows"]],
    [
      "another recipient for guards",
      {},
      { recipient_key: recipients.colleague },
      [1, "batch.plan-modified"],
    ],
    ["a time to come", soon, {}, [1, "ledger.modified"]],
  ];

  serverTest.each(unequal)(
    "plans the rows of the next file with %s, which are not sent",
    async (_, ofBatch, ofRow, [code, reason]) => {
      const { batch, rows } = await nextBatch();
      const unsealed = rows.map((row) => ({ ...row, seal: "x", ...ofRow }));
      await plantBatch({ ...batch, seal: "x", ...ofBatch }, unsealed);
      expect((await shop.ben(["ledger", "check"])).code).toBe(0);

      const sent = await shop.ann([...filled.sending.planned, "--json"]);

      expect([sent.code, errorOf(sent)]).toMatchObject([code, { reason }]);
      expect(shop.moved()).toEqual([]);
    },
  );

  serverTest("gives a batch the bytes of another file, which stays its own batch", async () => {
    const { rows: batches } = await shop.colleague.query(
      "SELECT * FROM batches WHERE name = 'june.csv'",
    );
    const [{ login: _login, ...own }] = batches;
    const number = String(BigInt(own.number) + 1_000n);
    const identity = "ab".repeat(32);
    const ofRows = 'SELECT * FROM batch_rows WHERE batch = $1 ORDER BY "row"';
    const { rows } = await shop.colleague.query(ofRows, [own.number]);
    const copies = rows.map((row) => ({ ...row, batch: number, recipient: recipients.colleague }));
    await plantBatch({ ...own, number, identity, id: idsOf(identity)[0] ?? "" }, copies);

    for (const command of ["status", "export"]) {
      const shown = await shop.ann(["payout", "batch", command, filled.paths.open, "--json"]);
      expect(shown.stdout).toContain(command === "status" ? own.id : rows[0].recipient);
      expect(shown.stdout).not.toContain(recipients.colleague);
    }
  });

  serverTest("plants operations of an open batch, which stays among the open ones", async () => {
    const open = ["payout", "batch", "list", "--status", "open", "-q"];
    const before = await shop.ann(open);
    expect(before.stdout).not.toBe("");
    const { rows } = await shop.colleague.query("SELECT * FROM batches WHERE name = 'june.csv'");
    for (const nth of ["1", "2", "3"])
      await plant(shop, "PAID-1", (intent) => ({
        ...intent,
        ...{ id: `OPZ${nth}`, reference: `Z-${nth}`, batch: rows[0].number, seal: null },
      }));

    expect((await shop.ann(open)).stdout).toBe(before.stdout);
  });

  serverTest("confirms a row by a status check, and the batch names him", async () => {
    await declare(shop, "reference = 'JUNE-2'", {
      event: "look",
      data: { state: "CONFIRMED", remoteId: "PO-FALSE", status: "Completed" },
    });

    const sent = await shop.annBuilt([...filled.sending.open, "--json"]);

    const message = expect.stringContaining("were recorded as accepted by mallory");
    expect(JSON.parse(sent.stdout).warnings).toContainEqual({
      reason: "batch.accepted-by-others",
      message,
    });
  });

  serverTest("inserts no event that looks newer or older than it is", async () => {
    const events = (...numbers: number[]) =>
      `INSERT INTO lenden.events (number, at, event, data, commit_id, hash)
       SELECT newest.number + step, e.at, 'late', '{}', e.commit_id, e.hash
       FROM (SELECT max(number) AS number FROM lenden.events) newest JOIN lenden.events e USING (number),
         unnest(ARRAY[${numbers}]) step`;
    const rejected = { constraint: "next_event" };
    // A session of its own: what checks the events has not run there.
    const mallory = await (await sharedCluster()).open(shop.database, { user: "mallory" });
    await mallory.query(
      "CREATE TEMP TABLE record (a int, b int, c int, lowest int, highest int, many int)",
    );
    await expect(mallory.query(events(2))).rejects.toMatchObject(rejected);
    await mallory.end();
    await expect(shop.alter(events(2))).rejects.toMatchObject(rejected);
    await expect(shop.alter(events(1, 3))).rejects.toMatchObject(rejected);
    await shop.alter(events(1, 2));
    await expect(shop.alter(events(-1))).rejects.toMatchObject({ constraint: "events_pkey" });
  });

  /** What ann ordered, and what she orders again. */
  const floods: [
    what: string,
    which: (filled: Filled) => string,
    again: (filled: Filled) => string[],
  ][] = [
    ["a payout", () => "reference = 'PAID-1'", () => payout("500", recipients.paid)],
    [
      "a refund",
      ({ refunded }) => `kind = 'refund' AND target = '${refunded}'`,
      ({ refunded }) => refund(refunded, "60"),
    ],
    ["a payment", () => "kind = 'payment' AND description = 'tea'", () => payment("tea")],
  ];

  serverTest.each(floods)(
    "edits %s and inserts 60 newer ones, and it is not sent again",
    async (_, which, again) => {
      await flood(shop, which(filled));
      expect((await shop.ben(["ledger", "check"])).code).toBe(0);
      const { rowCount } = await shop.colleague.query(
        `UPDATE operations SET ${asRejected} WHERE ${which(filled)} AND login <> session_user`,
      );
      expect(rowCount).toBe(1);

      const sent = await shop.annBuilt([...again(filled), "--json"]);

      expect([sent.code, errorOf(sent)]).toMatchObject([1, { reason: "ledger.modified" }]);
      expect(shop.moved()).toEqual([]);
    },
  );

  serverTest("inserts nothing in the name of another login", async () => {
    const denied = /permission denied/;
    const { rows } = await shop.colleague.query("SELECT * FROM operations LIMIT 1");
    const named = { ...rows[0], number: "77", id: "OP77", reference: "R77", login: "ann" };
    await expect(insert(shop, "operations", named)).rejects.toThrow(denied);
    await expect(shop.alter("UPDATE operations SET login = 'ann'")).rejects.toThrow(denied);
    await expect(shop.alter("SET SESSION AUTHORIZATION ann")).rejects.toThrow(denied);
    await expect(shop.alter("CREATE ROLE other LOGIN")).rejects.toThrow(denied);
    // A role that he takes on changes no login.
    const { login: _, ...own } = named;
    await shop.alter("SET ROLE lenden_writer");
    await insert(shop, "operations", own);
    await shop.alter("RESET ROLE");
    const { rows: written } = await shop.colleague.query(
      "SELECT login FROM operations WHERE id = 'OP77'",
    );
    expect(written).toEqual([{ login: "mallory" }]);
  });

  serverTest("inserts a row while a batch is sent, which stops before that row", async () => {
    // The row of unknown outcome is sent first; the others are read after it.
    shop.api.disturb(create, { delayMs: 500 }, 1);
    const before = shop.api.requests.length;
    const sending = shop.ann(filled.sending.open);
    await until(() => shop.api.requests.slice(before).some(({ path }) => path === create));
    await shop.alter(plantedRow);

    const { code } = await sending;

    expect([1, 75]).toContain(code);
    expect(shop.moved()).toEqual(["payout 22 01711000022"]);
  });

  /** Runs a batch whose first request takes a while, and does something meanwhile. */
  async function during(line: string[], work: () => Promise<void>) {
    shop.api.disturb(create, { delayMs: 500 }, 1);
    const before = shop.api.requests.length;
    const sending = shop.ann(line);
    await until(() => shop.api.requests.slice(before).some(({ path }) => path === create));
    await work();
    return sending;
  }

  serverTest("edits a row as accepted while a batch is sent, which does not end well", async () => {
    const sent = await during(filled.sending.open, () =>
      shop.alter(`UPDATE operations SET ${accepted} WHERE reference = 'JUNE-3'`),
    );

    expect([sent.code, sent.stderr]).toEqual([
      75,
      expect.stringContaining("was modified in the ledger"),
    ]);
    expect(shop.moved()).toEqual(["payout 22 01711000022"]);
  });

  serverTest("plants the payout of a row while its batch is sent, which names him", async () => {
    const sent = await during([...filled.sending.planned, "--json"], async () => {
      const { rows } = await shop.colleague.query(
        "SELECT * FROM batch_rows WHERE reference = 'JULY-2'",
      );
      await plant(shop, "MAY-2", (intent) => ({
        ...toColleague("JULY-2", 32)(intent),
        asked: {
          ...{ amount: 32, merchantRef: "JULY-2", recipientNumber: "01711000032" },
          paymentMethodId: rows[0].method_id,
        },
      }));
    });

    const message = expect.stringContaining("1 of 2 rows were recorded as accepted by mallory");
    expect(JSON.parse(sent.stdout).warnings).toContainEqual({
      reason: "batch.accepted-by-others",
      message,
    });
    expect(shop.moved()).toEqual(["payout 31 01711000031"]);
  });

  serverTest.each<[string, string, string, string[]]>([
    ["a paid row as rejected", "MAY-1", asRejected, ["export", "may.csv", "--only", "failed"]],
    ["a paid row as rejected", "MAY-1", asRejected, ["export", "may.csv"]],
    ["an unknown row as accepted", "JUNE-2", accepted, ["export", "june.csv", "--only", "unknown"]],
    ["an unknown row as accepted", "JUNE-2", accepted, ["resolve", "june.csv", "--not-created"]],
    ["an unsent row as accepted", "JUNE-3", accepted, ["cancel", "june.csv"]],
  ])("edits %s: %s, which is not believed", async (_, reference, set, [command = "", ...more]) => {
    await shop.alter(`UPDATE operations SET ${set} WHERE reference = '${reference}'`);
    const yes = command === "export" ? [] : ["--yes"];

    const ended = await shop.ann(["payout", "batch", command, ...more, ...yes, "--json"]);

    expect([ended.code, ended.stdout]).toEqual([1, expect.not.stringContaining("-lenden2")]);
    expect(ended.stdout + ended.stderr).toContain("was modified in the ledger");
  });

  serverTest("plants a row in an open batch, with the event of its plan", async () => {
    const ofBatch = "SELECT * FROM batches WHERE name = 'june.csv'";
    const { rows: batches } = await shop.colleague.query(ofBatch);
    const { holder: _, ...batch } = batches[0];
    await shop.alter(plantedRow);
    const ofRows = 'SELECT * FROM batch_rows WHERE batch = $1 ORDER BY "row"';
    const { rows } = await shop.colleague.query(ofRows, [batch.number]);
    const sums = new PlanSums();
    for (const row of rows) sums.add(row);
    const { event, data } = planEvent(batch, new Date().toISOString(), sums);
    await shop.append({ operation: null, batch: batch.number, event, data: JSON.parse(data) });

    const byId = await shop.annBuilt(orders.batch(batch.id, [4, 49_066]));
    const byFile = await shop.annBuilt(filled.sending.open);

    for (const { code, stderr } of [byId, byFile])
      expect([code, stderr]).toEqual([1, expect.stringContaining("were modified in the ledger")]);
    expect(shop.moved()).toEqual([]);
  });

  serverTest("hides no unfinished batch from the file that replaces it", async () => {
    const wages = (to: string) => `amount,to,method\n41,01711000041,bkash\n42,${to},bkash\n`;
    const path = fileOf(wages("01711000042"), "wages.csv");
    const denied = { do: "answer", status: 403, body: "{}" } as const;
    shop.api.disturb(create, { response: () => denied, takesEffect: false }, 2);
    await shop.ann(orders.batch(path, [2, 83]));
    expect(shop.moved()).toEqual(["payout 41 01711000041"]);
    const ofFile = "FROM batches WHERE file_name = 'wages.csv'";
    const { rows } = await shop.colleague.query(`SELECT * ${ofFile}`);
    const changes = Object.entries(hiding).map(([column, value]) => `"${column}" = ${value}`);
    for (const set of [...changes, changes.join(", ")]) {
      const changed = shop.alter(`UPDATE batches SET ${set} WHERE number = ${rows[0].number}`);
      await expect.soft(changed, set).rejects.toMatchObject({ code: "42501" });
    }

    writeFileSync(path, wages("01711000043"));
    const sent = await shop.annBuilt([...orders.batch(path, [2, 83]), "--allow-duplicates"]);

    expect([sent.code, sent.stderr]).toEqual([5, expect.stringContaining("wages.csv differs")]);
    expect(shop.moved()).toEqual(["payout 41 01711000041"]);
  });

  serverTest("plants the accepted payout of an unsent row, and the batch names him", async () => {
    await stopPlanned();
    const { rows: batches } = await shop.colleague.query(newestBatch);
    const [{ number }] = batches;
    const { rows } = await shop.colleague.query(unsentRow, [number]);
    const [{ reference, seal }] = rows;
    await plant(shop, "MAY-2", (intent) => ({
      ...toColleague(reference, 32)(intent),
      ...{ batch: number, seal },
      asked: {
        ...{ amount: 32, merchantRef: reference, recipientNumber: "01711000032" },
        paymentMethodId: rows[0].method_id,
      },
    }));

    const sent = await shop.annBuilt([...filled.sending.planned, "--json"]);

    expect(sent.code).toBe(0);
    const message = expect.stringContaining("1 of 2 rows were recorded as accepted by mallory");
    expect(JSON.parse(sent.stdout).warnings).toEqual([
      { reason: "batch.accepted-by-others", message },
    ]);
    expect(shop.moved()).toEqual(["payout 31 01711000031"]);
  });

  /** What he writes of a row of a paid batch, and of the row of an unfinished one. */
  const ended: [what: string, set: string, which: string, file: string, sums: [number, number]][] =
    [
      [
        "as accepted, and the changed file of its batch is not sent",
        accepted,
        "reference IN ('JUNE-2', 'JUNE-3')",
        "ref,amount,to,method\nJUNE-1,21,01711000021,bkash\nJUNE-2,22,01711000022,bkash\nJUNE-9,23,01711000029,bkash\n",
        [3, 66],
      ],
      [
        "as not sent, and a file with all rows of its batch is not sent",
        "state = 'NOT_SENT', phase = 'free', status = NULL, accepted_at = NULL",
        "reference = 'MAY-1'",
        "amount,to,method\n11,01711000011,bkash\n12,01711000012,bkash\n13,01711000013,bkash\n",
        [3, 36],
      ],
    ];

  serverTest.each(ended)("edits a row of a batch %s", async (_, set, which, file, sums) => {
    await shop.alter(`UPDATE operations SET ${set} WHERE ${which}`);
    const path = fileOf(file, which.includes("JUNE") ? "june.csv" : "more.csv");

    const sent = await shop.ann([...orders.batch(path, sums), "--allow-duplicates", "--json"]);

    expect([sent.code, errorOf(sent)]).toMatchObject([1, { reason: "ledger.modified" }]);
    expect(shop.moved()).toEqual([]);
  });

  serverTest("edits the unsent rows of a batch as accepted, and it is not finished", async () => {
    await shop.alter(`UPDATE operations SET ${accepted} WHERE reference IN ('JUNE-2', 'JUNE-3')`);
    const { rows } = await shop.colleague.query("SELECT id FROM batches WHERE name = 'june.csv'");

    for (const line of [filled.sending.open, orders.batch(rows[0].id, [3, 66])]) {
      const sent = await shop.ann([...line, "--json"]);
      expect([sent.code, errorOf(sent)]).toMatchObject([1, { reason: "ledger.modified" }]);
    }
  });

  serverTest(
    "cancels a paid batch, which a file with all of its rows does not pay again",
    async () => {
      const { rows } = await shop.colleague.query("SELECT number FROM batches ORDER BY number");
      const more =
        "amount,to,method\n11,01711000011,bkash\n12,01711000012,bkash\n13,01711000013,bkash\n";
      const line = [...orders.batch(fileOf(more, "more.csv"), [3, 36]), "--allow-duplicates"];
      await shop.append({ operation: null, batch: rows[0].number, event: "cancelled", data: {} });
      await shop.alter(
        `UPDATE batches SET cancelled_at = created_at WHERE number = ${rows[0].number}`,
      );

      const sent = await shop.annBuilt(line);

      expect([sent.code, sent.stderr]).toEqual([
        5,
        expect.stringContaining("has all rows of batch"),
      ]);
      expect(shop.moved()).toEqual([]);
    },
  );

  type Row = Record<string, string | null>;

  /** Ann's batch of the next file, which stops at its first row. */
  async function stopPlanned(): Promise<void> {
    const denied = { do: "answer", status: 403, body: "{}" } as const;
    shop.api.disturb(create, { response: () => denied, takesEffect: false }, "every");
    await shop.ann(filled.sending.planned);
    shop.api.heal();
  }

  /** The batch that the next file would be: the colleague has the file and the source. */
  async function nextBatch(): Promise<{ batch: Row; rows: Row[] }> {
    await stopPlanned();
    const { rows: batches } = await shop.colleague.query(newestBatch);
    delete batches[0].login;
    const ofRows = 'SELECT * FROM batch_rows WHERE batch = $1 ORDER BY "row"';
    const { rows } = await shop.colleague.query(ofRows, [batches[0].number]);
    await shop.reset();
    return { batch: batches[0], rows };
  }

  async function plantBatch(given: Row, rows: Row[]): Promise<void> {
    const sums = new PlanSums();
    for (const row of rows) sums.add(row);
    await insert(shop, "batches", { ...given, process: null, held_since: null });
    for (const row of rows) await insert(shop, "batch_rows", row);
    const { batch, event, data } = planEvent(given, String(given.created_at), sums);
    await shop.append({ operation: null, batch: batch ?? null, event, data: JSON.parse(data) });
  }
});
