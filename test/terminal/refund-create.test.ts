import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { paymentOf, refundOf } from "../support/merchant.ts";
import { answerAll, openShop, refundAnswers } from "./shop.ts";
import { terminalTest } from "./terminal.ts";

terminalTest("refund create without arguments leads to a refund", async () => {
  const shop = await openShop();
  const terminal = await shop.open(["refund", "create"], { rows: 50 });
  await terminal.shows(shop.order43);
  await answerAll(terminal, refundAnswers(shop));
  await terminal.answer("Create a refund?", "y");
  const { code, screen, isRestored } = await terminal.ended();
  expect({ code, isRestored }).toEqual({ code: 0, isRestored: true });
  const confirmed = screen.slice(screen.indexOf("SANDBOX"));
  const shown = [shop.order42, "BDT 250.25", "01812345678 (personal)", "it's damaged"];
  for (const one of shown) expect(confirmed).toContain(one);
  expect(await shop.books("refunds")).toMatchObject([
    { transactionId: shop.order42, accountNumber: "01812345678", note: "it's damaged" },
  ]);
});

test("Enter refunds what is left of the payment, without a note", async () => {
  const shop = await openShop();
  await shop.id(refundOf(shop.order42, "250.50"));
  const terminal = shop.prompt(["refund", "create"]);
  await terminal.answer("Which payment?", shop.order42, shop.order42);
  await terminal.shows("BDT 1,000.00");
  await terminal.answer("Amount to refund (BDT): (1000)", "");
  await terminal.shows("❯ personal");
  await terminal.press("Down", "Enter");
  await terminal.answer("Refund to account number", "01912345678");
  await terminal.answer("Note (optional)", "");
  await terminal.answer("Create a refund?", "yes");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain("--amount 1000 --account-type business --account-number 01912345678\n");
  expect((await shop.books("refunds")).at(-1)).toMatchObject({
    accountType: "BUSINESS_ACCOUNT",
    note: null,
  });
});

test("stdout has the result alone, and the shown command line runs again", async () => {
  const shop = await openShop();
  const terminal = shop.prompt(["refund", "create", "--json"], { columns: 200 });
  await answerAll(terminal, refundAnswers(shop));
  await terminal.answer("Create a refund?", "y");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(JSON.parse(terminal.stdout())).toMatchObject({ transactionId: shop.order42 });
  const [, command = ""] = /lenden (refund create .*)/.exec(screen) ?? [];
  const words = await promisify(execFile)("sh", ["-c", `printf '%s\\n' ${command}`]);
  const again = [...words.stdout.trim().split("\n"), "--again"];
  expect(await shop.lenden(again)).toMatchObject({ code: 0 });
  const [first, second] = await shop.books("refunds");
  for (const name of ["transactionId", "amount", "accountType", "accountNumber", "note"])
    expect([name, second?.[name]]).toEqual([name, first?.[name]]);
});

test("no refund is sent without a yes", async () => {
  const shop = await openShop();
  const terminal = shop.prompt(["refund", "create"]);
  await answerAll(terminal, refundAnswers(shop));
  await terminal.answer("Create a refund? (y/N)", "");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(4);
  expect(screen).toContain("error: Not confirmed. Nothing was sent.");
  expect(await shop.books("refunds")).toEqual([]);
});

test("a payment or an amount that cannot be refunded is asked for again", async () => {
  const shop = await openShop();
  const unpaid = await shop.id(paymentOf("unpaid"));
  await shop.id(refundOf(shop.order43, "800"));
  await shop.id(refundOf(shop.order42, "200"));
  const terminal = shop.prompt(["refund", "create"], { columns: 120 });
  await terminal.answer("Which payment?", "TXUNKNOWN", "TXUNKNOWN");
  await terminal.answer(/not know TXUNKNOWN.*\n\? Which payment\?/, unpaid, unpaid);
  await terminal.shows(`Cannot refund payment ${unpaid}: its status is Processing`);
  await terminal.answer(/pay wait[\s\S]*\n\? Which payment\?/, shop.order43, shop.order43);
  await terminal.answer(/nothing is left to refund[\s\S]*\n\? Which/, shop.order42, shop.order42);
  await terminal.answer("Amount to refund", "1,250");
  await terminal.shows("Did you mean 1250?");
  await terminal.press("C-u");
  await terminal.answer("Amount to refund", "1050.51");
  await terminal.answer(/Cannot refund BDT 1,050.51[\s\S]*\n\? Amount/, "200");
  await terminal.answer(/Duplicate refund[\s\S]*\n\? Amount/, "201");
  await terminal.shows("Account type");
  await terminal.press("C-c");
  expect((await terminal.ended()).code).toBe(130);
  expect(await shop.books("refunds")).toHaveLength(2);
});

test("a given payment that cannot be refunded ends it before the first prompt", async () => {
  const shop = await openShop();
  const unpaid = await shop.id(paymentOf("unpaid"));
  const terminal = shop.prompt(["refund", "create", "--payment", unpaid]);
  const { code, screen } = await terminal.ended();
  expect(code).toBe(3);
  expect(screen.replace(/\s+/g, " ")).toContain("its status is Processing");
  expect(screen).not.toContain("?");
});
