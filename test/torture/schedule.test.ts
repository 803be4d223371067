import fc from "fast-check";
import { expect, test } from "vitest";
import {
  callbackFaultNames,
  requestFaultNames,
  tortureFaultNames,
} from "../../src/api/contract/fault.ts";
import {
  callbackFaultFor,
  createSchedule,
  faultFor,
  type Subject,
} from "../../src/conformance/torture/schedule.ts";
import { runs } from "../support/helpers.ts";

const options = { seed: 7, round: 1, only: tortureFaultNames, orders: 6 };
const subject = fc.record<Subject>({
  endpoint: fc.constantFrom("createPayout", "retrievePayout"),
  amountPaisa: fc.bigInt(1n, 100n),
  to: fc.constantFrom("01712345678", "01812345678"),
  description: fc.constantFrom(null, "Order 1"),
});

test("two connections change no fault: only earlier requests for the same subject count", () => {
  fc.assert(
    fc.property(fc.array(subject), fc.array(fc.nat()), (subjects, keys) => {
      const faultsOf = (order: Subject[]) => {
        const { ofRequest } = createSchedule(options);
        const faults = new Map<string, unknown[]>();
        for (const one of order) {
          const key = JSON.stringify({ ...one, amountPaisa: String(one.amountPaisa) });
          faults.set(key, [...(faults.get(key) ?? []), ofRequest(one).fault]);
        }
        return faults;
      };
      const shuffled = subjects
        .map((one, index) => ({ one, key: keys[index] ?? 0 }))
        .sort((one, other) => one.key - other.key)
        .map(({ one }) => one);
      expect(faultsOf(shuffled)).toEqual(faultsOf(subjects));
    }),
    { numRuns: runs(50, 5_000) },
  );
});

test("with fewer faults, those that are left affect the same requests", () => {
  const some = fc.subarray([...tortureFaultNames], { minLength: 1 });
  fc.assert(
    fc.property(subject, fc.nat(10), some, (one, earlier, only) => {
      const fault = faultFor(one, earlier, options);
      const alone = faultFor(one, earlier, { ...options, only });
      if (fault && only.includes(fault)) expect(alone).toBe(fault);
      if (!fault) expect(alone).toBeUndefined();
    }),
    { numRuns: runs(500, 20_000) },
  );
});

test("a seed and a round choose the faults, and each fault occurs", () => {
  const faultsOf = (more: object) =>
    Array.from({ length: 1_000 }, (_, index) =>
      faultFor(
        { endpoint: "createPayout", amountPaisa: BigInt(index), to: null, description: null },
        0,
        { ...options, ...more },
      ),
    );
  const first = faultsOf({});
  expect(new Set(first)).toEqual(new Set([undefined, ...requestFaultNames]));
  expect(faultsOf({})).toEqual(first);
  expect(faultsOf({ seed: 8 })).not.toEqual(first);
  expect(faultsOf({ round: 2 })).not.toEqual(first);
  expect(faultsOf({ only: [] })).toEqual(first.map(() => undefined));
});

test("each fault of a callback occurs, and a record that stays Processing has false ones alone", () => {
  const faultsOf = (isDue: boolean) => {
    const all = Array.from({ length: 200 }, (_, index) => {
      const about = { endpoint: "callback", amountPaisa: BigInt(index), description: "Order" };
      return callbackFaultFor(about, 0, isDue, options);
    });
    return new Set(all);
  };
  expect(faultsOf(true)).toEqual(new Set([undefined, ...callbackFaultNames]));
  expect(faultsOf(false)).toEqual(new Set(["callback-forged", "callback-other"]));
});

test("only the places that are named have a fault", () => {
  const one = { endpoint: "createPayout", amountPaisa: 5n, to: "01712345678", description: null };
  const all = createSchedule(options);
  const faulty = Array.from({ length: 20 }, () => all.ofRequest(one)).filter(({ fault }) => fault);
  const [first] = faulty;
  const few = createSchedule(options, new Set([first?.place ?? ""]));
  const left = Array.from({ length: 20 }, () => few.ofRequest(one)).filter(({ fault }) => fault);
  expect(faulty.length).toBeGreaterThan(1);
  expect(left).toEqual([first]);
});
