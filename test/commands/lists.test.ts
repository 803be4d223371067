import { expect, test } from "vitest";
import { lenden } from "../support/lenden.ts";
import { type Merchant, openMerchant, payoutOf, refundOf } from "../support/merchant.ts";
import { busyMerchant } from "./busy-merchant.ts";

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
    /ID.*AMOUNT.*DESCRIPTION.*STATUS[\s\S]*BDT 100\.00 +second +Processing/,
  );
});

test("lists are filtered by status and time, and --refresh retrieves and stores what is Processing", async () => {
  const { merchant, paid, payment, payouts } = await busyMerchant();
  expect(await ids(merchant, ["pay", "list", "--status", "Completed"])).toEqual([]);
  expect(await ids(merchant, ["pay", "list", "--refresh", "--status", "Completed"])).toEqual([
    paid,
  ]);
  expect(await ids(merchant, ["pay", "list", "--status", "Completed"])).toEqual([paid]);
  expect(await ids(merchant, ["pay", "list", "--status", "Processing"])).toEqual([payment]);
  const asked = (await merchant.requests()).length;
  expect(await ids(merchant, ["pay", "list", "--refresh"])).toEqual([payment, paid]);
  const again = (await merchant.requests()).slice(asked);
  expect(again.map(({ path }) => path.split("/").at(-1))).toEqual([payment]);
  expect(await ids(merchant, ["payout", "list", "--since", "1h ago"])).toEqual(
    payouts.toReversed(),
  );
  expect(await ids(merchant, ["payout", "list", "--until", "1h ago"])).toEqual([]);
  expect(await ids(merchant, ["payout", "list", "--since", "2099-01-01"])).toEqual([]);
  for (const wrong of [
    ["--limit", "0"],
    ["--limit", "x"],
    ["--status", "Lost"],
    ["--since", "soon"],
  ])
    expect(await merchant.lenden(["payout", "list", ...wrong])).toMatchObject({ code: 2 });
});

test("an empty list names the help of the creating command, and is empty for scripts", async () => {
  const merchant = await openMerchant();
  for (const group of ["pay", "payout", "refund"]) {
    expect(await merchant.json([group, "list"])).toEqual([]);
    expect(await ids(merchant, [group, "list"])).toEqual([]);
    expect((await merchant.lenden([group, "list"])).stdout).toContain(
      "was sent from this machine yet",
    );
  }
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
