import { describe, expect, test } from "vitest";
import { testCommand } from "../../src/domain/state.ts";
import { allColumns, rowOf } from "../../src/ledger/columns.ts";
import { type HistoryEvent, readEvent, replay } from "../../src/ledger/events.ts";
import { findingOfOperation } from "../../src/ledger/finding.ts";
import { createOperation } from "../../src/ledger/intent.ts";
import type { Intent } from "../../src/ledger/operation.ts";
import { payment, payout, refund, worker } from "./small-ledger.ts";

const at = "2026-11-20T10:00:00.000Z";
const origin = "{}";
const taker = { holder: "{}", origin, actor: "person" } as const;

type Event = [name: string, data: object, login?: string];

const attempt = (state: string, more: object = {}, login = "ann"): Event => [
  ...(["attempt", { state, sent: true, ...more }, login] as const),
];
const look = (state: string, more: object = {}, login = "ann"): Event => [
  ...(["look", { state, ...more }, login] as const),
];
const resumed = (login = "ann"): Event => ["resumed", { ...taker, wasReleased: true }, login];
const reopened = (login = "ann"): Event => [
  ...(["reopened", { ...taker, state: "INTENT", keyHash: "k" }, login] as const),
];

const confirmed = attempt("CONFIRMED", { remoteId: "X1", status: "Processing" });
const unknown = attempt("UNCERTAIN", { code: "uncertain" });
const notSent = attempt("NOT_SENT", { code: "unreachable", sent: false });
const rejected = attempt("REFUSED", { code: "refused" });
const denied = attempt("REFUSED", { code: "access" });
const conflict = attempt("CONFLICT", { code: "conflict", otherId: "X9" });
const declared = look("NOT_SENT", { code: "declared", origin });
const differs = look("CONFLICT", { code: "record-differs", message: "amount" });
const late = (remoteId: string, login = "ann"): Event => [
  ...(["late", { state: "CONFIRMED", remoteId, sent: true }, login] as const),
];
const lateConflict = (otherId: string, login = "ann") =>
  attempt("CONFLICT", { code: "conflict", message: "late", otherId }, login);
const accepted = (more: object = {}, login = "ann") =>
  look("CONFIRMED", { remoteId: "X1", status: "Completed", ...more }, login);
const matched = { line: "l", reason: "r", by: "ann" };

const generated = "LD-01KASW0000000000000000000Z";

/** What is found of an operation with these events after its intent by ann, whose columns agree with them. */
function columnsFound(
  events: Event[],
  { intent = payout("A"), seal = "s", command = "test" } = {} as Given,
): string[] | undefined {
  const stored = { number: 1n, target: null, holder: null, at, seal };
  const account = { number: 1n, name: "shop" };
  const { event } = createOperation(intent, { ...stored, account }, worker({ command }));
  const history: HistoryEvent[] = [
    { ...event, login: "ann" },
    ...events.map(([name, data, login]) => ({
      ...readEvent(at, name, JSON.stringify(data)),
      ...(login && { login }),
    })),
  ];
  const recorded = replay(1n, history);
  if (!recorded) throw new Error("no intent");
  return findingOfOperation(rowOf(allColumns, recorded), history)?.columns;
}

interface Given {
  intent?: Intent;
  seal?: string | null;
  command?: string;
}

const rejectedOnce = { intent: payout(generated) };
const imported = { seal: null };

describe("a history that lenden writes", () => {
  test.each<[string, Event[], Given?]>([
    ["an attempt of unknown outcome, and the next one", [unknown, confirmed]],
    ["a run that could not send it again", [unknown, resumed(), look("UNCERTAIN")]],
    [
      "another person resumes it",
      [unknown, resumed("ben"), attempt("CONFIRMED", { remoteId: "X1" }, "ben")],
    ],
    ["another person reports its ID", [unknown, accepted({ origin }, "ben")]],
    ["another person reports that it was not created", [unknown, declared]],
    ["what was declared was created all the same", [unknown, declared, accepted({ origin })]],
    ["its record, after it was rejected", [rejected, accepted({ recordCreatedAt: at })]],
    [
      "it was not sent, and is sent again",
      [notSent, reopened("ben"), attempt("CONFIRMED", { remoteId: "X1" }, "ben")],
    ],
    ["access was denied, and it is sent again", [denied, reopened(), confirmed]],
    ["it was rejected, and its reference is sent again", [rejected, reopened()], rejectedOnce],
    ["a status check by another person", [confirmed, look("CONFIRMED", { status: "x" }, "ben")]],
    ["its record differs, and agrees again", [confirmed, differs, differs, look("CONFIRMED")]],
    ["a conflict that a person ends", [conflict, declared]],
    [
      "a final status that changed",
      [
        attempt("CONFIRMED", { remoteId: "X1", status: "Completed" }),
        ["final-status-changed", { state: "CONFIRMED", status: "Cancelled" }, "ben"],
      ],
    ],
    [
      "a late response that names another record",
      [
        ...[unknown, resumed("ben"), attempt("CONFIRMED", { remoteId: "X2" }, "ben")],
        ...[late("X1"), lateConflict("X1")],
      ],
    ],
    ["a late response that shows nothing else", [unknown, resumed("ben"), late("X1")]],
    ["a person matches it with a statement", [confirmed, look("CONFIRMED", { matched })]],
    ["it was recorded from its record", [accepted({ recordCreatedAt: at })], imported],
    ["a test of the API ends by another one", [confirmed, accepted()], { command: testCommand }],
    ["a refund that a person reports", [unknown, accepted({ origin })], { intent: refund("T1") }],
    [
      "a cancel whose record shows it",
      [unknown, look("CONFIRMED", { status: "Cancelled" })],
      {
        intent: { ...refund("R1"), kind: "cancel" },
      },
    ],
  ])("%s", (_, events, given) => {
    expect(columnsFound(events, given)).toBeUndefined();
  });
});

