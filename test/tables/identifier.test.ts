import { expect, test } from "vitest";
import type { Cell } from "../../src/tables/cell.ts";
import { readId } from "../../src/tables/identifier.ts";

test.each<[Cell, string]>([
  ["INV-7", "INV-7"],
  ['="INV-7"', "INV-7"],
  ["'0012345", "0012345"],
  ["\u200bTX8F3K2Q\ufeff ", "TX8F3K2Q"],
  ["12E45678", "12E45678"],
  ["1234567890123456789", "1234567890123456789"],
  [{ kind: "number", text: "123456789012345" }, "123456789012345"],
])("%j is the ID %s", (cell, value) => {
  expect(readId(cell)).toEqual({ kind: "certain", value });
});

test("a number with .0 is probably the number", () => {
  expect(readId("1234567.0")).toMatchObject({ kind: "probable", value: "1234567" });
});

test.each<[Cell, string]>([
  ["1.23457E+12", "A spreadsheet rounded the ID"],
  ["1.23457e14", "A spreadsheet rounded the ID"],
  ["5E+15", "A spreadsheet rounded the ID"],
  [{ kind: "number", text: "1234567890123450" }, "A spreadsheet rounded the ID"],
  [{ kind: "date", text: "2026-03-01" }, "made the date"],
  [{ kind: "error", text: "#N/A" }, "has the error #N/A"],
])("%j is an error: %s", (cell, why) => {
  const reading = readId(cell);
  expect(reading.kind === "error" ? reading.problem : reading).toContain(why);
});

test.each(["", " ", "\u200b"])("%j is empty", (cell) => {
  expect(readId(cell)).toEqual({ kind: "empty" });
});
