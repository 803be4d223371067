import { hash } from "node:crypto";
import fc from "fast-check";
import { amountNumber } from "../../src/domain/amount.ts";
import { amountLimits } from "../../src/domain/limit.ts";
import { declaredCode, differingCode, type State } from "../../src/domain/state.ts";
import type { BatchFile, PlannedRow, RowSet, Traits } from "../../src/ledger/batch.ts";
import type {
  CallbackRequest,
  CallbackVerdict,
  CheckedRecord,
  Forwarded,
} from "../../src/ledger/callback.ts";
import type { LimitChange } from "../../src/ledger/limits.ts";
import type { Filter, Intent, Kind, Outcome } from "../../src/ledger/operation.ts";
import { plannedRow } from "./small-ledger.ts";

/** Of two payout secrets, the one that seals. */
type Secret = "first" | "rotated";

/** A request by the operation's place, because only a run knows its number. */
export type Command =
  | {
      kind: "claim";
      intent: Intent;
      onDuplicate: "reject" | "reject-if-unknown" | "send";
      isReferenceMade: boolean;
      found: Outcome | undefined;
      secret: Secret;
    }
  | { kind: "record"; place: number; outcome: Outcome; release: boolean }
  | { kind: "learn"; place: number; outcome: Outcome; isOld: boolean }
  | { kind: "resume"; place: number; secret: Secret }
  /** Claims a row of a batch that the process knows. */
  | { kind: "row"; place: number; row: number }
  | { kind: "look" };

/** What a process does with a batch that it knows, by its place, or with a file, by its place. */
export type BatchCommand =
  | { kind: "create" | "claim"; file: number }
  | { kind: "plan"; place: number }
  | { kind: "claim-planned" | "release" | "cancel"; place: number }
  | { kind: "accept"; place: number; lines: number[] };

/** What a process does with a callback, by its place. */
export type CallbackCommand =
  | { kind: "keep"; request: CallbackRequest; isKnown: boolean }
  | { kind: "listen" }
  | { kind: "schedule"; place: number; afterMs: number | null }
  | { kind: "judge"; place: number; judged: CallbackVerdict; to: string | undefined }
  | { kind: "forward"; place: number; forwarded: Forwarded }
  /** Copies it, until the next ones reach a limit. */
  | { kind: "copy"; place: number; count: number };

export interface Step {
  worker: number;
  /** The step is of the process before: others count it as ended, and it does not know that. */
  isLost: boolean;
  commands: Command[];
  batch: BatchCommand | undefined;
  callback: CallbackCommand | undefined;
  /** A limit that is set before the step. */
  limit: Pick<LimitChange, "name" | "value"> | undefined;
  laterMs: number;
  /** What both are asked for afterwards. */
  listed: { kind: Kind | undefined; filter: Filter; isOfBatch: boolean };
  asked: Asked;
  /** A process that ends before the step. */
  dies: number | undefined;
}

/** Questions about batches and callbacks. */
interface Asked {
  place: number;
  file: number;
  traits: (keyof Traits)[];
  set: RowSet;
  most: number;
  isExcept: boolean;
  isCancelled: boolean | undefined;
  to: string | undefined;
  verdict: string | undefined;
  since: string | undefined;
}

/** Files of payouts, and what processes do with the ledger. */
export interface History {
  files: PlannedFile[];
  steps: Step[];
}

/** Its rows follow from its identity. */
export interface PlannedFile extends BatchFile {
  rows: PlannedRow[];
}

const amount = fc.constantFrom(500n, 600n);
const generated = ["LD-01KASW0000000000000000000Z", "LD-01KASW000000000000000000UZ"];
const payout: fc.Arbitrary<Intent> = fc
  .record({
    // One that lenden generated, and one that only looks like it.
    reference: fc.constantFrom("A", "B", "C", "D", ...generated),
    amountPaisa: amount,
    recipientNumber: fc.constantFrom("01712345678", "+8801712345678", "01812345678"),
    recipientName: fc.constantFrom("Ann", "Anne"),
    paymentMethodId: fc.constantFrom("m1", "m2"),
  })
  .map(({ reference, amountPaisa, ...body }) => {
    const asked = { amount: amountNumber(amountPaisa), merchantRef: reference, ...body };
    return { kind: "payout", reference, amountPaisa, target: null, asked };
  });
const secret: fc.Arbitrary<Secret> = fc.constantFrom("first", "first", "first", "rotated");
const payment: fc.Arbitrary<Intent> = fc
  .record({
    amountPaisa: amount,
    description: fc.constantFrom("tea", "rice"),
    paymentMethodId: fc.constantFrom("m1", "m2"),
    payer: fc.constantFrom(undefined, undefined, "01712345678", "+8801712345678", "01812345678"),
  })
  .map(({ amountPaisa, payer, ...rest }) => {
    const asked = payer === undefined ? rest : { ...rest, suggestedPayerNumber: payer };
    return { kind: "payment", reference: null, amountPaisa, target: null, asked };
  });
