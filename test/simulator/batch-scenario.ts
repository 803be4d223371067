import fc from "fast-check";
import { type Fault, faultArbitrary } from "./faults.ts";
import { payoutPaisa, recipients } from "./scenario.ts";

/** A batch of a few rows, everything that breaks while it is sent, and who else is there. */
export interface BatchScenario {
  seed: number;
  skewMs: number;
  rows: { amount: number; to: number }[];
  concurrency: number;
  /** How often the same command is given again, and after which pause. */
  gapsMs: number[];
  /** References of rows that another machine used before, for what. */
  foreign: { row: number; amount: number; to: number }[];
  /** What another process of this machine does while the batch waits for its n-th answer. */
  beside: { call: number; does: "batch" | "payout"; row: number; amount: number }[];
  faults: (Fault | undefined)[];
  crashes: { after: number; power: boolean }[];
  diskErrors: number[];
  stops: number[];
}

const places = { amount: fc.nat(payoutPaisa.length - 1), to: fc.nat(recipients.length - 1) };

export const batchArbitrary: fc.Arbitrary<BatchScenario> = fc.record({
  seed: fc.nat(),
  skewMs: fc.constantFrom(0, 0, 0, 180_000, -180_000),
  rows: fc.array(fc.record(places), { minLength: 1, maxLength: 6 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  gapsMs: fc.array(fc.constantFrom(0, 500, 3_000, 30_000), { maxLength: 3 }),
  foreign: fc.array(fc.record({ row: fc.nat(5), ...places }), { maxLength: 1 }),
  beside: fc.array(
    fc.record({
      call: fc.nat(6),
      does: fc.constantFrom("batch" as const, "payout" as const),
      row: fc.nat(5),
      amount: places.amount,
    }),
    { maxLength: 2 },
  ),
  faults: fc.array(faultArbitrary, { maxLength: 14 }),
  crashes: fc.array(fc.record({ after: fc.nat(240), power: fc.boolean() }), { maxLength: 3 }),
  diskErrors: fc.array(fc.nat(220), { maxLength: 1 }),
  stops: fc.array(fc.nat(220), { maxLength: 1 }),
});
