import fc from "fast-check";
import { expect, test } from "vitest";
import { differingCode, type State, states, testCommand } from "../../src/domain/state.ts";
import type { Kind, Operation } from "../../src/ledger/operation.ts";
import { createJournal } from "../../src/report/hledger.ts";
import {
  type Bucket,
  createReport,
  groupings,
  labelOf,
  type Sums,
} from "../../src/report/report.ts";
import { paid } from "../reconcile/operations.ts";

const kinds: Kind[] = ["payment", "payout", "refund", "cancel", "trigger"];
const buckets: Bucket[] = [
  ...(["completed", "differing", "noLongerCompleted"] as const),
  ...(["unknown", "inProgress", "notCounted"] as const),
];
const since = "2026-11-01T00:00:00.000Z";
const day = { noInvalidDate: true, min: new Date("2026-10-01"), max: new Date("2026-12-31") };
const time = fc.date(day).map((date) => date.toISOString());

const operation: fc.Arbitrary<Operation> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    state: fc.constantFrom(...states),
    code: fc.constantFrom(null, differingCode),
    status: fc.constantFrom(null, "Processing", "Completed", "Cancelled", "Reviewing"),
    amountPaisa: fc.oneof({ weight: 20, arbitrary: fc.bigInt(1n, 10n ** 14n) }, fc.constant(null)),
    command: fc.constantFrom("payout send", "api", testCommand),
    account: fc.constantFrom("shop", "branch"),
    environment: fc.constantFrom("sandbox", "production"),
    createdAt: time,
    completedAt: fc.option(time),
    methodName: fc.constantFrom(null, "bkash", "Nagad"),
    asked: fc.record(
      {
        paymentMethodId: fc.constantFrom("m1", "m2"),
        recipientNumber: fc.constantFrom("01712345678", "+8801712345678", "01812345678"),
        accountNumber: fc.constantFrom("01712345678", "AC-7"),
        recipientName: fc.constantFrom("Rahima", "Karim"),
      },
      { requiredKeys: [] },
    ),
    user: fc.constantFrom("ann", "bob"),
    profile: fc.constantFrom("", "shop"),
  })
  .map((one) => ({ ...paid, ...one }));

/** What an operation counts as, by its state or, once it is accepted, by its status. */
const meanings: Record<State, Bucket | undefined> = {
  INTENT: "unknown",
  UNCERTAIN: "unknown",
  CONFLICT: "unknown",
  NOT_SENT: "notCounted",
  REFUSED: "notCounted",
  CONFIRMED: undefined,
};

function meaningOf({ kind, command, state, status, amountPaisa, ...one }: Operation): Bucket {
  if (command === testCommand || kind === "cancel" || kind === "trigger") return "notCounted";
  if (state === "CONFLICT" && one.code === differingCode) return "differing";
  const isPaid = status === "Completed";
  const wasPaid = (one.completedAt ?? "") >= since;
  if (state === "CONFIRMED" && wasPaid && !isPaid) return "noLongerCompleted";
  const accepted = isPaid ? (amountPaisa === null ? "unknown" : "completed") : "inProgress";
  return meanings[state] ?? (status === "Cancelled" ? "notCounted" : accepted);
}

function added(sums: Sums[], cell: keyof Sums) {
  return sums.reduce(
    ({ count, paisa }, { [cell]: one = { count: 0, paisa: 0n } }) => {
      return { count: count + one.count, paisa: paisa + one.paisa };
    },
    { count: 0, paisa: 0n },
  );
}

test("sums add up to the paisa whatever the grouping, and each operation is in exactly one", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation), fc.constantFrom(...groupings), async (operations, by) => {
      const report = createReport({ by, since, until: undefined, zone: "Asia/Dhaka" });
      for (const one of operations) await report.add(one);

      const read = await report.accounts();
      const accounts = read.map((one) => ({ ...one, groups: [...one.groups] }));
      const found = accounts.map(({ environment, account }) => `${environment} ${account}`);
      expect(new Set(found).size).toBe(found.length);
      for (const kind of kinds)
        for (const bucket of buckets)
          for (const { account, environment, groups, total } of accounts) {
            const own = operations.filter(
              (one) =>
                one.account === account &&
                one.environment === environment &&
                one.kind === kind &&
                meaningOf(one) === bucket,
            );
            const isProved = bucket !== "differing";
            const paisa = own.reduce(
              (sum, { amountPaisa }) => sum + (isProved ? (amountPaisa ?? 0n) : 0n),
              0n,
            );
            const cell = `${bucket} ${kind}` as const;
            expect(added([total], cell)).toEqual({ count: own.length, paisa });
            const parts = groups.map(({ sums }) => sums);
            expect(added(parts, cell)).toEqual({ count: own.length, paisa });
          }
      const counted = accounts.flatMap(({ total }) => Object.values(total));
      expect(counted.reduce((all, { count }) => all + count, 0)).toBe(operations.length);
    }),
  );
});

/** The keys of groups with what was completed, in their order. */
async function groupsOf(
  by: (typeof groupings)[number],
  changes: Partial<Operation>[],
  zone = "UTC",
) {
  const scope = { by, since, until: undefined, zone };
  const report = createReport(scope);
  for (const change of changes) await report.add({ ...paid, ...change });
  return (await report.accounts()).flatMap(({ groups }) => [...groups]);
}

