import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { openMerchant, paidPayment, paymentOf, payoutOf, refundOf } from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";
import { openPrompts } from "../terminal/terminal.ts";

/** A merchant with an operation of each kind that moved money, and with others that did not, or may have. */
async function busyMerchant(ledgerUrl?: string) {
  const ill = faults();
  const merchant = await openMerchant({ faults: ill });
  if (ledgerUrl !== undefined) merchant.env.LENDEN_LEDGER_URL = ledgerUrl;
  const paid = await paidPayment(merchant);
  await merchant.id(paymentOf("in progress"));
  const refund = await merchant.id(refundOf(paid, "40.05"));
  const more = ["--name", 'Rahima; | (Co) * "R"'];
  const payout = await merchant.id(payoutOf("INV-1", ...more));
  const cancelled = await merchant.id(payoutOf("INV-2", "--again"));
  await merchant.set("payout", payout, "Completed");
  await merchant.set("payout", cancelled, "Cancelled");
  await merchant.set("refund", refund, "Completed");
  for (const group of ["pay", "payout", "refund"])
    await merchant.lenden([group, "list", "--refresh"]);
  ill.push(...faults("createRefund:lost-reply"));
  expect(await merchant.lenden(refundOf(paid, "1"))).toMatchObject({ code: 75 });
  return { ...merchant, paid, refund, payout };
}

const sum = (count: number, amount: string) => ({ count, amount });
const none = sum(0, "0");

/** The sums of a busy merchant. */
const total = {
  payments: sum(1, "100"),
  refunds: sum(1, "40.05"),
  payouts: sum(1, "5"),
  net: "54.95",
  unknown: { payments: none, refunds: sum(1, "1"), payouts: none },
  inProgress: { payments: sum(1, "100"), refunds: none, payouts: none },
  notCounted: 1,
};

test("a report has the same sums by every grouping, without what is open", async () => {
  const { json, lenden } = await busyMerchant();
  for (const by of ["day", "method", "recipient", "user", "profile"]) {
    const { accounts, timeZone } = await json(["report", "--since", "yesterday", "--by", by]);
    expect(timeZone).toBe("Asia/Dhaka");
    expect(accounts).toMatchObject([{ environment: "sandbox", total }]);
  }
  const { stdout, stderr } = await lenden(["report", "--since", "yesterday", "--by", "user"]);
  expect(stdout).toMatch(/^Total .* BDT 100\.00 .* BDT 40\.05 .* BDT 5\.00 .* BDT 54\.95 /m);
  expect(stderr).toContain("1 with an unknown outcome");
  const asCsv = ["report", "--since", "yesterday", "--by", "recipient", "-o", "csv"];
  const { stdout: csv } = await lenden(asCsv);
  expect(csv).toMatch(
    /^sandbox,.*,"01712345678","Rahima; \| \(Co\) \* ""R""",0\.00,0,0\.00,0,5\.00,1,-5\.00,/m,
  );
});

test("no amount of a report is cut, however narrow the terminal is", async () => {
  const { env } = await busyMerchant();
  for (const columns of [100, 80, 60, 40]) {
    const args = ["report", "--since", "yesterday", "--by", "recipient"];
    const { screen } = await openPrompts(args, { env, columns }).ended();
    expect(screen).toContain("BDT 54.95");
    expect(screen.match(/BDT.{0,9}…/g)).toBeNull();
  }
});

test("a report without a period is of the current month of the time zone", async () => {
  const { json } = await openMerchant();
  const { since, until } = await json(["report"]);
  expect(since).toMatch(/-(?:28|29|30|31)T18:00:00\.000Z$/);
  expect(until).toMatch(/-(?:28|29|30|31)T17:59:59\.999Z$/);
});

test("a report of another month has only what is still open, and none of a later one", async () => {
  const { json } = await busyMerchant();
  const open = { payments: none, payouts: none, unknown: { refunds: sum(1, "1") }, net: "0" };
  expect(await json(["report", "--month", "9990-01"])).toMatchObject({
    since: "9989-12-31T18:00:00.000Z",
    until: "9990-01-31T17:59:59.999Z",
    accounts: [{ groups: [{ key: "earlier" }], total: { ...open, notCounted: 0 } }],
  });
  expect(await json(["report", "--until", "2020-01-01"])).toMatchObject({ accounts: [] });
});

