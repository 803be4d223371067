import fc from "fast-check";
import { expect, test } from "vitest";
import type { State } from "../../src/domain/state.ts";
import { differingCode, testCommand } from "../../src/domain/state.ts";
import type { ChangeRequest } from "../../src/ledger/change.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Filter, Intent, Kind, Operation, Outcome } from "../../src/ledger/operation.ts";
import { collect } from "../support/helpers.ts";
import { emptyModel, type Modeled, modelLedger } from "./model.ts";
import { worker } from "./small-ledger.ts";
import { databases, describeEach, type SharedDatabase } from "./stores.ts";

/** A request by the operation's place, because only a run knows its number. */
type Command =
  | {
      kind: "claim";
      intent: Intent;
      onDuplicate: "reject" | "reject-if-unknown" | "send";
      isReferenceMade: boolean;
      found: Outcome | undefined;
    }
  | { kind: "record"; place: number; outcome: Outcome; release: boolean }
  | { kind: "learn"; place: number; outcome: Outcome; isOld: boolean }
  | { kind: "resume"; place: number }
  | { kind: "look" };

interface Step {
  worker: number;
  commands: Command[];
  laterMs: number;
  /** A list that both are asked for afterwards. */
  listed: { kind: Kind | undefined; filter: Filter };
  /** A process that ends before the step. */
  dies: number | undefined;
}

const amount = fc.constantFrom(500n, 600n);
const generated = ["LD-01KASW0000000000000000000Z", "LD-01KASW000000000000000000UZ"];
const payout: fc.Arbitrary<Intent> = fc
  .record({
    // One that lenden generated, and one that only looks like it.
    reference: fc.constantFrom("A", "B", "C", "D", ...generated),
    amountPaisa: amount,
    recipientNumber: fc.constantFrom("01712345678", "+8801712345678", "01812345678"),
    paymentMethodId: fc.constantFrom("m1", "m2"),
  })
  .map(({ reference, amountPaisa, ...asked }) => {
    return { kind: "payout", reference, amountPaisa, target: null, asked };
  });
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
  fc.record({ kind: fc.constant("resume" as const), place }),
  fc.constant({ kind: "look" as const }),
);
const maybe = <Value>(...values: Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const time = maybe("2026-11-20T10:00:00.001Z", "2026-11-20T10:12:00.001Z", "2026-11-21T11:00:00Z");
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
});
const step: fc.Arbitrary<Step> = fc.record({
  listed,
  worker: fc.nat(4),
  commands: fc.array(command, { minLength: 1, maxLength: 4 }),
  laterMs: fc.constantFrom(1, 1, 60_000, 11 * 60_000, 25 * 60 * 60_000),
  dies: fc.option(fc.nat(4), { nil: undefined, freq: 6 }),
});

describeEach(databases, "the ledger", ({ share, tries: { histories, maxSteps } }) => {
  test.each(["sandbox", "production"])(
    "answers every random command as the model does (%s)",
    async (environment) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: maxSteps, size: "max" }),
          async (steps) => agree(steps, environment, await share()),
        ),
        { numRuns: histories },
      );
    },
    600_000,
  );
});

/** Two processes of one key, one of its next key, one of another account, one of an unknown key. */
const owners = [
  // The first one tests the API: its payouts are no duplicates.
  { keyId: "aaaaaa01", account: { joins: "shop", proposed: "shop" } },
  { keyId: "aaaaaa01", account: { joins: "shop", proposed: "shop" } },
  { keyId: "bbbbbb02", account: { joins: "shop", proposed: "shop" } },
  { keyId: "cccccc03", account: { proposed: "shop" } },
  { keyId: "dddddd04", account: {} },
];

