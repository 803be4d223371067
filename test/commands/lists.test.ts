import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { itemsOf } from "../../src/commands/lists.ts";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { lenden } from "../support/lenden.ts";
import {
  alter,
  type Merchant,
  openMerchant,
  paidPayment,
  paymentOf,
  payoutOf,
  refundOf,
  testAccount,
} from "../support/merchant.ts";
import { busyMerchant } from "./busy-merchant.ts";

const account = testAccount();

async function ids(merchant: Merchant, line: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await merchant.lenden([...line, "-q"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").filter(Boolean);
}

test("lists show the newest first, as a table, IDs, JSON and CSV", async () => {
  const { merchant, paid, payment, payouts, refund } = await busyMerchant();
  expect(await ids(merchant, ["pay", "list"])).toEqual([payment, paid]);
  expect(await ids(merchant, ["payout", "list"])).toEqual(payouts.toReversed());
  expect(await ids(merchant, ["refund", "list"])).toEqual([refund]);
  expect(await ids(merchant, ["payout", "list", "--limit", "1"])).toEqual(payouts.slice(1));
  expect(await merchant.json(["payout", "list"])).toMatchObject([
    {
      payoutId: payouts[1],
      merchantRef: "REF-2",
      amount: 5,
      status: "Processing",
      state: "CONFIRMED",
    },
    { payoutId: payouts[0], merchantRef: "REF-1" },
  ]);
  expect(await merchant.json(["refund", "list"])).toMatchObject([
    { refundRequestId: refund, transactionId: paid, amount: 40, accountNumber: "01812345678" },
  ]);
  const csv = await merchant.lenden(["payout", "list", "-o", "csv"]);
  expect(csv.stdout.split(/\r?\n/)[1]).toMatch(
    new RegExp(`^${payouts[1]},REF-2,5.00,"01712345678",Processing,`),
  );
  const table = await merchant.lenden(["pay", "list"]);
  expect(table.stdout).toMatch(
    /ID.*AMOUNT.*DESCRIPTION.*METHOD.*STATUS[\s\S]*BDT 100\.00 +second +bkash +Processing/,
  );
});

test("lists are filtered by status and time, and --refresh retrieves and stores what is Processing", async () => {
  const { merchant, paid, payment, payouts } = await busyMerchant();
  const third = await merchant.id(paymentOf("third"));
  await merchant.set("payment", third, "Completed");
  // The refund retrieved and stored the status of its payment.
  expect(await ids(merchant, ["pay", "list", "--status", "Completed"])).toEqual([paid]);
  const refreshed = ["pay", "list", "--refresh", "--status", "Completed"];
  expect(await ids(merchant, refreshed)).toEqual([third, paid]);
  expect(await ids(merchant, ["pay", "list", "--status", "Completed"])).toEqual([third, paid]);
  expect(await ids(merchant, ["pay", "list", "--status", "Processing"])).toEqual([payment]);
  const asked = (await merchant.requests()).length;
  expect(await ids(merchant, ["pay", "list", "--refresh"])).toEqual([third, payment, paid]);
  const again = (await merchant.requests()).slice(asked);
  expect(again.map(({ path }) => path.split("/").at(-1))).toEqual([payment]);
  expect(await ids(merchant, ["payout", "list", "--since", "1h ago"])).toEqual(
    payouts.toReversed(),
  );
  expect(await ids(merchant, ["payout", "list", "--until", "1h ago"])).toEqual([]);
  expect(await ids(merchant, ["payout", "list", "--since", "2099-01-01"])).toEqual([]);
  expect(await ids(merchant, ["payout", "list", "--since", "today", "--until", "today"])).toEqual(
    payouts.toReversed(),
  );
});

test.each([
  [
    ["--limit", "0"],
    '--limit: "0" is not a whole number from 1 to 999999999. To list all, use --limit all.',
  ],
  [["--status", "Lost"], '--status: "Lost" is not one of: Processing, Completed,'],
  [["--since", "soon"], '--since: "soon" is not a time.'],
  [["--since", "today", "--until", "yesterday"], "--since today is after --until yesterday."],
  [["--min", "20", "--max", "10.5"], "--min 20 is above --max 10.5."],
  [["--columns", "id,sum"], '--columns: "sum" is not one of: id, merchantRef, amount,'],
  [["--columns", "id", "--json"], "--columns cannot be used with JSON output"],
  [["--to", "1712345678"], "a leading zero was lost"],
  [["--batch", "none.csv"], "has no batch"],
])("%j is rejected with its value", async (flags, problem) => {
  const { code, stdout, stderr } = await account.run(["payout", "list", ...flags]);
  expect({ code, stdout }).toEqual({ code: flags[0] === "--batch" ? 9 : 2, stdout: "" });
  expect(stderr.replace(/\\"/g, '"')).toContain(problem);
});

test.each([
  ["refund list --ref INV-7", "--ref", "--min, --max, --actor, --to,"],
  ["pay list --batch=payroll.csv", "--batch", "--min, --max, --actor, --method,"],
  ["callback list --status Completed", "--status", "--verdict, --since, --until,"],
  ["payout batch list --to 01712345678", "--to", "--status, --since, --until,"],
])("'%s' names the flags that the list has", async (line, name, own) => {
  const { code, stderr } = await account.run(line.split(" "));
  expect(code).toBe(2);
  expect(stderr).toContain(`This list has no filter ${name}. Its flags are `);
  expect(stderr).toContain(own);
});

test("a table has 50 rows and states how many it omits; all other output has all rows", async () => {
  const merchant = await openMerchant();
  const rows = Array.from({ length: 60 }, (_, at) => `B-${at},5,017${10_000_000 + at},bkash\n`);
  const file = fileOf(`ref,amount,to,method\n${rows.join("")}`);
  await merchant.lenden(["payout", "batch", "send", file, "--concurrency", "16"]);
  for (const list of [
    ["payout", "list"],
    ["ledger", "list"],
  ]) {
    const table = await merchant.lenden(list);
    expect(table.stdout.trimEnd().split("\n")).toHaveLength(51);
    expect(table.stderr).toBe("50 of 60 shown. To list all, add --limit all.\n");
    const whole = await merchant.lenden([...list, "--limit", "all"]);
    expect(whole.stdout.trimEnd().split("\n")).toHaveLength(61);
    const exact = await merchant.lenden([...list, "--limit", "60"]);
    expect([whole.stderr, exact.stderr]).toEqual(["", ""]);
    expect(await merchant.json(list)).toHaveLength(60);
    expect(await merchant.json([...list, "--limit", "7"])).toHaveLength(7);
    expect(await ids(merchant, list)).toHaveLength(60);
    for (const format of ["csv", "ndjson"]) {
      const { stdout } = await merchant.lenden([...list, "-o", format]);
      expect(stdout.trimEnd().split("\n")).toHaveLength(format === "csv" ? 61 : 60);
    }
  }
  const first = await merchant.lenden(["payout", "list", "--batch", file, "--limit", "2"]);
  expect(first.stderr).toContain("2 of 60 shown.");
  const some = await merchant.lenden(["payout", "list", "-o", "csv", "--limit", "2"]);
  expect([some.stdout.trimEnd().split("\n").length, some.stderr]).toEqual([3, first.stderr]);
  expect(await ids(merchant, ["payout", "list", "--json", "--limit", "2"])).toHaveLength(2);
});

test.each([
  [10_000, undefined, "50 of 10000 shown."],
  [10_001, undefined, "50 shown; more than 10000 match."],
  [30_000, 20_000, "20000 shown; more than 20000 match."],
  [20_000, 20_000, undefined],
])("of %d rows with --limit %s, a table notes: %s", async (total, limit, note) => {
  const notices: string[] = [];
  const listed = {
    read: (most: number) => Array.from({ length: Math.min(most, total) }, (_, at) => at),
    count: async (most: number) => Math.min(most, total),
  };
  const ui = { output: "table", notice: (text: string) => notices.push(text) } as const;
  for await (const _ of itemsOf(listed, limit, ui));
  expect(notices).toEqual(note ? [`${note} To list all, add --limit all.`] : []);
});

test("callbacks are filtered by time and verdict, and a table states how many it omits", async () => {
  const merchant = await openMerchant();
  await merchant.id(payoutOf("REF-1"));
  await merchant.inLedger((ledger) => {
    const insert = ledger.prepare(`
      INSERT INTO callbacks (account, source, received_at, count, digest, method, target, headers, body,
        known, looks, verdict, records, finding)
      SELECT number, 'received', ?, 1, ?, 'POST', '/', '{}', '', 1, 0, ?, '[]', 'f' FROM accounts`);
    for (let at = 1; at <= 505; at += 1) {
      const day = at <= 2 ? "2026-11-19T18:30:00.000Z" : "2026-11-20T08:00:00.000Z";
      insert.run(day, `d${at}`, at % 101 === 0 ? "forged" : "verified");
    }
  });
  const list = ["callback", "list"];
  const table = await merchant.lenden(list);
  expect(table.stdout.trimEnd().split("\n")).toHaveLength(51);
  expect(table.stderr).toBe("50 of 505 shown. To list all, add --limit all.\n");
  expect((await ids(merchant, list)).map(Number)).toEqual(
    Array.from({ length: 505 }, (_, index) => 505 - index),
  );
  const found = (line: string) => ids(merchant, [...list, ...line.split(" ")]);
  expect(await found("--verdict forged")).toEqual(["505", "404", "303", "202", "101"]);
  expect(await found("--until 2026-11-19")).toEqual([]);
  expect(await found("--since 2026-11-20 --until 2026-11-20T02:00")).toEqual(["2", "1"]);
  expect(await found("--since 2026-11-20 --verdict forged --limit 2")).toEqual(["505", "404"]);
  const some = await merchant.lenden([...list, "--verdict", "forged", "--limit", "2"]);
  expect(some.stderr).toBe("2 of 5 shown. To list all, add --limit all.\n");
  const none = await merchant.lenden([...list, "--verdict", "mismatched"]);
  expect(none.stdout).toContain("No callback matches.");
  const columns = await merchant.lenden([...list, "--columns", "number,source", "--limit", "1"]);
  expect(columns.stdout).toBe("#    SOURCE\n505  received\n");
  expect(
    await merchant.lenden([...list, "--since", "today", "--until", "yesterday"]),
  ).toMatchObject({
    code: 2,
  });
});

test("batches are filtered by status and time, with the columns that are named", async () => {
  const merchant = await openMerchant();
  const row = (at: number) => `ref,amount,to,method\nB-${at},${at},01712345678,bkash\n`;
  const ofBatch: string[] = [];
  for (const at of [1, 2, 3]) {
    const sent = ["payout", "batch", "send", fileOf(row(at), `${at}.csv`), "--yes"];
    ofBatch.unshift((await merchant.lenden([...sent, "-q"])).stdout.trim());
  }
  await merchant.inLedger((ledger) =>
    alter(ledger, () =>
      ledger.exec(`
        INSERT INTO events (number, batch, at, event, data, commit_id, hash, login)
          SELECT (SELECT max(number) + 1 FROM events), number, '2026-11-20T10:00:00.000Z', 'cancelled', '{}', '', '', ''
          FROM batches WHERE file_name = '2.csv';
        UPDATE batches SET created_at = '2026-11-20T00:30:00.000Z' WHERE file_name != '3.csv';
        UPDATE operations SET state = 'UNCERTAIN', phase = 'unresolved' WHERE reference = 'B-1'`),
    ),
  );
  const [third, second, first] = ofBatch;
  const found = (line: string) => ids(merchant, `payout batch list ${line}`.trim().split(" "));
  expect(await found("")).toEqual(ofBatch);
  expect(await found("--status open")).toEqual([first]);
  expect(await found("--status cancelled")).toEqual([second]);
  expect(await found("--status ended")).toEqual([third]);
  expect(await found("--since 2026-11-20 --until 2026-11-20")).toEqual([second, first]);
  expect(await found("--until 2026-11-20T06:29")).toEqual([]);
  expect(await found("--until 2026-11-20 --limit 1")).toEqual([second]);
  const list = ["payout", "batch", "list"];
  const cut = await merchant.lenden([...list, "--until", "2026-11-20", "--limit", "1"]);
  expect(cut.stderr).toBe("1 of 2 shown. To list all, add --limit all.\n");
  const columns = await merchant.lenden([...list, "--columns", "name,status", "--status", "open"]);
  expect(columns.stdout).toBe("NAME   STATUS\n1.csv  open\n");
  expect((await merchant.lenden([...list, "--status", "lost"])).stderr).toContain("open, ended");
});

test("lists are filtered by what was requested and by what the ledger knows", async () => {
  const { merchant, paid, payment, payouts, refund } = await busyMerchant();
  const [first = "", second = ""] = payouts;
  const to = "payout send --amount 7.5 --to +8801812345678 --method bkash --ref REF-3";
  const third = await merchant.id(to.split(" "));
  await merchant.inLedger((ledger) =>
    ledger.exec(`
      UPDATE operations SET state = 'REFUSED', phase = 'retired', status = NULL WHERE reference = 'REF-1';
      UPDATE operations SET state = 'UNCERTAIN', phase = 'unresolved', status = NULL WHERE reference = 'REF-2'`),
  );
  const found = (line: string) => ids(merchant, line.split(" "));
  expect(await found("payout list --status refused")).toEqual([first]);
  expect(await found("payout list --status UNKNOWN")).toEqual([second]);
  expect(await found("payout list --status not-sent")).toEqual([]);
  expect(await found("payout list --status pROCESSING")).toEqual([third]);
  expect(await found("payout list --to 01812345678")).toEqual([third]);
  expect(await found("payout list --ref REF-2")).toEqual([second]);
  expect(await found("payout list --min 7.5")).toEqual([third]);
  expect(await found("payout list --max 7.49")).toEqual([second, first]);
  expect(await found("payout list --method BKASH --to 8801812345678")).toEqual([third]);
  expect(await found("pay list --method bkash --max 100")).toEqual([payment, paid]);
  expect(await found("pay list --method nagad")).toEqual([]);
  expect(await found("refund list --to +8801812345678 --min 40")).toEqual([refund]);
  expect(await found("refund list --to 01712345678")).toEqual([]);
  const unknown = await merchant.json("ledger list --unknown --older-than 1h".split(" "));
  expect(unknown).toEqual([]);
  const none = await merchant.lenden("ledger list --unknown --older-than 1h".split(" "));
  expect(none.stdout).toBe("No operation matches. To list all, run 'lenden ledger list'.\n");
  await merchant.inLedger((ledger) =>
    alter(ledger, () =>
      ledger.exec(
        "UPDATE operations SET created_at = '2026-01-01T00:00:00.000Z' WHERE reference = 'REF-2'",
      ),
    ),
  );
  expect(await merchant.json("ledger list --unknown --older-than 1h".split(" "))).toMatchObject([
    { reference: "REF-2" },
  ]);
});

test("lists show refunds, payments and payment URLs, and the columns that are named", async () => {
  const { merchant, paid, payment, refund } = await busyMerchant();
  const [, of] = JSON.parse(JSON.stringify(await merchant.json(["pay", "list"])));
  expect(of).toMatchObject({ transactionId: paid, refunded: "0", refundPending: "40" });
  await merchant.set("refund", refund, "Completed");
  await merchant.lenden(["refund", "list", "--refresh"]);
  expect(await merchant.json(["pay", "get", paid])).toMatchObject({
    refunded: "40",
    refundPending: "0",
    payment_url: of.payment_url,
  });
  expect((await merchant.lenden(["pay", "get", paid])).stdout).toMatch(/Refunded +BDT 40\.00/);
  const csv = "--columns id,refunded,method -o csv".split(" ");
  expect((await merchant.lenden(["pay", "list", ...csv])).stdout).toBe(
    `id,refunded,method\r\n${payment},0.00,bkash\r\n${paid},40.00,bkash\r\n`,
  );
  expect((await merchant.lenden(["refund", "list"])).stdout).toMatch(
    new RegExp(`ID +PAYMENT +AMOUNT +TO.*\n${refund} +${paid} +BDT 40\\.00`),
  );
});

test("pay link prints the payment URL from the ledger, without a key", async () => {
  const { merchant, paid, payment } = await busyMerchant();
  const [newest] = JSON.parse(JSON.stringify(await merchant.json(["pay", "list"])));
  const { LENDEN_DATA_DIR = "", LENDEN_CONFIG_DIR = "" } = merchant.env;
  const env = { LENDEN_DATA_DIR, LENDEN_CONFIG_DIR };
  await merchant.close();
  for (const id of ["@last", payment])
    expect(await lenden(["pay", "link", id], { env })).toEqual({
      code: 0,
      stdout: `${newest.payment_url}\n`,
      stderr: "",
    });
  expect(await merchant.json(["pay", "link", paid])).toMatchObject({ transactionId: paid });
  expect(await merchant.lenden(["pay", "link", "TX-NONE"])).toMatchObject({
    code: 9,
    stdout: "",
    stderr: expect.stringContaining("The ledger has no payment URL for payment TX-NONE."),
  });
});

test("@last and @2 stand for the newest IDs of their kind in every command", async () => {
  const { merchant, paid, payment, payouts, refund } = await busyMerchant();
  expect(await merchant.id(["pay", "get", "@last"])).toBe(payment);
  expect(await merchant.id(["pay", "get", "@2"])).toBe(paid);
  expect(await merchant.id(["payout", "get", "@last"])).toBe(payouts[1]);
  expect(await merchant.id(["payout", "get", "@2"])).toBe(payouts[0]);
  expect(await merchant.id(["refund", "get", "@last"])).toBe(refund);
  expect(await merchant.id(["sandbox", "trigger", "payout", "@2"])).toBe(payouts[0]);
  expect(await merchant.json(["payout", "get", "@2"])).toMatchObject({ status: "Completed" });
  await merchant.lenden(["sandbox", "set", "payout", "@last", "Cancelled"]);
  expect(await merchant.json(["payout", "get", "@last"])).toMatchObject({ status: "Cancelled" });
  expect(await merchant.json(refundOf("@2", "10"))).toMatchObject({ transactionId: paid });
  expect(await merchant.json(["refund", "cancel", "@2"])).toMatchObject({
    refundRequestId: refund,
    status: "Cancelled",
  });
  expect(await merchant.id(["sandbox", "trigger", "payment", "@last"])).toBe(payment);
  expect(await merchant.lenden(["payout", "wait", "@last"])).toMatchObject({ code: 10 });
  expect(await merchant.json(["ledger", "show", "@last"])).toMatchObject({
    kind: "trigger",
    target: payment,
  });
  expect(await merchant.lenden(["payout", "get", "@3"])).toMatchObject({ code: 9, stdout: "" });
  for (const typed of ["@0", "@-1", "@first", "@"]) {
    expect(await merchant.lenden(["payout", "get", typed])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`"${typed}" is not a valid ID. @last is the newest`),
    });
  }
});

test("@last skips no operation of unknown outcome, and those that were not created", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const older = await paidPayment(merchant);
  ill.push(...faults("createPayment:lost-reply"));
  expect(await merchant.lenden(paymentOf("lost"))).toMatchObject({ code: 75 });
  ill.splice(0);
  const { operation } = await merchant.json(["ledger", "show", "@last"]);
  for (const place of ["@last", "@2"]) {
    const { code, stderr } = await merchant.lenden(refundOf(place, "10", "--json"));
    expect([code, JSON.parse(stderr)]).toMatchObject([
      9,
      {
        error: {
          reason: "ledger.newest-unknown",
          effect: "nothing-sent",
          operation,
          hint: expect.stringContaining(`lenden ledger resolve ${operation}`),
        },
      },
    ]);
    expect(await merchant.lenden(["pay", "link", place])).toMatchObject({ code: 9, stdout: "" });
  }
  expect(await merchant.books("refunds")).toEqual([]);
  await merchant.json(["ledger", "resolve", String(operation), "--not-created"]);
  expect(await merchant.json(refundOf("@last", "10"))).toMatchObject({ transactionId: older });
});

test("operations of another account are not shown, counted or found by @last", async () => {
  const { merchant, payouts } = await busyMerchant();
  const other = await openMerchant();
  const env = { ...other.env, LENDEN_DATA_DIR: merchant.dataFolder };
  for (const group of ["pay", "payout", "refund"])
    expect(await lenden([group, "list", "--json"], { env })).toMatchObject({
      code: 0,
      stdout: "[]\n",
    });
  expect(await lenden(["payout", "get", "@last"], { env })).toMatchObject({ code: 9, stdout: "" });
  expect(await lenden(payoutOf("REF-1", "--json"), { env })).toMatchObject({ code: 0 });
  expect(await ids(merchant, ["payout", "list"])).toEqual(payouts.toReversed());
});