describe("a history that lenden never writes", () => {
  test.each<[string, Event[], Given?]>([
    ["an accepted payout has no ID", [attempt("CONFIRMED")]],
    ["a status check shows a payment page", [confirmed, look("CONFIRMED", { paymentUrl: "x" })]],
    ["what was accepted had existed", [confirmed, look("CONFIRMED", { code: "existing" })]],
    ["an accepted payout was not sent", [confirmed, notSent]],
    ["an accepted payout was rejected", [confirmed, denied]],
    ["an accepted payout is unknown", [confirmed, unknown]],
    ["an accepted payout is declared not created", [confirmed, declared]],
    ["an accepted payout is sent again", [confirmed, reopened()]],
    ["an accepted payout is resumed", [confirmed, resumed()]],
    ["an accepted payout gets another ID", [confirmed, accepted({ remoteId: "X7" })]],
    ["a payout whose record differs is declared not created", [confirmed, differs, declared]],
    ["what is unknown is sent as new", [unknown, reopened()]],
    ["what was given a reference is sent again after a rejection", [rejected, reopened()]],
    ["an attempt of someone who did not take it", [unknown, attempt("NOT_SENT", {}, "bob")]],
    ["an attempt beside the process that took it", [attempt("CONFIRMED", {}, "bob")]],
    ["an attempt of the process before", [unknown, resumed("ben"), confirmed]],
    [
      "an attempt that is said to be accepted earlier",
      [attempt("CONFIRMED", { recordCreatedAt: at })],
    ],
    ["an unknown payout was accepted earlier", [unknown, accepted({ recordCreatedAt: at })]],
    ["a planned payout was accepted earlier", [accepted({ recordCreatedAt: at })]],
    [
      "an imported payout is accepted by another login",
      [accepted({ recordCreatedAt: at }, "bob")],
      imported,
    ],
    [
      "a late response of someone who never had it",
      [confirmed, late("X2", "bob"), lateConflict("X2", "bob")],
    ],
    ["a late conflict without its response", [confirmed, lateConflict("X2")]],
    ["a late conflict with its own record", [confirmed, late("X1"), lateConflict("X1")]],
    [
      "a late conflict with another record than the response",
      [confirmed, late("X2"), lateConflict("X3")],
    ],
    [
      "not created, without the person who reports it",
      [unknown, look("NOT_SENT", { code: "declared" })],
    ],
    ["a status check that rejects it", [unknown, look("REFUSED", { code: "access" })]],
    [
      "a match that changes its status",
      [confirmed, look("CONFIRMED", { status: "Cancelled", matched })],
    ],
    [
      "a match that takes back a reason",
      [differs, look("CONFLICT", { code: "conflict", matched })].toSpliced(0, 0, confirmed),
    ],
    ["a match of what was rejected", [rejected, look("REFUSED", { code: "refused", matched })]],
    ["a match of what access was denied to", [denied, look("REFUSED", { code: "x", matched })]],
    [
      "a status check that is called an attempt",
      [unknown, ["attempt", { state: "UNCERTAIN" }, "ann"]],
    ],
    [
      "a status check that is said to be of a final status",
      [confirmed, ["final-status-changed", { state: "CONFIRMED", status: "Cancelled" }, "ann"]],
    ],
    [
      "a second intent",
      [
        [
          "intent",
          createOperation(
            payout("A"),
            {
              ...{
                number: 1n,
                target: null,
                holder: null,
                at,
                account: { number: 1n, name: "shop" },
              },
            },
            worker(),
          ).event.data,
        ],
      ],
    ],
    ["a payment that is sent again", [notSent, reopened()], { intent: payment("tea") }],
    ["a refund that is resumed", [unknown, resumed()], { intent: refund("T1") }],
    ["an accepted refund was not created", [confirmed, declared], { intent: refund("T1") }],
  ])("%s", (_, events, given) => {
    expect(columnsFound(events, given)).toEqual(["events"]);
  });
});