test("a page shows the sums, loads nothing, and only a report has it", async () => {
  const { lenden } = await busyMerchant();
  const { stdout } = await lenden([
    "report",
    "--since",
    "yesterday",
    "--by",
    "recipient",
    "--output",
    "html",
  ]);
  expect(stdout).toMatch(/^<!doctype html>/);
  for (const text of ["BDT 100.00", "BDT 40.05", "1 refund, outcome unknown: BDT 1.00"])
    expect(stdout).toContain(text);
  expect(stdout).not.toMatch(/<script|<link|src=|url\(|@import/);
  for (const line of [["pay", "list"], ["ledger", "export"], ["doctor"]]) {
    const { code, stderr } = await lenden([...line, "--output", "html"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('"html" is not one of: table,')]);
  }
});

test("an export has recipients, methods, refunded payments and local times", async () => {
  const { lenden, paid } = await busyMerchant();
  const exported = async (...more: string[]) => {
    const { stdout } = await lenden(["ledger", "export", "-o", "json", ...more]);
    return JSON.parse(stdout);
  };
  const rows = await exported();
  expect(rows).toHaveLength(6);
  const local = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+06:00$/);
  expect(rows).toContainEqual(
    expect.objectContaining({
      ...{ kind: "refund", amount: "40.05", recipient: "01812345678", payment: paid },
      ...{ localTime: local, completedLocalTime: local },
    }),
  );
  expect(rows).toContainEqual(
    expect.objectContaining({
      ...{
        reference: "INV-1",
        recipient: "01712345678",
        name: 'Rahima; | (Co) * "R"',
        method: "bkash",
      },
      ...{ payment: null, batch: null },
    }),
  );
  const { stdout: table } = await lenden(["ledger", "export", "-o", "table"]);
  expect(table.match(/^OPERATION /gm)).toHaveLength(1);
  expect(await exported("--until", "2020-01-01")).toEqual([]);
  expect(await exported("--since", "yesterday")).toHaveLength(6);
});

serverTest("a ledger on PostgreSQL has the same report and journal", async () => {
  const { url } = await teamLedger(await sharedCluster(), "accountant");
  const { json, lenden } = await busyMerchant(url("accountant"));
  expect(await json(["report", "--since", "yesterday"])).toMatchObject({ accounts: [{ total }] });
  const { stdout } = await lenden(["ledger", "export", "--since", "yesterday", "-o", "hledger"]);
  expect(stdout.match(/BDT -?[\d.]+/g)).toEqual([
    ...["BDT 1000.00", "BDT 100.00", "BDT -100.00", "BDT -40.05", "BDT 40.05"],
    ...["BDT -5.00", "BDT 5.00", "BDT 1.00"],
  ]);
});

const hledger = "/usr/bin/hledger";

describe.skipIf(!existsSync(hledger))("with hledger", () => {
  test("a journal balances, has the sums of the report, and is the same each time", async () => {
    const { lenden, payout, refund, paid } = await busyMerchant();
    const journal = async () => (await lenden(["ledger", "export", "-o", "hledger"])).stdout;
    const run = (args: string[], input: string) =>
      spawnSync(hledger, ["-f", "-", ...args], { input, encoding: "utf8" });

    const text = await journal();

    expect(run(["check"], text)).toMatchObject({ status: 0, stderr: "" });
    const { stdout } = run(["balance", "--flat", "--no-total"], text);
    const balances = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.trim().split(/ {2,}/));
    expect(balances).toEqual([
      ["BDT 54.95", expect.stringMatching(/^assets:provider:sandbox:/)],
      ["BDT 5.00", expect.stringMatching(/^expenses:payouts:sandbox:/)],
      ["BDT -100.00", expect.stringMatching(/^revenues:payments:sandbox:/)],
      ["BDT 40.05", expect.stringMatching(/^revenues:refunds:sandbox:/)],
    ]);
    const codes = run(["print"], text).stdout.match(/(?<=^\S+ \* \().*?(?=\))/gm);
    expect(codes?.toSorted()).toEqual([paid, refund, payout].toSorted());
    expect(text).toMatch(/; Outcome unknown, not counted:\n; \S+ Refund of \S+ .*: BDT 1\.00 /);
    expect(await journal()).toBe(text);
  });
});
