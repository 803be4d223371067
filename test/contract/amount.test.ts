import fc from "fast-check";
import { expect, test } from "vitest";
import { amountNumber, amountText, paisaOf, readAmount } from "../../src/domain/amount.ts";
import { runs } from "../support/helpers.ts";

const paisa = fc.bigInt({ min: 1n, max: 99_999_999_999_999n });

test.each([
  ["0.01", 1n, "0.01"],
  ["0.10", 10n, "0.1"],
  ["1", 100n, "1"],
  ["1250.50", 125_050n, "1250.5"],
  ["999999999999.99", 99_999_999_999_999n, "999999999999.99"],
])("%s is %s paisa and is sent as %s", (typed, amountPaisa, wire) => {
  expect(readAmount(typed)).toEqual({ ok: true, value: amountPaisa });
  expect(amountText(amountPaisa)).toBe(wire);
  expect(JSON.stringify(amountNumber(amountPaisa))).toBe(wire);
});

test.each([
  ["1,250", "Did you mean 1250?"],
  ["05", "Did you mean 5?"],
  ["-5", "An amount cannot be negative."],
  ["0.555", "Use at most two decimals."],
  ["1000000000000", "must be below 1000000000000."],
  ["1,25,000.50", "Did you mean 125000.50?"],
  ["১২৫০", "Did you mean 1250?"],
  ["１２５０", "Did you mean 1250?"],
  ["1e3", "Did you mean 1000?"],
  ["৳500", "Did you mean 500?"],
  ["500 taka", "Did you mean 500?"],
  ["1\u00a0250", "Did you mean 1250?"],
  ["+500", "Did you mean 500?"],
  ["1250,50", "Did you mean 1250.50?"],
  ["5\u200b", "an invisible character"],
  ["00", "Example: 1250.50"],
])("%j is refused with what was probably meant", (typed, meant) => {
  const reading = readAmount(typed);
  expect(reading).toMatchObject({ ok: false });
  expect(reading.ok ? "" : reading.problem).toContain(meant);
});

test.each(["", "0", "1.234", "01", ".5", "5.", "1000000000000", "NaN", "1_000.5.5"])(
  "%j is refused",
  (typed) => {
    expect(readAmount(typed).ok).toBe(false);
  },
);

test("text, paisa, JSON number and back are the same for any amount", () => {
  fc.assert(
    fc.property(paisa, (amountPaisa) => {
      const text = amountText(amountPaisa);
      const number: unknown = JSON.parse(
        JSON.stringify({ amount: amountNumber(amountPaisa) }).slice(10, -1),
      );
      return (
        String(number) === text &&
        paisaOf(Number(number)) === amountPaisa &&
        JSON.stringify(readAmount(text), bigints) ===
          JSON.stringify({ ok: true, value: amountPaisa }, bigints)
      );
    }),
    { numRuns: runs(200, 1_000_000) },
  );
});

test("a number that is no exact amount has no paisa", () => {
  for (const number of [
    0.001,
    500.005,
    -1,
    1e12,
    1e21,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e-7,
  ]) {
    expect(paisaOf(number)).toBeUndefined();
  }
});

test("whatever is typed, it is an amount or a sentence", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[0-9০-৯.,e+৳ -]{0,12}$/)),
      (typed) => {
        const reading = readAmount(typed);
        return reading.ok ? reading.value > 0n : reading.problem.length > 10;
      },
    ),
    { numRuns: runs(100, 100_000) },
  );
});

function bigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
