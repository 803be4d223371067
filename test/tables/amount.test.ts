import { describe, expect, test } from "vitest";
import { AmountColumn, readMoney, type Sign } from "../../src/tables/amount.ts";
import type { Cell, TypedCell } from "../../src/tables/cell.ts";

const number = (text: string, unit?: string): TypedCell => ({
  kind: "number",
  text,
  ...(unit === undefined ? {} : { unit }),
});

function problemOf(cell: Cell): string {
  const reading = readMoney(cell);
  return reading.kind === "error" ? reading.problem : `no error, but ${reading.kind}`;
}

test.each<[string, bigint, Sign]>([
  ["1,25,000.50", 12_500_050n, "none"],
  ["125,000.5", 12_500_050n, "none"],
  ["1,00,00,000", 1_000_000_000n, "none"],
  ["12\u00a0500.00", 1_250_000n, "none"],
  ["1\u202f25\u202f000", 12_500_000n, "none"],
  ["৳ 1,250", 125_000n, "none"],
  ["৳৫০০", 50_000n, "none"],
  ["১,২৫,০০০.৫০", 12_500_050n, "none"],
  ["１２５０．５０", 125_050n, "none"],
  ["Tk.1,250.50", 125_050n, "none"],
  ["Tk. .50", 50n, "none"],
  ["Tk..50", 50n, "none"],
  ["৳.50", 50n, "none"],
  ["1250.50 Taka", 125_050n, "none"],
  ["500 টাকা", 50_000n, "none"],
  ["BDT500", 50_000n, "none"],
  ["500 BDT.", 50_000n, "none"],
  ["12,500.00/-", 1_250_000n, "none"],
  ["Tk 500/= only", 50_000n, "none"],
  ["'500", 50_000n, "none"],
  ['="500"', 50_000n, "none"],
  ["\u202d500\u202c", 50_000n, "none"],
  [".50", 50n, "none"],
  ["0", 0n, "none"],
  ["1250.5000", 125_050n, "none"],
  ["1,250.500", 125_050n, "none"],
  ["+7.05", 705n, "plus"],
  ["-500", -50_000n, "minus"],
  ["'-1750.50", -175_050n, "minus"],
  ["\u22127", -700n, "minus"],
  ["–500.00", -50_000n, "minus"],
  ["BDT -5", -500n, "minus"],
  ["-BDT1250.50", -125_050n, "minus"],
  ["(500.00)", -50_000n, "brackets"],
  ["(BDT 500)", -50_000n, "brackets"],
  ["৳ (500)", -50_000n, "brackets"],
  ["50.00-", -5_000n, "trailing-minus"],
  ["50.00 -", -5_000n, "trailing-minus"],
  ["500.00 Dr", -50_000n, "debit"],
  ["222.25 DR.", -22_225n, "debit"],
  ["Dr 500", -50_000n, "debit"],
  ["500 (Dr)", -50_000n, "debit"],
  ["500.00Cr", 50_000n, "credit"],
  ["Tk. 500/- Cr.", 50_000n, "credit"],
])("%j is an amount of %d paisa (%s)", (cell, paisa, sign) => {
  expect(readMoney(cell)).toEqual({ kind: "certain", value: { paisa, sign } });
});

test.each(["", " ", "-", "–", "—", "--", "৳ -", "Tk. –", "\u200b"])("%j is empty", (cell) => {
  expect(readMoney(cell)).toEqual({ kind: "empty" });
});

test.each([
  ["--5", "has two signs"],
  ["(-5)", "has two signs"],
  ["-500 Dr", "has two signs"],
  ["(500) Cr", "has two signs"],
  ["1250,50", "write a point, for example 1250.50"],
  ["125.500", "may be 125.50 or 125500"],
  ["0.125", "may be"],
  ["1.250,50", "is not an amount"],
  ["1.250.500", "is not an amount"],
  ["1,2,3", "is not an amount"],
  ["12,50,00", "is not an amount"],
  ["1,25 000", "is not an amount"],
  ["BDT.50", "is not an amount"],
  ["5.", "is not an amount"],
  ["five", "is not an amount"],
  ["500–600", "is not an amount"],
  ["500 in", "is not an amount"],
  ["\u202e005", "is not an amount"],
  ["1.23457E+05", "A spreadsheet shortened the amount"],
  ["12.3456", "has more than two decimals"],
  ["01712345678", "looks like a mobile number"],
  ["5%", "is a percentage"],
  ["1".repeat(16), "is not an amount"],
  ["a".repeat(100_000), "is not an amount"],
])("%.20j is an error: %s", (cell, why) => {
  expect(problemOf(cell)).toContain(why);
});

