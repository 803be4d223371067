import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAmount, formatPaisa } from "../../src/domain/money.ts";
import { runs } from "../runs.ts";

test.each([
  [1n, "BDT 0.01"],
  [100n, "BDT 1.00"],
  [99_900n, "BDT 999.00"],
  [100_000n, "BDT 1,000.00"],
  [9_999_999n, "BDT 99,999.99"],
  [12_500_050n, "BDT 1,25,000.50"],
  [1_000_000_000n, "BDT 1,00,00,000.00"],
  [99_999_999_999_999n, "BDT 9,99,99,99,99,999.99"],
])("%s paisa are %s", (amountPaisa, shown) => expect(formatPaisa(amountPaisa)).toBe(shown));

test("grouping changes no digit: three together, then two by two", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 99_999_999_999_999n }), (amountPaisa) => {
      const shown = formatPaisa(amountPaisa);
      return (
        /^BDT (?:\d{1,3}|\d{1,2}(?:,\d{2})*,\d{3})\.\d{2}$/.test(shown) &&
        BigInt(shown.replace(/\D/g, "")) === amountPaisa
      );
    }),
    { numRuns: runs(500, 500_000) },
  );
});

test.each([
  [1250.5, "BDT 1,250.50"],
  [0.1, "BDT 0.10"],
  [500.005, "BDT 500.005"],
  [-5, "BDT -5"],
  [1e21, "BDT 1e+21"],
])("the service's %s is %s", (amount, shown) => expect(formatAmount(amount)).toBe(shown));
