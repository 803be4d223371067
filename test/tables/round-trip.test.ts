import fc from "fast-check";
import { expect, test } from "vitest";
import { AmountColumn, readMoney } from "../../src/tables/amount.ts";
import { DateColumn, readDate } from "../../src/tables/date.ts";
import { readId } from "../../src/tables/identifier.ts";
import { readPayee } from "../../src/tables/mobile.ts";
import type { Reading } from "../../src/tables/reading.ts";
import { runs } from "../support/helpers.ts";
import { amountStyles, dateStyles, idStyles, numberStyles, printed } from "./printer.ts";

/*
 * A value that is written in any style is read as itself, or its problem is named. It is never read as another one.
 */

const numRuns = runs(300, 100_000);

/** Undefined if there is no value. */
function meaningOf<Value>(reading: Reading<Value>): Value | undefined {
  if (reading.kind === "error") expect(reading.problem).toMatch(/^\S.{15,}\.$/s);
  return reading.kind === "certain" || reading.kind === "probable" ? reading.value : undefined;
}

test("an amount in any style is that amount, or a named problem", () => {
  const paisa = fc.oneof(
    fc.bigInt(-10_000_000n, 10_000_000n),
    fc.bigInt(-99_999_999_999n, 99_999_999_999n).map((one) => one * 100n),
    fc.constantFrom(0n, 5n, 99n, 100n, 99_999n, 100_000n, 12_500_000n),
  );
  const counts = new Map<string, number>();
  fc.assert(
    fc.property(printed(paisa, amountStyles), (cells) => {
      const column = new AmountColumn();
      for (const { cell } of cells) column.see(cell);
      for (const { meant, name, cell } of cells) {
        const reading = readMoney(cell, column.decimalMark);
        const value = reading.kind === "empty" ? 0n : meaningOf(reading)?.paisa;
        if (value !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
        expect([cell, value ?? meant]).toEqual([cell, meant]);
      }
    }),
    { numRuns },
  );
  const never = amountStyles.map(([name]) => name).filter((name) => !counts.has(name));
  expect(never).toEqual(["three decimals", "scientific", "dollars", "a typed percentage"]);
});

test("a date in any style is that date, or a named problem, or its order is undecided", () => {
  const from = Date.parse("2015-01-01T00:00:00Z");
  const days = fc.integer({ min: 0, max: 20 * 365 });
  const moment = fc
    .oneof(days, fc.integer({ min: 4_000, max: 4_030 }))
    .chain((day) =>
      fc.integer({ min: 0, max: 86_399 }).map((second) => from + (day * 86_400 + second) * 1_000),
    );
  const counts = new Map<string, number>();
  fc.assert(
    fc.property(printed(moment, dateStyles), (cells) => {
      const column = new DateColumn();
      for (const { cell } of cells) column.see(cell);
      const { order, isDecided } = column.found;
      const orders = cells.flatMap(({ name }) => /^(?:day|month|year) first/.exec(name)?.[0] ?? []);
      // A column with more than one order has no right answer.
      if (!isDecided || new Set(orders).size > 1) return;
      for (const { meant, name, cell } of cells) {
        const span = meaningOf(readDate(cell, { zone: "Asia/Dhaka", order }));
        if (span) counts.set(name, (counts.get(name) ?? 0) + 1);
        const isIn = !span || (span.fromMs <= meant && meant <= span.toMs);
        expect([cell, order, isIn]).toEqual([cell, order, true]);
        if (span) expect(span.toMs - span.fromMs).toBeLessThan(86_400_000);
      }
    }),
    { numRuns },
  );
  const never = dateStyles.map(([name]) => name).filter((name) => !counts.has(name));
  expect(never).toEqual(["a serial number"]);
});

test.each([false, true])(
  "a recipient in any style is that recipient, or a named problem (Rocket: %s)",
  (isRocket) => {
    const number = fc.stringMatching(isRocket ? /^01[3-9]\d{8,9}$/ : /^01[3-9]\d{8}$/);
    const styles = numberStyles.filter(([name]) => !isRocket || !name.startsWith("a digit"));
    fc.assert(
      fc.property(printed(number, styles), (cells) => {
        for (const { meant, cell } of cells) {
          const value = meaningOf(readPayee(cell, isRocket));
          const digits = value?.account ?? value?.local ?? meant;
          expect([cell, digits]).toEqual([cell, meant]);
        }
      }),
      { numRuns },
    );
  },
);

test("an ID in any style is that ID, or a named problem", () => {
  const id = fc.stringMatching(/^(?:[A-Z]{2}[A-Z0-9-]{4,20}|[1-9]\d{5,17})$/);
  fc.assert(
    fc.property(printed(id, idStyles), (cells) => {
      for (const { meant, cell } of cells)
        expect([cell, meaningOf(readId(cell)) ?? meant]).toEqual([cell, meant]);
    }),
    { numRuns },
  );
});
