import { describe, expect, test } from "vitest";
import type { Cell } from "../../src/tables/cell.ts";
import { readPayee } from "../../src/tables/mobile.ts";

const number = (text: string): Cell => ({ kind: "number", text });

function localOf(cell: Cell, isRocket = false): [string, string | undefined] {
  const reading = readPayee(cell, isRocket);
  const value =
    reading.kind === "certain" || reading.kind === "probable" ? reading.value : undefined;
  return [reading.kind, value?.account ?? value?.local];
}

function problemOf(cell: Cell, isRocket = false): string {
  const reading = readPayee(cell, isRocket);
  return reading.kind === "error" ? reading.problem : `no error, but ${reading.kind}`;
}

test.each<Cell>([
  "01712345678",
  "+8801712345678",
  "8801712345678",
  "+880 1712-345678",
  "017 1234 5678",
  "01712\u00a0345678",
  "01712–345678",
  "'01712345678",
  '="01712345678"',
  "\u202d01712345678\u202c",
  number("8801712345678"),
])("%j is certainly 01712345678", (cell) => {
  expect(localOf(cell)).toEqual(["certain", "01712345678"]);
});

test.each<[Cell, string]>([
  ["1712345678", "the zero at its beginning was lost"],
  ["1712-345678", "the zero at its beginning was lost"],
  [number("1712345678"), "the zero at its beginning was lost"],
  ["1712345678.0", "a program made a number of it, and added .0; the zero"],
  ["8801712345678.0", "a program made a number of it, and added .0"],
  ["01712345678.00", "added .00"],
  ["০১৭১২৩৪৫৬৭৮", "its digits are not those of ASCII"],
  ["০১৭১২-৩৪৫৬৭৮", "its digits are not those of ASCII"],
])("%j is probably 01712345678: %s", (cell, why) => {
  expect(localOf(cell)).toEqual(["probable", "01712345678"]);
  expect(readPayee(cell, false)).toMatchObject({ because: expect.stringContaining(why) });
});

test.each<[Cell, string]>([
  ["8.80E+12", "A spreadsheet rounded the number"],
  ["8.80171E+12", "A spreadsheet rounded the number"],
  ...[
    "8801710000000",
    "1712300000",
    "8801710000000.0",
    "880 1710 000000",
    number("8801712300000"),
  ].map((cell): [Cell, string] => [cell, "A spreadsheet probably rounded the number"]),
  ["171234567", "has 9 digits, and a mobile number has 11"],
  ["0171234567", "has 10 digits"],
  ["017123456784", "has 12 digits, as account numbers of Rocket have"],
  ["17123456784", "does not begin with 01"],
  ["02712345678", "does not begin with 01"],
  ["01712345678, 01812345678", "has more than one number"],
  ["01712345678/01812345678", "has more than one number"],
  ["+9101712345678", "is not a mobile number"],
  ["1712345678.5", "is not a mobile number"],
  ["Rahima", "is not a mobile number"],
  ["\u202e01712345678", "is not a mobile number"],
  ["0".repeat(100_000), "is not a mobile number"],
  [number("171234567"), "has 9 digits"],
  [{ kind: "number", text: "1712345678", unit: "%" }, "is not a mobile number"],
  [{ kind: "error", text: "#N/A" }, "has the error #N/A"],
  [{ kind: "unknown", text: "" }, "a formula without a result"],
  [{ kind: "date", text: "2026-11-28" }, "is not a mobile number"],
])("%.40j is an error: %s", (cell, why) => {
  expect(problemOf(cell)).toContain(why);
});

test.each(["01710000000", "+880 1710-000000"])("%s has zeros that no spreadsheet made", (cell) => {
  expect(localOf(cell)).toEqual(["certain", "01710000000"]);
});

test.each(["", " ", "-", "—", "\u200b"])("%j is empty", (cell) => {
  expect(readPayee(cell, false)).toEqual({ kind: "empty" });
});

describe("for Rocket", () => {
  test.each<[Cell, string, string]>([
    ["017123456784", "certain", "017123456784"],
    ["01712-345678-4", "certain", "017123456784"],
    ["01712345678", "certain", "01712345678"],
    ["8801712345678", "certain", "01712345678"],
    ["17123456784", "probable", "017123456784"],
    [number("17123456784"), "probable", "017123456784"],
    ["17123456784.0", "probable", "017123456784"],
    ["1712345678", "probable", "01712345678"],
    ["০১৭১২৩৪৫৬৭৮৪", "probable", "017123456784"],
  ])("%j is %s: %s", (cell, kind, digits) => {
    expect(localOf(cell, true)).toEqual([kind, digits]);
  });

  test.each(["0171234567845", "88017123456784", "171234567"])("%s is an error", (cell) => {
    expect(problemOf(cell, true)).toContain("11, or 12 with Rocket's check digit");
  });
});