test.each([
  ["Asia/Dhaka", "2026-11-20"],
  ["UTC", "2026-11-19"],
  ["America/New_York", "2026-11-19"],
])("a day is that of the completion, in the time zone %s", async (zone, key) => {
  const changes = [{ completedAt: "2026-11-19T18:00:00.000Z" }];
  expect(await groupsOf("day", changes, zone)).toMatchObject([{ key }]);
});

test("days are in order, after what is open from before the period", async () => {
  const open = { state: "UNCERTAIN", completedAt: null } as const;
  const changes = [
    { completedAt: "2026-11-20T00:00:00.000Z" },
    { ...open, createdAt: "2026-10-31T23:59:59.999Z" },
    { completedAt: "2026-11-02T00:00:00.000Z" },
  ];
  expect((await groupsOf("day", changes)).map(({ key }) => key)).toEqual([
    ...["earlier", "2026-11-02", "2026-11-20"],
  ]);
});

test("the largest amount is first, and a recipient is one however the number is written", async () => {
  const to = (recipientNumber: string) => ({ asked: { recipientNumber, recipientName: "Rahima" } });
  const refund = { kind: "refund", asked: { accountNumber: "AC-7" } } as const;
  const changes = [
    { ...to("01712345678"), amountPaisa: 300n },
    { ...refund, amountPaisa: 500n },
    { kind: "payment", asked: {}, amountPaisa: 1n } as const,
    { ...to("+880 1712-345678"), amountPaisa: 300n },
  ];
  expect(await groupsOf("recipient", changes)).toMatchObject([
    { key: "01712345678", name: "Rahima", sums: { "completed payout": { count: 2, paisa: 600n } } },
    { key: "AC-7", name: null },
    { key: "", name: null },
  ]);
});

test("groups that do not fit in memory have the same sums, names and order", async () => {
  const many = 10_500;
  const to = (at: number) => `017${10_000_000 + at}`;
  const changes = Array.from({ length: 2 * many }, (_, at) => {
    const name = at < many ? { recipientName: `first ${at}` } : {};
    const renamed = at === 2 * many - 1 ? { recipientName: "newest" } : {};
    const asked = { recipientNumber: to(at % many), ...name, ...renamed };
    return { asked, amountPaisa: BigInt(1 + (at % many)) * 10n ** 13n };
  });
  const groups = await groupsOf("recipient", changes);
  const expected = Array.from({ length: many }, (_, at) => ({
    key: to(at),
    name: at === many - 1 ? "newest" : `first ${at}`,
    sums: { "completed payout": { count: 2, paisa: BigInt(2 * (1 + at)) * 10n ** 13n } },
  }));
  expect(groups).toEqual(expected.reverse());
});

test("a method is one by its ID, with the newest name", async () => {
  const asked = { paymentMethodId: "m1" };
  const changes = ["bkash", "bKash", null].map((methodName) => ({ asked, methodName }));
  expect(await groupsOf("method", changes)).toMatchObject([{ key: "m1", name: "bKash" }]);
});

test("an operation without the ID of its method joins the ID that has its name", async () => {
  const asked = { paymentMethodId: "m1" };
  const changes = [
    { asked: {}, methodName: "BKASH" },
    { asked, methodName: "bKash" },
    { asked: {}, methodName: "Nagad" },
    { asked: {}, methodName: "nagad" },
    { asked: {}, methodName: null },
  ];
  const two = { "completed payout": { count: 2, paisa: 1000n } };
  expect(await groupsOf("method", changes)).toMatchObject([
    { key: "m1", name: "bKash", sums: two },
    { key: "nagad", name: "nagad", sums: two },
    { key: "", name: null },
  ]);
});

test("a profile may have the name of the key for earlier days", () => {
  const scope = { since: "2026-11-01T00:00:00.000Z", until: undefined, zone: "UTC" };
  const group = { key: "earlier", name: null, sums: {} };
  expect(labelOf(group, { ...scope, by: "profile" })).toBe("earlier");
  expect(labelOf(group, { ...scope, by: "day" })).toBe("before 1 Nov 2026");
});

const injected = "x\n2026-11-29 * Planted  ; y\n    assets:bank  BDT 9\n    expenses:other";

test.each(["id", "remoteId", "account", "environment", "methodName", "batchId", "reference"])(
  "the journal of hledger has as many lines, whatever the %s of an operation contains",
  (field) => {
    const linesWith = (text: string) => {
      const journal = createJournal("UTC");
      const own = { ...paid, completedAt: paid.createdAt, batchId: null, refunds: null };
      const completed = { ...own, state: "CONFIRMED", status: "Completed", [field]: text } as const;
      const entry = journal.entryOf(completed) ?? "";
      journal.entryOf({ ...completed, state: "UNCERTAIN", status: null });
      return [entry, ...journal.end()].join("\n").split("\n");
    };
    const lines = linesWith(injected);
    expect(lines).toHaveLength(linesWith("plain").length);
    expect(lines.join("\n")).toContain("Planted");
  },
);
