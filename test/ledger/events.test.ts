import fc from "fast-check";
import { expect, test } from "vitest";
import { states } from "../../src/domain/state.ts";
import { lastSentAt, readEvent, replay } from "../../src/ledger/events.ts";
import { createOperation } from "../../src/ledger/intent.ts";
import { payout, worker } from "./small-ledger.ts";

const at = "2026-11-20T10:00:00.000Z";
const stored = {
  ...{ number: 1n, target: null, holder: null, at },
  account: { number: 1n, name: "shop" },
};
const taker = { holder: "{}", origin: "{}", actor: "agent" };
const text = fc.string();
const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-12-31") });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const outcome = fc.record({
  state: fc.constantFrom(...states),
  ...{ remoteId: maybe(text), status: maybe(text), code: maybe(text), message: maybe(text) },
  ...{ recordUpdatedAt: maybe(time), recordCreatedAt: maybe(time), answer: maybe(text) },
  ...{ otherId: maybe(text), paymentUrl: maybe(text), origin: maybe(text) },
  sent: maybe(fc.boolean()),
  matched: maybe(fc.record({ line: text, statement: maybe(text), reason: text, by: text })),
});
const names = ["intent", "attempt", "look", "final-status-changed", "late", "resumed", "reopened"];
const event = fc.oneof(
  fc.tuple(fc.constantFrom("attempt", "look", "final-status-changed", "late"), outcome),
  fc.tuple(fc.constant("resumed"), fc.record({ wasReleased: fc.boolean() })),
  fc.tuple(
    fc.constant("reopened"),
    fc.record({
      state: fc.constant("INTENT"),
      keyHash: text,
      asked: maybe(fc.dictionary(text, text)),
    }),
  ),
);

test("reads every event as it was written", () => {
  fc.assert(
    fc.property(event, ([name, data]) => {
      const json = JSON.stringify({ ...taker, ...data });
      expect(readEvent(at, name, json)).toEqual({ at, event: name, data: JSON.parse(json) });
    }),
  );
});

test.each(["(x)", "", "2026-11-20", "9999-99-99T10:00:00.000Z", null, 7])(
  "reads no event with the time %j",
  (time) => {
    const data = { state: "CONFIRMED" };
    const json = JSON.stringify({ ...data, recordUpdatedAt: time });
    expect(readEvent(at, "look", json).event).toBe("unreadable");
    expect(readEvent(String(time), "look", JSON.stringify(data)).event).toBe("unreadable");
  },
);

test("reads an event that is nested deeper than it could be compared as unreadable", () => {
  const json = `{"state":"NOT_SENT","raw":${'{"a":'.repeat(6_000)}1${"}".repeat(6_000)}}`;
  expect(readEvent("2026-11-20T10:00:00.000Z", "look", json).event).toBe("unreadable");
});

test("reads an event of any other content as unreadable, and replays the rest", () => {
  const { event: intent, recorded } = createOperation(payout("A"), stored, worker());
  fc.assert(
    fc.property(fc.oneof(text, fc.constantFrom(...names)), fc.json(), (name, json) => {
      const other = readEvent(at, name, json);
      const data = JSON.parse(json);
      expect(other).toEqual({ at, event: "unreadable", name, data });
      expect(replay(1n, [intent, other])).toEqual(recorded);
    }),
  );
});

test("writes the columns of a new operation as a replay of its event makes them", () => {
  const { event, recorded } = createOperation(payout("A\ud800"), stored, worker());
  const read = readEvent(at, event.event, JSON.stringify(event.data));
  expect(replay(1n, [read])).toEqual(recorded);
});

test("reads an intent of a version that did not have a column", () => {
  const { event, recorded } = createOperation(payout("A"), stored, worker());
  const { batch: _, ...data } = event.data;
  const read = readEvent(at, event.event, JSON.stringify(data));
  expect(replay(1n, [read])).toEqual(recorded);
});

test("an event that cannot be read may be of a request that was sent", () => {
  const { event: intent } = createOperation(payout("A"), stored, worker());
  const later = "2026-11-20T11:00:00.000Z";
  expect(lastSentAt([intent, readEvent(later, "attempt", "{")])).toBe(later);
  const look = JSON.stringify({ state: "UNCERTAIN" });
  expect(lastSentAt([intent, readEvent(later, "look", look)])).toBe(at);
});
