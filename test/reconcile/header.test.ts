import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { utils, write } from "@e965/xlsx";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scratchFolder, todayInDhaka } from "../support/helpers.ts";
import { type Merchant, openMerchant, paidPayout, payoutNumber } from "../support/merchant.ts";

let merchant: Merchant;
const today = todayInDhaka();

beforeAll(async () => {
  merchant = await openMerchant({}, afterAll);
  for (const [at, reference] of ["FLD-1", "FLD-2"].entries())
    await paidPayout(merchant, payoutNumber(at, reference));
});

/** A payout of BDT 2,000 that the ledger does not know is among the lines. */
function reconciled(lines: string[], ...more: string[]) {
  const file = join(scratchFolder(), "s.csv");
  writeFileSync(file, lines.join("\n"));
  const days = ["--since", "today", "--until", "today"];
  return merchant.lenden(["reconcile", file, "--yes", ...days, ...more]);
}

const rows = [`${today},FLD-1,-5.00,Completed`, `${today},FLD-2,-5.00,Completed`];

const withoutStatus = (row: string) => row.replace(/,Completed$/, "");

describe("reconcile, for a statement without a header", () => {
  test.each([
    ["a date and an amount", `${today},X-9,-2000.00,কাজ`],
    ["a status, which is like a heading", `${today},X-9,-2000.00,Completed`],
    ["an amount with its direction", "X-9,Payout,2000.00 Dr,Completed"],
    ["an amount in another script", "X-9,Payout,২০০০/-,Completed"],
    ["a mobile number", "X-9,Withdrawal,017-1234-5678,two thousand"],
    ["a known reference", "FLD-1,Withdrawal,Completed,two thousand"],
    ["words of many headings", "Ref X-9,Cash withdrawal,Mobile recharge,2000"],
    ...["2 000", "2\u00a0000", "2000-", "2000.00-", "2'000", "2000 টাকা", "Tk. 5", "Dr 50"].map(
      (amount) => [`the amount ${amount}`, `ZZZ,${amount},Completed`],
    ),
    ["a date of two digits", "29-Nov-26,ZZZ,two thousand"],
    ["a time of such a date", "29/11/26 10:30 PM,ZZZ,2 000"],
    ["a reference with a number", "INV-7,ZZZ,two thousand"],
  ])("rejects a first line that has %s, and shows it", async (_, first) => {
    const { code, stdout, stderr } = await reconciled([first, ...rows]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Line 1:");
    for (const cell of first.split(",").slice(0, 3)) expect(stderr).toContain(cell);
  });

  test.each([
    ["Date,Reference,Amount,", `${today},X-9,-2000.00,`, (row: string) => row],
    ["Reference,Amount", "X-9,-2000.00", (row: string) => row.split(",").slice(1, 3).join(",")],
    ["Date,Reference,Amount", "My Bank\n\nZZZ,-2000.00", withoutStatus],
    ["Date,Reference,Amount", "My Bank,,\n\n,ZZZ,-2000.00-", withoutStatus],
    ["Date,Reference,Amount", ",,-2000.00", withoutStatus],
    ["Date,Reference,Amount", "Account transfer,-2000.00", withoutStatus],
    ["Date,Reference,Amount", "Debit,ZZZ,-2000.00", withoutStatus],
  ])("rejects lines of money above the header %s", async (header, above, rowOf) => {
    const { code, stdout, stderr } = await reconciled([above, header, ...rows.map(rowOf)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`line ${above.split("\n").length}`);
    expect(stderr).toContain("-2000.00");
  });

  test("shows the first rows, and the flags that would fix it, which a mapping stores", async () => {
    const file = join(scratchFolder(), "s.xlsx");
    const workbook = utils.book_new();
    const sheetOf = (rows: string[]) => utils.aoa_to_sheet(rows.map((row) => row.split(",")));
    utils.book_append_sheet(workbook, sheetOf(rows), "Data");
    utils.book_append_sheet(
      workbook,
      sheetOf(["Date,Reference,Amount,Status", ...rows]),
      "My Bank",
    );
    writeFileSync(file, write(workbook, { type: "buffer" }));
    const { code, stderr } = await merchant.lenden(["reconcile", file, "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`Line 1: "${today}", "FLD-1", "-5.00", "Completed".`);
    expect(stderr).toMatch(/^hint: .* --map 'Trx ID=id' .* --sheet 'My Bank'\.$/m);
    const flags = ["--yes", "--mapping", "my-bank"];
    for (const more of [["--sheet", "My Bank"], []])
      expect(await merchant.lenden(["reconcile", file, ...flags, ...more])).toMatchObject({
        code: 0,
      });
  });

  test("names --delimiter if no line has two cells", async () => {
    const lines = ["Date|Reference|Amount", ...rows].map((row) => row.replaceAll(",", "|"));
    const { code, stderr } = await reconciled(lines);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("--delimiter") });
  });
});

describe("reconcile, for headings that lenden does not know", () => {
  test("does not take a line with the word Completed as the header", async () => {
    const lines = ["তারিখ,নম্বর,টাকা,অবস্থা", `${today},X-9,-2000.00,Completed`, ...rows];
    const found = await reconciled(lines);
    expect(found.code).toBe(6);
    expect(found.stderr).toContain("1 line of s.csv is not in the ledger (line 2, BDT -2,000.00).");
  });

  test("finds the header below the name and the number of the account", async () => {
    const lines = ["আমার দোকান", "হিসাব,01712345678", "তারিখ,নম্বর,টাকা,অবস্থা", ...rows];
    expect(await reconciled(lines)).toMatchObject({ code: 0 });
  });

  test.each([
    "Date,Ref1,Amount,Ref 2",
    "Date (UTC+6),Reference,Amount (2026),Address 2",
    "Date (GMT+06:00),B2C Reference,Amount,VAT 15%",
    "Date,Reference,Amount,শাখা ২",
  ])("reads the headings %s", async (header) => {
    const lines = [header, `${today},FLD-1,-5.00,x`, `${today},FLD-2,-5.00,`];
    expect(await reconciled(lines)).toMatchObject({ code: 0 });
  });

  // What other cells of the header hold does not matter.
  test.each(["2026", "Nov-26", "50% Basic", "Balance 2000", "1,250.00", "28/11/2026"])(
    "finds a header with the heading %s",
    async (heading) => {
      const header = `Date,Reference,"${heading}",Amount`;
      const lines = [header, `${today},FLD-1,x,-5.00`, `${today},FLD-2,y,-5.00`];
      const found = await reconciled(["My Shop,,,", ...lines]);
      expect(found).toMatchObject({ code: 0 });
      expect(found.stderr).toContain(`not used: ${heading} (x | y)`);
    },
  );

  test("does not take a line with words of headings as the header", async () => {
    const fees = [`${today},Fee,Debit,5.00`, `${today},Charge,Debit,6.00`];
    const { code, stderr } = await reconciled([...fees, ...rows]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("Line 1:") });
  });

  test("finds no header in a cell of data that --map names", async () => {
    for (const map of ["FLD-1=reference", "-5.00=amount", `${today}=date`]) {
      const { code, stderr } = await reconciled(rows, "--map", map);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("is a value") });
    }
  });
});

test("reconcile reads a header below a period, a number and a balance", async () => {
  const above = [
    "Statement of My Shop,,",
    `Period,${today},${today}`,
    "Account,01712345678,",
    "A/C No.,2050 1234 5678,",
    "Print Date: 29/11/26,10:30 PM,",
    "মোট,২০০০,",
    "My Shop,01712345678",
    "20501234567890,,",
    "12 Motijheel,,",
    `Closing balance on,${today},"73,249.50"`,
  ];
  const lines = ["Date,Reference,Amount", ...rows.map((row) => row.replace(/,Completed$/, ""))];
  expect(await reconciled([...above, ...lines])).toMatchObject({ code: 0 });
});
