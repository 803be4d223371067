import { expect, test } from "vitest";
import { faultKinds, readFault } from "../../src/api/contract/fault.ts";
import { endpointNames } from "../../src/domain/statuses.ts";

test.each([
  ["createPayout:lost-reply:0.3", { endpoint: "createPayout", kind: "lost-reply", share: 0.3 }],
  ["*:reset", { endpoint: "*", kind: "reset", share: 1 }],
  ["retrievePayment:hang:.5", { kind: "hang", share: 0.5 }],
  ["createRefund:status-503:1", { kind: "status", number: 503, share: 1 }],
  ["createRefund:status-599:1.0", { number: 599, share: 1 }],
  ["listMethods:latency", { kind: "latency", number: 1000 }],
  ["listMethods:latency-250:0", { kind: "latency", number: 250, share: 0 }],
])("%s is a rule", (rule, read) => {
  expect(readFault(rule)).toMatchObject({ ok: true, value: { rule, ...read } });
});

test("every kind fits every endpoint", () => {
  for (const endpoint of ["*", ...endpointNames]) {
    for (const kind of Object.keys(faultKinds)) {
      const rule = `${endpoint}:${kind === "status" ? "status-500" : kind}`;
      expect([rule, readFault(rule).ok]).toEqual([rule, true]);
    }
  }
});

test.each([
  ["", "is no endpoint"],
  ["createPayment", "is no kind of fault"],
  ["createpayment:reset", "is no endpoint"],
  ["constructor:reset", "is no endpoint"],
  ["*:constructor", "is no kind of fault"],
  ["*:__proto__", "is no kind of fault"],
  ["*:reset-5", "is no kind of fault"],
  ["*:503", "Did you mean status-503? There are latency, status, "],
  ["*:slower", "slow, redirect: 'lenden help faults' says what they do."],
  ["*:status", "from 400 to 599"],
  ["*:status-200", "from 400 to 599"],
  ["*:status-600", "from 400 to 599"],
  ["*:reset:2", "from 0 to 1"],
  ["*:reset:", "from 0 to 1"],
  ["*:reset:-0.5", "from 0 to 1"],
  ["*:reset:1e-1", "from 0 to 1"],
  ["*:reset:0.5:1", "from 0 to 1"],
])("%j is refused: %s", (rule, why) => {
  const reading = readFault(rule);
  expect(reading.ok ? "" : reading.problem).toContain(why);
});
