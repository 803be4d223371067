import { describe, expect, test } from "vitest";
import {
  mayPayAgain,
  type RowFacts,
  type SoughtFile,
  whichBatch,
} from "../../src/batches/identity.ts";
import type { Batch, BatchFile, KnownBatches } from "../../src/ledger/batch.ts";
import { errorOf, lenden, type Outcome } from "../support/lenden.ts";
import { openMerchant, openProductionMerchant } from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";
import { examiner, fileOf } from "./files.ts";

const csv = (...rows: string[]) => `amount,to,method,name\n${rows.join("\n")}\n`;
const rows = [
  "500,01712345678,bkash,Rahim",
  "19000,01812345678,nagad,Mita",
  "500,01712345678,bkash,Rahima",
];
/** So many rows to recipients of their own: BDT 5, 6, 7 and so on. */
const rowsOf = (count: number) =>
  `amount,to\n${Array.from({ length: count }, (_, row) => `${5 + row},017${12_345_678 + row}\n`).join("")}`;
const withReferences = ["ref,amount,to,method", "A,5,01712345678,bkash", "B,6,01812345678,bkash"];

/** The identity of a file, and its references by name. */
async function identityOf(content: string, how: Parameters<typeof examiner>[0] = {}) {
  const { identity, rows, findings } = await examiner(how)(content);
  const references = Object.fromEntries(rows.map(({ name, reference }) => [name, reference]));
  return { identity, references, kinds: findings.map(({ kind }) => kind) };
}

