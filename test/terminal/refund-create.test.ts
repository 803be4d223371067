import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { refundOf } from "../merchant.ts";
import { scratchFolder } from "../run.ts";
import { answerAll, openShop, refundAnswers } from "./shop.ts";
import { terminalTest } from "./terminal.ts";

terminalTest.each([80, 40])(
  "refund create without arguments leads to a refund, at %i columns",
  async (columns) => {
    const shop = await openShop();
    const terminal = await shop.open(["refund", "create"], { columns, rows: 50 });
    await terminal.shows(shop.order43);
    const first = await terminal.screen();
    await answerAll(terminal, refundAnswers);
    await terminal.answer("Create a refund?", "y");
    const { code, screen, isRestored } = await terminal.ended();
    expect({ code, isRestored }).toEqual({ code: 0, isRestored: true });
    await expect(`${first}\n\n${"=".repeat(columns)}\n\n${screen}\n`).toMatchFileSnapshot(
      `__snapshots__/refund-create-${columns}.txt`,
    );
    expect(await shop.books("refunds")).toMatchObject([
      { transactionId: shop.order42, accountNumber: "01812345678", note: "it's damaged" },
    ]);
  },
);

terminalTest("Enter pays back what is left, and leaves the note out", async () => {
  const shop = await openShop();
  await shop.id(refundOf(shop.order42, "250.50"));
  const terminal = await shop.open(["refund", "create"], { rows: 50 });
  await terminal.answer("Which payment?", shop.order42);
  await terminal.shows("BDT 1,000.00");
  await terminal.answer("Amount to pay back, in taka: (1000)", "");
  await terminal.shows("kind of account");
  await terminal.press("Down", "Enter");
  await terminal.answer("The account that", "01912345678");
  await terminal.answer("Enter leaves it out", "");
  await terminal.answer("Create a refund?", "yes");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain("--amount 1000 --account-type business --account-number 01912345678\n");
  expect((await shop.books("refunds")).at(-1)).toMatchObject({
    accountType: "BUSINESS_ACCOUNT",
    note: null,
  });
});

terminalTest("stdout has the answer alone, and what is shown runs again as it stands", async () => {
  const shop = await openShop();
  const out = join(scratchFolder(), "out.json");
  const terminal = await shop.open(["refund", "create", "--json"], { stdout: out, columns: 200 });
  await answerAll(terminal, refundAnswers);
  await terminal.answer("Create a refund?", "y");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(out, "utf8"))).toMatchObject({ transactionId: shop.order42 });
  const line = /lenden (refund create .*)$/m.exec(screen)?.[1];
  expect(line).toBe(
    `refund create --json --payment ${shop.order42} --amount 250.25 --account-type personal --account-number 01812345678 --note 'it'\\''s damaged'`,
  );
});

terminalTest("anything but a yes sends nothing and ends with 4", async () => {
  const shop = await openShop();
  const terminal = await shop.open(["refund", "create"], { rows: 50 });
  await answerAll(terminal, refundAnswers);
  await terminal.answer("Create a refund? (y/N)", "");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(4);
  expect(screen).toContain("error: This was not confirmed.\nhint:  Nothing was sent.");
  expect(await shop.books("refunds")).toEqual([]);
});

terminalTest("what cannot be paid back is said at once, and asked again", async () => {
  const shop = await openShop();
  const unpaid = await shop.id([
    "pay",
    "create",
    ..."--amount 5 --description x --method bkash".split(" "),
  ]);
  await shop.id(refundOf(shop.order43, "800"));
  await shop.id(refundOf(shop.order42, "200"));
  const terminal = await shop.open(["refund", "create"], { rows: 50, columns: 120 });
  await terminal.answer("Which payment?", "TXUNKNOWN");
  await terminal.shows("does not know TXUNKNOWN");
  await terminal.answer(/not know TXUNKNOWN.*\n\? Which payment\?/, unpaid);
  await terminal.shows(`Cannot refund payment ${unpaid}: its status is Processing`);
  await terminal.answer(/pay wait[\s\S]*\n\? Which payment\?/, shop.order43);
  await terminal.answer(/was refunded completely[\s\S]*\n\? Which payment\?/, shop.order42);
  await terminal.answer("Amount to pay back", "1,250");
  await terminal.shows("Did you mean 1250?");
  await terminal.press("C-u");
  await terminal.answer("Amount to pay back", "1050.51");
  await terminal.answer(/Cannot refund BDT 1,050.51[\s\S]*\n\? Amount/, "200");
  await terminal.answer(/Duplicate refund[\s\S]*\n\? Amount/, "201");
  await terminal.shows("kind of account");
  await terminal.press("C-c");
  expect((await terminal.ended()).code).toBe(130);
  expect(await shop.books("refunds")).toHaveLength(2);
});

terminalTest(
  "a payment that was typed and cannot be paid back ends it before any question",
  async () => {
    const shop = await openShop();
    const unpaid = await shop.id([
      "pay",
      "create",
      ..."--amount 5 --description x --method bkash".split(" "),
    ]);
    const terminal = await shop.open(["refund", "create", "--payment", unpaid]);
    const { code, screen } = await terminal.ended();
    expect(code).toBe(3);
    expect(screen.replace(/\s+/g, " ")).toContain("its status is Processing");
    expect(screen).not.toContain("?");
  },
);
