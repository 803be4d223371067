import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { todayInDhaka } from "../support/helpers.ts";
import { openMerchant, paidPayout, payoutOf } from "../support/merchant.ts";
import { openPrompts } from "./terminal.ts";

test("reconcile asks about the columns, and about a proposal with its reason", async () => {
  const merchant = await openMerchant();
  await paidPayout(merchant, payoutOf("INV-1"));
  const day = todayInDhaka();
  const file = join(merchant.dataFolder, "s.csv");
  writeFileSync(file, `Day,Mobile,Amount,Trx ID\n${day},01712345678,-5.00,unknown\n`);
  const args = ["reconcile", file, "--mapping", "bank"];
  const terminal = openPrompts(args, { env: merchant.env });
  await terminal.shows(
    /Day: date \(1 of 1 cells are times\)[\s\S]*Mobile: recipient \(by its name\)/,
  );
  await terminal.answer("Use these columns?", "y");
  await terminal.shows(/Line 2 \(BDT 5\.00\)[\s\S]*It is INV-1, 01712345678, completed/);
  await terminal.press("Down", "Enter");
  await terminal.answer("Reason:", "the bank wrote another ID");
  const { code, screen } = await terminal.ended();
  expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining("accepted") });

  // The columns were stored, and so was the decision.
  const again = await merchant.lenden(args);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("another ID") });
});

test("reconcile asks about both lines of a payout that was cancelled", async () => {
  const merchant = await openMerchant();
  const id = await merchant.id(payoutOf("INV-1"));
  await merchant.set("payout", id, "Cancelled");
  const file = join(merchant.dataFolder, "s.csv");
  const rows = ["-5.00", "5.00"].map((amount) => `${todayInDhaka()},01712345678,${amount},own\n`);
  writeFileSync(file, `Date,Mobile,Amount,Trx ID\n${rows.join("")}`);
  const map = ["Date=date", "Mobile=recipient", "Amount=amount", "Trx ID=id"];
  const args = ["reconcile", file, ...map.flatMap((one) => ["--map", one])];
  const terminal = openPrompts(args, { env: merchant.env });
  for (const question of [/Line 2 [\s\S]*It is INV-1/, /Line 3 [\s\S]*It is the returned money/]) {
    await terminal.shows(question);
    await terminal.press("Down", "Enter");
    await terminal.answer("Reason:", "returned");
  }
  expect(await terminal.ended()).toMatchObject({ code: 0 });
});