const refund: fc.Arbitrary<Intent> = fc
  .record({
    amountPaisa: amount,
    // X1 and X2 are also the IDs of payments.
    target: fc.constantFrom("T1", "X1", "X2"),
    accountNumber: fc.constantFrom("+8801712345678", "AC-7"),
  })
  .map(({ accountNumber, ...one }) => {
    return { kind: "refund", reference: null, asked: { accountNumber }, ...one };
  });
const move: fc.Arbitrary<Intent> = fc.constantFrom("R1", "R2").map((target) => {
  return { kind: "cancel", reference: null, amountPaisa: null, target, asked: {} };
});
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record(
    {
      state: fc.constant("CONFIRMED" as const),
      remoteId: fc.constantFrom("X1", "X2", "X3", "X4", "X5", "X6"),
      status: fc.constantFrom("Processing", "Completed", "Cancelled"),
      recordUpdatedAt: fc.constantFrom("2026-11-20T09:00:00.000Z", "2026-11-20T11:00:00.000Z"),
      sent: fc.constant(true),
    },
    { requiredKeys: ["state", "remoteId", "status", "sent"] },
  ),
  fc.record({
    state: fc.constantFrom("UNCERTAIN", "NOT_SENT", "CONFLICT", "INTENT"),
    message: fc.constantFrom("lost", "half of \ud83d a character"),
    sent: fc.boolean(),
  }),
  // Status checks: a changed status, and a record that differs.
  fc.record({
    state: fc.constant("CONFIRMED" as const),
    status: fc.constantFrom("Processing", "Completed", "Cancelled"),
  }),
  fc.record({
    state: fc.constant("CONFLICT" as const),
    code: fc.constant(differingCode),
    message: fc.constant("amount"),
  }),
  fc.record({ state: fc.constant("REFUSED" as const), code: fc.constantFrom("access", "refused") }),
  // What a person reports.
  fc.constant({ state: "NOT_SENT" as const, code: declaredCode, isReported: true }),
);
/** Of a record that lenden did not create. */
const found: fc.Arbitrary<Outcome> = fc.record({
  state: fc.constant("CONFIRMED" as const),
  remoteId: fc.constantFrom("X1", "X2", "X3", "X4", "X5", "X6"),
  status: fc.constantFrom("Processing", "Completed", "Cancelled"),
  recordCreatedAt: fc.constantFrom("2026-10-20T10:00:00.000Z", "2026-11-20T10:00:00.000Z"),
});
const place = fc.nat(9);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("claim" as const),
      intent: fc.oneof({ weight: 5, arbitrary: payout }, payment, refund, move),
      onDuplicate: fc.constantFrom("reject", "reject-if-unknown", "send"),
      isReferenceMade: fc.boolean(),
      found: fc.option(found, { nil: undefined, freq: 3 }),
      secret,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("record" as const),
      place,
      outcome,
      release: fc.boolean(),
    }),
  },
  fc.record({ kind: fc.constant("learn" as const), place, outcome, isOld: fc.boolean() }),
  fc.record({ kind: fc.constant("resume" as const), place, secret }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("row" as const), place, row: fc.nat(3) }) },
  fc.constant({ kind: "look" as const }),
);
const maybe = <Value>(...values: Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const time = maybe("2026-11-20T10:00:00.001Z", "2026-11-20T10:12:00.001Z", "2026-11-21T11:00:00Z");

const row = fc.record({
  reference: fc.constantFrom("A", "B", "C", "D", "E", "F-lenden2"),
  amountPaisa: amount,
  recipient: fc.constantFrom("01712345678", "+8801712345678", "01812345678"),
  methodId: fc.constantFrom("m1", "m2"),
});
const file: fc.Arbitrary<PlannedFile> = fc
  .record({
    name: fc.constantFrom("a.csv", "b.csv", "own"),
    fileName: fc.constantFrom("a.csv", "b.csv"),
    hash: fc.constantFrom("h1", "h2"),
    rows: fc.uniqueArray(row, { minLength: 1, maxLength: 3, selector: (one) => one.reference }),
  })
  .map(({ rows, ...named }) => {
    const planned = rows.map((one, index) => plannedRow(index + 1, one));
    const text = rows.map(({ amountPaisa, ...one }) => `${JSON.stringify(one)} ${amountPaisa}`);
    // Files with the same start get the same ID, if it is free.
    const identity = `00${hash("sha256", `${named.name} ${text}`).slice(2)}`.replace(
      /^.{12}/,
      "0".repeat(12),
    );
    return { ...named, identity, columns: ["ref"], method: "bkash", rows: planned };
  });
const batch: fc.Arbitrary<BatchCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("create" as const), file: fc.nat(3) }),
  },
  fc.record({ kind: fc.constant("claim" as const), file: fc.nat(3) }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("plan", "claim-planned", "release", "cancel"),
      place,
    }),
  },
  fc.record({
    kind: fc.constant("accept" as const),
    place,
    lines: fc.subarray([2, 3, 9], { minLength: 1 }),
  }),
);

