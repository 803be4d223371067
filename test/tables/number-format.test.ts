import fc from "fast-check";
import { expect, test } from "vitest";
import { dateOf, plainNumber, unitOf } from "../../src/tables/number-format.ts";
import { runs } from "../support/helpers.ts";

test.each([
  ["General", undefined],
  ["#,##0.00", undefined],
  ["#,##0.00_);(#,##0.00)", undefined],
  ["0.00E+00", undefined],
  ["@", undefined],
  ['#,##0.00"/-"', undefined],
  ["0%", "%"],
  ["0.00 %", "%"],
  ['"$"#,##0.00', "$"],
  ["$#,##0.00", "$"],
  ['_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', "$"],
  ["[$USD] #,##0", "USD"],
  ["[$$-409]#,##0.00", "$"],
  ["#,##0.00 [$€-407]", "€"],
  ["[$৳-845]#,##0.00", "BDT"],
  ['"Tk. "#,##0.00', "BDT"],
  ["#,##0.00\\ \\T\\k", "BDT"],
  ['[Red]"BDT "#,##0.00"/-"', "BDT"],
  ['0.00" Dr"', "Dr"],
  ['0.0,"K"', "K"],
])("the format %s says that a number is %s", (format, unit) => {
  expect(unitOf(format, 12)).toBe(unit);
});

test("the part of a format that applies to a number says what it is", () => {
  const format = '#,##0" Cr";#,##0" Dr";"-"';
  expect([1, -1, 0].map((value) => unitOf(format, value))).toEqual(["Cr", "Dr", undefined]);
});

test.each([
  [12500.009999999998, "12500.01"],
  [0.1 + 0.2, "0.3"],
  [1250.5, "1250.5"],
  [-0.07, "-0.07"],
  [-0, "0"],
  [1e21, "1000000000000000000000"],
  [1.5e-7, "0.00000015"],
  [8801712345678, "8801712345678"],
  [Number("12345678901234567890"), "12345678901234600000"],
])("the number %s is %s", (value, text) => {
  expect(plainNumber(value)).toBe(text);
});

test("a number with at most 15 significant digits is shown as it was typed", () => {
  const anyNumber = fc.tuple(
    fc.integer({ min: -9_999_999_999, max: 9_999_999_999 }),
    fc.nat(99_999),
  );
  const property = fc.property(anyNumber, ([whole, decimals]) => {
    const typed = `${whole}.${String(decimals).padStart(5, "0")}`;
    const shown = typed.replace(/\.?0+$/, "").replace(/^-0$/, "0");
    expect(plainNumber(Number(typed))).toBe(shown);
  });
  fc.assert(property, { numRuns: runs(1_000, 100_000) });
});

test.each([
  [46354, false, "2026-11-28"],
  [44892, true, "2026-11-28"],
  [46354.9376736111, false, "2026-11-28T22:30:15"],
  [46354.99999999, false, "2026-11-29"],
  [0.9376736111, false, "22:30:15"],
  [1, false, "1900-01-01"],
  [59, false, "1900-02-28"],
  [60, false, undefined],
  [61, false, "1900-03-01"],
  [0, true, "1904-01-01"],
  [2958465, false, "9999-12-31"],
  [2958466, false, undefined],
  [-1, false, undefined],
])("day %s (1904: %s) is %s", (serial, date1904, text) => {
  expect(dateOf(serial, date1904)).toBe(text);
});