async function agree(steps: Step[], environment: string, shared: SharedDatabase): Promise<void> {
  const state = emptyModel();
  let nowMs = Date.parse("2026-11-20T10:00:00Z");
  const ended = new Set<number>();
  let processes = 0;
  /** Opens both as a new process. */
  const start = async (place: number) => {
    processes += 1;
    const pid = processes;
    const ownKey = owners[place];
    if (!ownKey) throw new Error("no such process");
    let [ids, modelIds] = [0, 0];
    const given = {
      owner: { profile: "p", environment, baseUrl: "https://api.example", ...ownKey },
      command: place === 0 ? testCommand : "c",
      holder: { pid, lock: `lock-${pid}`, machine: "m" },
      now: () => nowMs,
      newId: () => {
        ids += 1;
        return `OP-${pid}-${ids}`;
      },
    };
    const modelWorker = worker({
      ...given,
      isAlive: (holder) => !ended.has(holder.pid),
      newId: () => {
        modelIds += 1;
        return `MODEL-${pid}-${modelIds}`;
      },
    });
    return { pid, store: await shared.open(given), model: modelLedger(state, modelWorker) };
  };
  const running = new Map<number, Both>();
  const seen: Operation[][] = [];
  try {
    for (const { worker: place, commands, laterMs, dies, listed } of steps) {
      nowMs += laterMs;
      const dead = dies === undefined || dies === place ? undefined : running.get(dies);
      if (dies !== undefined && dead) {
        running.delete(dies);
        ended.add(dead.pid);
        await shared.end(dead.pid);
      }
      const own = running.get(place) ?? (await start(place));
      running.set(place, own);
      const requests = requestsOf(commands, state.operations, seen);
      seen.push(state.operations);
      // The store reads by the IDs of its own operations, so that answers differ in these alone.
      const answers = await own.store.change(requests);
      const expected = await own.model.change(requests);
      expect(withoutIds(answers)).toEqual(withoutIds(expected));
      await compareReads(own, listed);
    }
    expect(await shared.findings()).toEqual([]);
  } finally {
    await shared.close();
  }
}

interface Both {
  pid: number;
  store: Ledger;
  model: Modeled;
}

function requestsOf(
  commands: Command[],
  operations: Operation[],
  seen: Operation[][],
): ChangeRequest[] {
  return commands.flatMap((one): ChangeRequest[] => {
    if (one.kind === "look") return [];
    if (one.kind === "claim") {
      const { found, ...claim } = one;
      return [{ ...claim, paidPaisa: 1_100n, ...(found && { found }) }];
    }
    const now = operations[one.place % Math.max(operations.length, 1)];
    if (!now) return [];
    const { number } = now;
    if (one.kind === "record")
      return [{ kind: "record", operation: number, outcome: one.outcome, release: one.release }];
    const old = seen.at(-2)?.find((other) => other.number === number) ?? now;
    if (one.kind === "resume") return [{ kind: "resume", seen: now }];
    return [{ kind: "learn", seen: one.isOld ? old : now, outcome: one.outcome }];
  });
}

async function compareReads(
  { store, model }: Both,
  { kind, filter }: Step["listed"],
): Promise<void> {
  const names = ["A", "C", "X1", "X4"];
  const reads = async (ledger: Modeled) => [
    await Promise.all(names.map(ledger.find)),
    await Promise.all(names.map(ledger.findElsewhere)),
    await ledger.ofRecord("payout", "X2"),
    await ledger.ofNames(names),
    await ledger.refundsOf("T1"),
    await ledger.unsettled(),
    [...(await ledger.paidRecipients(["01712345678", "01812345678", "01912345678"]))],
    await ledger.account(),
    await collect(ledger.list(kind, filter)),
    await ledger.count(kind, filter, 2),
    await collect(ledger.list(kind, { recipient: filter.recipient })),
    await collect(ledger.list("payment")),
  ];
  expect(withoutIds(await reads(store))).toEqual(withoutIds(await reads(model)));
}

/**
 * Each store creates its own IDs and names its processes in its own way; everything else is the same, also half
 * of a character.
 */
function withoutIds(value: unknown): unknown {
  const text = JSON.stringify(value, (key, one: unknown) => {
    if (key === "holder" && one !== null)
      return { ...one, lock: undefined, user: undefined, login: undefined };
    return typeof one === "bigint" ? String(one) : one;
  });
  return JSON.parse(text.replace(/(?:OP|MODEL)-\d+-\d+/g, "ID").replaceAll("\\ud83d", "\ufffd"));
}