describe("the identity of a file", () => {
  test.each<[string, string, Parameters<typeof examiner>[0]?]>([
    ["other line ends", csv(...rows).replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${csv(...rows)}`],
    ["another order", csv(...rows.toReversed())],
    ["19000.00 for 19000", csv(...rows).replace("19000", "19000.00")],
    ["another form of the numbers", csv(...rows).replaceAll(",017", ",+88017")],
    ["the ID of a method", csv(...rows).replace("nagad", "665f1c2ab8e5")],
    ["--number-format e164", csv(...rows), { numberFormat: "e164" }],
    [
      "--number-format as-is",
      csv(...rows).replaceAll(",017", ",+880 17"),
      { numberFormat: "as-is" },
    ],
    ["quotes and an empty column", csv(...rows.map((row) => `"${row.replaceAll(",", '","')}"`))],
  ])("is the same with %s, and so are the references", async (_, content, how) => {
    const expected = await identityOf(csv(...rows));
    expect(expected.identity).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.values(expected.references)).toEqual(
      rows.map(() => expect.stringMatching(/^LD-[\w-]{32}$/)),
    );
    expect(new Set(Object.values(expected.references)).size).toBe(rows.length);
    expect(await identityOf(content, how)).toEqual({ ...expected, kinds: expected.kinds });
  });

  test.each([
    ["amount", csv(...rows).replace("19000", "19000.01")],
    ["recipient", csv(...rows).replace("01812345678", "01812345679")],
    ["method", csv(...rows).replace("nagad", "rocket")],
    ["name", csv(...rows).replace("Mita", "Mina")],
    ["row more", csv(...rows, "1,01912345678,bkash,")],
  ])("differs with another %s", async (_, content) => {
    const one = await identityOf(csv(...rows));
    const other = await identityOf(content);
    expect(other.identity).not.toBe(one.identity);
    const before = new Set(Object.values(one.references));
    expect(Object.values(other.references).some((reference) => before.has(reference))).toBe(false);
  });

  test("differs with --name, and so do the references", async () => {
    const one = await identityOf(csv(...rows));
    const other = await identityOf(csv(...rows), { ownName: "December" });
    expect(other.identity).not.toBe(one.identity);
    expect(other.references.Rahim).not.toBe(one.references.Rahim);
  });

  test("differs with another reference in the file", async () => {
    const one = await identityOf(withReferences.join("\n"));
    const other = await identityOf(withReferences.join("\n").replace("A,", "C,"));
    expect(other.identity).not.toBe(one.identity);
  });

  test("is undefined if a row cannot be read", async () => {
    expect((await identityOf(csv(...rows, "five,01912345678,bkash,"))).identity).toBeUndefined();
  });
});

describe("which batch a file is", () => {
  const batch = (id: string, given: Partial<Batch> = {}): Batch => ({
    ...{
      id,
      number: 1n,
      name: "may.csv",
      fileName: "may.csv",
      hash: "b1",
      identity: "i1",
      login: "a",
    },
    ...{
      columns: ["amount", "to"],
      method: null,
      user: "ann",
      actor: "person",
      createdAt: "",
      cancelledAt: null,
    },
    ...{ holder: null, plan: { rowCount: 2, totalPaisa: 11n, seal: "s" }, ...given },
  });
  const [june, copy] = [{ name: "june" }, { name: "copy.csv", fileName: "copy.csv" }];
  const cancelled = { cancelledAt: "2026-11-20T10:00:00.000Z" };
  const shown = { hash: "b1", fileName: "may.csv" };
  const unread = { ...shown, name: "may.csv" };
  const read = { ...unread, hash: "other", identity: "i1" };
  const paid = (one: Batch) => ({ paid: { batch: one, otherAccount: null, samples: [] } });
  const known = (batches: Batch[], named?: Batch, isUnfinished = false): KnownBatches => ({
    ...{ batches, named, unfinished: isUnfinished ? named : undefined },
  });
  const A = batch("A");
  const other = batch("A", { identity: "i2", hash: "b2" });

  test.each<[string, SoughtFile, KnownBatches, string, RowFacts?]>([
    ["the same bytes", unread, known([A]), "same A"],
    ["the same bytes, cancelled", unread, known([batch("A", cancelled)]), "same A"],
    ["the same bytes with a --name", unread, known([batch("A", june)]), "new"],
    ["the same bytes without --name", { ...unread, ...june }, known([A]), "new"],
    ["the same bytes and --name", { ...unread, ...june }, known([A, batch("B", june)]), "same B"],
    ["the bytes of another file", { ...unread, ...copy }, known([A]), "same A"],
    ["the same bytes twice", unread, known([batch("B"), A]), "same B"],
    ["the same bytes, not planned", unread, known([batch("A", { plan: null })]), "new"],
    ["other bytes", unread, known([other]), "new"],
    ["the same rows", read, known([A]), "same A"],
    ["the same rows, cancelled", read, known([batch("A", cancelled)]), "same A"],
    ["the same rows, not planned", read, known([batch("A", { plan: null })]), "new"],
    ["the same bytes by other flags", { ...read, hash: "b1", identity: "i3" }, known([A]), "new"],
    ["the same rows and an unfinished batch", read, known([A, other], other, true), "same A"],
    ["an unfinished batch of its name", read, known([other], other, true), "changed A"],
    ["other payouts", read, known([other], other, true), "changed A", { differences: ["line 2"] }],
    ["the same payouts", read, known([other], other, true), "same A", { differences: [] }],
    ["an ended batch of its name", read, known([other], other), "new"],
    ["all payouts of a paid batch", read, known([]), "changed P", paid(batch("P"))],
    ["nothing", read, known([]), "new"],
    ["to show: the same bytes", shown, known([batch("B", june), A]), "same A"],
    ["to show: the same bytes with a --name", shown, known([batch("B", june)]), "same B"],
    [
      "to show: the same rows",
      shown,
      known([other], other),
      "same B",
      { rowsOf: batch("B", june) },
    ],
    ["to show: an unfinished batch of its name", shown, known([other], other, true), "changed A"],
    ["to show: an ended batch of its name", shown, known([other], other), "changed A"],
    ["to show: nothing", shown, known([]), "new"],
  ])("%s", (_, file, batches, expected, facts) => {
    const is = whichBatch(file, batches, facts);
    expect(is.kind === "new" ? "new" : `${is.kind} ${is.batch.id}`).toBe(expected);
  });

  const sent = { name: "may.csv", fileName: "may.csv", identity: "i2" };
  test.each<[string, Partial<BatchFile>, number, Partial<Batch>, boolean]>([
    ["the same payouts under the same name", {}, 2, {}, true],
    ["the same payouts under the name of its file", {}, 2, june, true],
    ["the same payouts in a file of another name", {}, 2, copy, false],
    ["the same payouts of a batch with references", {}, 2, { columns: ["ref"] }, false],
    ["the same payouts with its --name", june, 2, june, true],
    ["the same rows in another account", { identity: "i1" }, 2, {}, false],
    ["more payouts under the same name", {}, 3, {}, true],
    ["more payouts in a file of another name", {}, 3, copy, true],
    ["more payouts than a batch with references", {}, 3, { columns: ["ref"] }, true],
    ["more payouts with its --name", june, 3, june, true],
    ["more payouts with a --name that it does not have", june, 3, {}, false],
  ])("%s may pay a batch again, or not", (_, file, rowCount, given, expected) => {
    expect(mayPayAgain({ ...sent, ...file }, rowCount, batch("A", given))).toBe(expected);
  });
});

test("the same recipient is found in one file, however the number is written", async () => {
  const content = csv("5,01712345678,bkash,A", "5.00,+8801712-345678,nagad,B");
  for (const numberFormat of ["local", "as-is"] as const)
    expect((await identityOf(content, { numberFormat })).kinds).toEqual(["same-recipient-in-file"]);
});

describe("batch send", () => {
  test("resumes the batch of a file with the same rows, whatever its name and order", async () => {
    const merchant = await openMerchant();
    const send = (content: string, name: string, ...flags: string[]) =>
      merchant.lenden(["payout", "batch", "send", fileOf(content, name), ...flags, "--json"]);
    const allowed = "--allow-duplicates";
    const first = await send(csv(...rows), "november.csv", allowed);
    expect(first).toMatchObject({ code: 0 });
    const copy = csv(...rows.toReversed()).replaceAll("\n", "\r\n");
    const second = await send(copy, "copy.csv", "--delimiter", "comma");
    expect(second).toMatchObject({ code: 0 });
    const batchOf = ({ stdout }: { stdout: string }): unknown => JSON.parse(stdout).batch;
    expect(batchOf(second)).toBe(batchOf(first));
    expect(await merchant.books("payouts")).toHaveLength(3);
    const named = await send(csv(...rows), "november.csv", "--name", "December", allowed);
    expect(named).toMatchObject({ code: 0 });
    expect(batchOf(named)).not.toBe(batchOf(first));
    expect(await merchant.books("payouts")).toHaveLength(6);
    expect(await send(copy, "other.csv", "--name", "December")).toMatchObject({ code: 0 });
    expect(batchOf(await send(copy, "other.csv", "--name", "other.csv"))).toBe(batchOf(first));
    expect(await merchant.books("payouts")).toHaveLength(6);
  });

  test("sends other rows under the name of a finished batch", async () => {
    const merchant = await openMerchant();
    const send = (content: string) =>
      merchant.lenden(["payout", "batch", "send", fileOf(content, "payroll.csv")]);
    expect(await send(csv(rows[0] ?? ""))).toMatchObject({ code: 0 });
    expect(await send(csv(rows[1] ?? ""))).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test.each([
    { name: "payroll.csv", flags: [] },
    { name: "payroll.csv", flags: ["--allow-duplicates"] },
    { name: "payroll-2.csv", flags: ["--allow-duplicates"] },
  ])("rejects all rows of a finished batch and more as $name $flags", async ({ name, flags }) => {
    const merchant = await openMerchant();
    const rows = ["amount,to,name", "5,01712345678,Rahim", "6,01812345678,Karim"];
    const run = (does: string, lines: string[], file: string, ...more: string[]) =>
      merchant.lenden([
        ...["payout", "batch", does, fileOf(`${lines.join("\n")}\n`, file), "--method", "bkash"],
        ...[...more, "--json"],
      ]);
    expect(await run("send", rows, "payroll.csv")).toMatchObject({ code: 0 });
    const longer = [...rows, "7,01912345678,Selim"];
    for (const line of [
      () => run("check", longer, name, ...flags),
      () => run("send", longer, name, ...flags),
      () => run("send", longer, name, ...flags, "--dry-run"),
    ]) {
      const outcome = await line();
      expect(outcome.code).toBe(5);
      expect(errorOf(outcome)).toMatchObject({
        reason: "batch.other-rows",
        message: expect.stringContaining("has all rows of batch"),
        hint: expect.stringContaining("--name"),
      });
    }
    expect(await merchant.books("payouts")).toHaveLength(2);
    const onlyNew = [rows[0] ?? "", ...longer.slice(3)];
    expect(await run("send", onlyNew, name, ...flags)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(3);
    const all = ["--allow-duplicates", "--name", "again"];
    expect(await run("send", longer, name, ...all)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(6);
    // The name is no decision any more.
    const longest = [...longer, "8,01612345678,Jamal"];
    expect(await run("send", longest, name, ...all)).toMatchObject({ code: 5 });
    expect(await merchant.books("payouts")).toHaveLength(6);
  });

  /** Adds newer batches of the same account, each of one row: some are not planned, and some are cancelled. */
  const newerBatches = `
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700)
    INSERT INTO batches (id, environment, account, profile, name, file_name, file_hash, identity, columns, method,
      "user", login, row_count, total_paisa, created_at, cancelled_at)
    SELECT id || i, environment, account, profile, 'other.csv', 'other.csv', file_hash, identity || i, columns, method,
      "user", login, CASE WHEN i % 3 > 0 THEN 1 END, 100, created_at, CASE WHEN i % 3 > 1 THEN created_at END
    FROM batches, n;
    INSERT INTO batch_rows (batch, row, line, reference, amount_paisa, recipient, recipient_key, method_id, method,
      cells, accepted)
    SELECT number, 1, 2, 'R' || number, 100, '01912345678', '01912345678', 'm', 'bkash', '[]', 0
    FROM batches WHERE name = 'other.csv';
    INSERT INTO events (number, batch, at, event, data, commit_id, hash, login)
    SELECT (SELECT max(number) FROM events) + row_number() OVER (ORDER BY number), number, created_at,
      'plan', '{}', '', '', 'other' FROM batches
    WHERE name = 'other.csv' AND row_count IS NOT NULL`;
  const expectRejected = async (run: (...line: string[]) => Promise<Outcome>, file: string) => {
    const line = [file, "--method", "bkash", "--allow-duplicates", "--json"];
    for (const does of ["check", "send"]) {
      const outcome = await run("payout", "batch", does, ...line);
      expect(outcome.code).toBe(5);
      expect(errorOf(outcome)).toMatchObject({ reason: "batch.other-rows" });
    }
  };

  test("rejects all rows of a finished batch and more, however many batches are newer", async () => {
    const merchant = await openMerchant();
    const run = (...line: string[]) => merchant.lenden(line);
    const send = ["payout", "batch", "send", fileOf(rowsOf(2), "a.csv"), "--method", "bkash"];
    expect(await run(...send)).toMatchObject({ code: 0 });
    await merchant.inLedger((ledger) => ledger.exec(newerBatches));
    await expectRejected(run, fileOf(rowsOf(3), "b.csv"));
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("no hint contains an ID that lenden did not give", async () => {
    const merchant = await openMerchant();
    const send = (rows: string, name: string) =>
      merchant.lenden([
        "payout",
        "batch",
        "send",
        fileOf(rows, name),
        "--method",
        "bkash",
        "--json",
      ]);
    expect(await send(rowsOf(2), "a.csv")).toMatchObject({ code: 0 });
    await merchant.inLedger((ledger) => ledger.exec("UPDATE batches SET id = 'B1 --yes'"));
    for (const outcome of [
      await send(rowsOf(3), "b.csv"),
      await merchant.lenden(["payout", "batch", "status", "@last", "--json"]),
    ])
      expect([outcome.code, errorOf(outcome).reason]).toEqual([1, "ledger.modified"]);
  });

  serverTest("a ledger on PostgreSQL compares a file with all finished batches", async () => {
    const cluster = await sharedCluster();
    const merchant = await openMerchant();
    const { database, url } = await teamLedger(cluster, "ann");
    const env = machine(merchant, url("ann"));
    const run = (...line: string[]) => lenden(line, { env });
    const send = ["payout", "batch", "send", fileOf(rowsOf(2), "a.csv"), "--method", "bkash"];
    expect(await run(...send)).toMatchObject({ code: 0 });
    await cluster.run(`SET search_path = lenden; ${newerBatches}`, database);
    await expectRejected(run, fileOf(rowsOf(3), "b.csv"));
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("rejects all rows of a batch that another production account finished, and more", async () => {
    const merchant = await openProductionMerchant();
    const expected = (count: number, total: number) =>
      ["--method", "bkash"].concat("--expect-count", `${count}`, "--expect-total", `${total}`);
    const send = (rows: number, name: string, ...flags: string[]) => [
      "payout",
      "batch",
      "send",
      fileOf(rowsOf(rows), name),
      ...flags,
    ];
    expect(await merchant.lenden(send(2, "a.csv", ...expected(2, 11)))).toMatchObject({ code: 0 });
    const newKey = "public-NEW-ABCDEFGHIJKL-NEW";
    await merchant.rotateKey(newKey);
    const allowed = [...expected(3, 18), "--allow-duplicates"];
    const outcome = await merchant.lenden(send(3, "b.csv", ...allowed), { LENDEN_API_KEY: newKey });
    expect(outcome).toMatchObject({ code: 5, stderr: expect.stringContaining("in account") });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("accepts all rows of a finished batch and more with references or other descriptions", async () => {
    const merchant = await openMerchant();
    const send = (header: string, ...lines: string[]) => {
      const file = fileOf(`${[header, ...lines].join("\n")}\n`);
      const flags = ["--method", "bkash", "--allow-duplicates"];
      return merchant.lenden(["payout", "batch", "send", file, ...flags]);
    };
    const [a, b] = ["A,5,01712345678", "B,6,01812345678"];
    expect(await send("ref,amount,to", a)).toMatchObject({ code: 0 });
    expect(await send("ref,amount,to", a, b)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
    const november = "7,01912345678,November";
    expect(await send("amount,to,description", november)).toMatchObject({ code: 0 });
    const december = ["7,01912345678,December", "9,01612345678,December"];
    expect(await send("amount,to,description", ...december)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(5);
  });

  test("without references is not paid again by another method, or with a corrected name", async () => {
    const merchant = await openMerchant();
    const send = (name: string, method: string, end = "\r\n") => {
      const file = fileOf(`amount,to,name${end}5,01712345678,${name}${end}`);
      return merchant.lenden(["payout", "batch", "send", file, "--method", method]);
    };
    expect(await send("Rahim Uddin", "bkash", "\n")).toMatchObject({ code: 0 });
    for (const [name, method] of [
      ["Rahim Uddin", "nagad"],
      ["Rahim  Uddin", "bkash"],
      ["Rahima Uddin", "bkash"],
    ] as const) {
      const { code, stderr } = await send(name, method);
      expect([code, stderr]).toEqual([5, expect.stringContaining("has the same payouts as batch")]);
    }
    expect(await merchant.books("payouts")).toHaveLength(1);
  });
});