const handler = fc.constantFrom("http://a/", "http://b/");
const verdict = fc.constantFrom("verified", "unchecked", "unknown", "differs");
const finding = fc.constantFrom("f1", "f2");
const record: fc.Arbitrary<CheckedRecord> = fc.constant({
  kind: "payout",
  id: "X1",
  claimed: { status: "Completed", amount: null },
  verified: null,
});
const callback: fc.Arbitrary<CallbackCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("keep" as const),
      request: fc.record({
        method: fc.constant("POST"),
        target: fc.constantFrom("/", "/b"),
        headers: fc.constantFrom<Record<string, string>>(
          {},
          { "content-type": "x/y" },
          { "x-other": "1" },
        ),
        body: fc.constantFrom<Uint8Array>(Buffer.from("{}"), Buffer.from([0, 255])),
      }),
      isKnown: fc.boolean(),
    }),
  },
  fc.constant({ kind: "listen" as const }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("schedule" as const),
      place,
      afterMs: fc.constantFrom(0, 5_000, null),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("judge" as const),
      place,
      judged: fc.record({
        verdict,
        explanation: fc.constantFrom(null, "Because."),
        records: fc.array(record, { maxLength: 1 }),
        finding,
      }),
      to: fc.option(handler, { nil: undefined }),
    }),
  },
  fc.record({
    kind: fc.constant("forward" as const),
    place,
    forwarded: fc.record({
      to: handler,
      status: fc.constantFrom(null, 199, 200, 299, 300),
      fault: fc.constantFrom(null, "refused"),
      finding: fc.oneof(finding, fc.constant(null)),
    }),
  }),
  fc.record({
    kind: fc.constant("copy" as const),
    place,
    count: fc.constantFrom(999, 2_499, 4_999),
  }),
);

const listed: fc.Arbitrary<Step["listed"]> = fc.record({
  kind: maybe<Kind>("payout", "payment", "refund"),
  filter: fc.record({
    status: maybe("Completed", "Cancelled"),
    states: maybe<State[]>(["INTENT", "UNCERTAIN"], ["REFUSED"], ["CONFLICT"], ["CONFIRMED"]),
    since: time,
    until: time,
    openedUntil: time,
    bookedSince: time,
    bookedUntil: time,
    minPaisa: maybe(600n),
    maxPaisa: maybe(500n),
    reference: maybe("A", "B"),
    recipient: maybe("01712345678", "7"),
    method: maybe({ name: "none", ids: ["m1"] }),
    oldestFirst: fc.boolean(),
    limit: fc.constantFrom(1, 3, 1_000),
  }),
  isOfBatch: fc.boolean(),
});
const asked: fc.Arbitrary<Asked> = fc.record({
  place,
  file: fc.nat(3),
  traits: fc.subarray(["id", "hash", "identity", "size", "name"]),
  set: fc.constantFrom("all", "unknown", "unsent", "open", "used", "unfinished", "differing"),
  most: fc.constantFrom(1, 2, 1_000),
  isExcept: fc.boolean(),
  isCancelled: maybe(true, false),
  to: fc.option(handler, { nil: undefined }),
  verdict: maybe("verified", "unknown"),
  since: time,
});
const limit = fc.oneof(
  fc.record({
    name: fc.constantFrom(...amountLimits),
    // Amounts are 5 and 6 taka.
    value: fc.constantFrom("0", "500", "1100", "1700", "2300", null),
  }),
  fc.record({ name: fc.constant("repeat" as const), value: fc.constantFrom("reject", null) }),
);
const hourMs = 60 * 60_000;
const step: fc.Arbitrary<Step> = fc.record({
  listed,
  asked,
  isLost: fc.boolean(),
  batch: fc.option(batch, { nil: undefined, freq: 3 }),
  callback: fc.option(callback, { nil: undefined, freq: 2 }),
  limit: fc.option(limit, { nil: undefined, freq: 3 }),
  worker: fc.nat(4),
  commands: fc.array(command, { minLength: 1, maxLength: 4 }),
  laterMs: fc.constantFrom(1, 1, 60_000, 11 * 60_000, 12 * hourMs, 24 * hourMs, 25 * hourMs),
  dies: fc.option(fc.nat(4), { nil: undefined, freq: 6 }),
});

/** A history of at most so many steps. */
export function historyOf(maxSteps: number): fc.Arbitrary<History> {
  return fc.record({
    files: fc.array(file, { minLength: 4, maxLength: 4 }),
    steps: fc.array(step, { minLength: 1, maxLength: maxSteps, size: "max" }),
  });
}