test.each([
  ["$500", "$", 50_000n],
  ["USD 500", "USD", 50_000n],
  ["500 usd", "usd", 50_000n],
  ["US$1,250.50", "US$", 125_050n],
  ["(€ 500)", "€", -50_000n],
  ["Rs. 500", "Rs.", 50_000n],
  ["₹500", "₹", 50_000n],
  ["500 dollars", "dollars", 50_000n],
])("%s is never BDT, and its error suggests no number", (cell, currency, paisa) => {
  const reading = readMoney(cell);
  expect(reading).toMatchObject({ kind: "error", currency, money: { paisa } });
  const after = problemOf(cell).replace(JSON.stringify(cell), "");
  expect(after).toContain("amounts are in BDT");
  expect(after).not.toMatch(/\d/);
});

test.each([
  ["12500.009999999998", 1_250_001n],
  ["12500.010000000002", 1_250_001n],
  ["110.69999999999999", 11_070n],
  ["0.30000000000000004", 30n],
  ["-1250.4999999999998", -125_050n],
])("%s is probably what a program meant", (cell, paisa) => {
  expect(readMoney(cell)).toMatchObject({ kind: "probable", value: { paisa } });
});

describe("a number of a workbook", () => {
  test.each<[TypedCell, bigint]>([
    [number("12500.01"), 1_250_001n],
    [number("-500"), -50_000n],
    [number("500", "BDT"), 50_000n],
    [number("0"), 0n],
  ])("%j is read as it is stored", (cell, paisa) => {
    expect(readMoney(cell)).toMatchObject({ kind: "certain", value: { paisa } });
  });

  test.each<[TypedCell, string]>([
    [number("125.125"), "has more than two decimals"],
    [number("0.05", "%"), "is a percentage"],
    [{ kind: "error", text: "#REF!" }, "has the error #REF!"],
    [{ kind: "unknown", text: "" }, "a formula without a result"],
    [{ kind: "boolean", text: "TRUE" }, "is not an amount"],
    [{ kind: "date", text: "2026-11-28" }, "is not an amount"],
  ])("%j is an error: %s", (cell, why) => {
    expect(problemOf(cell)).toContain(why);
  });

  test("in another currency is never BDT", () => {
    expect(readMoney(number("500", "USD"))).toMatchObject({
      kind: "error",
      currency: "USD",
      money: { paisa: 50_000n },
    });
  });
});

describe("a column of amounts", () => {
  const columnOf = (cells: Cell[]) => {
    const column = new AmountColumn();
    for (const cell of cells) column.see(cell);
    return column;
  };

  test.each([
    [["1.250,50", "500", "98,00"], "comma"],
    [["12,5", "-"], "comma"],
    [["1.250,50", "1,250.50"], "point"],
    [["1250,50", "1,250"], "point"],
    [["1250,50", "98.5"], "point"],
    [["125.500", "98.750"], "point"],
    [["1.250.500", "98.750"], "point"],
    [["1,25,000", "500"], "point"],
  ] as const)("%j has a %s before the decimals", (cells, mark) => {
    expect(columnOf([...cells]).decimalMark).toBe(mark);
  });

  test.each([
    ["1.250,50", 125_050n],
    ["1.25.000,5", 12_500_050n],
    ["1 250,50", 125_050n],
    ["500", 50_000n],
    ["(98,00)", -9_800n],
    ["৳ ১.২৫০,৫০", 125_050n],
  ])("with commas before the decimals, %s is read", (cell, paisa) => {
    expect(readMoney(cell, "comma")).toMatchObject({ kind: "certain", value: { paisa } });
  });

  test.each(["1.250", "1,250", "1250.50", "1,250.50"])(
    "with commas before the decimals, %s is an error",
    (cell) => {
      expect(readMoney(cell, "comma").kind).toBe("error");
    },
  );
});
