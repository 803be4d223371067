import { describe, expect, test } from "vitest";
import { verifyEvents } from "../../src/ledger/integrity.ts";
import { type Ledger, openLedger } from "../../src/ledger/ledger.ts";
import { openDatabase } from "../../src/sqlite/open.ts";
import {
  claim,
  letGo,
  memoryLedger,
  owner,
  payment,
  payout,
  refund,
  worker,
} from "./small-ledger.ts";

describe("a claim", () => {
  test("P4: is new once, held while its process lives, and resumed when that died", async () => {
    const alive = [1];
    const { ledger } = await memoryLedger({}, alive);
    expect(claim(ledger, payout("A"))).toMatchObject({
      kind: "new",
      operation: {
        state: "INTENT",
        reference: "A",
        attempts: 0,
        amountPaisa: 500n,
        asked: { to: "x" },
      },
    });
    expect(claim(ledger, payout("A"))).toMatchObject({
      kind: "held",
      by: { pid: 1, machine: "m" },
    });
    alive.pop();
    expect(claim(ledger, payout("A"))).toMatchObject({ kind: "resumed" });
  });

  test("P4: is held by whoever resumed it, no longer by who died", async () => {
    const database = await openDatabase(":memory:");
    const alive = [1];
    const first = openLedger(database, worker({}, alive));
    const second = openLedger(
      database,
      worker({ holder: { pid: 2, lock: "1", machine: "m" } }, alive),
    );
    claim(first, payout("A"));
    alive[0] = 2;
    expect(claim(second, payout("A")).kind).toBe("resumed");
    expect(claim(first, payout("A"))).toMatchObject({ kind: "held", by: { pid: 2 } });
  });

  test("P6: of another fingerprint is another payout, for ever, whatever became of the first", async () => {
    const { ledger } = await memoryLedger();
    const claimed = claim(ledger, payout("A"));
    expect(claim(ledger, payout("A", "other"))).toMatchObject({
      kind: "other",
      operation: { reference: "A" },
    });
    for (const state of ["REFUSED", "NOT_SENT", "UNCERTAIN", "CONFIRMED", "CONFLICT"] as const) {
      ledger.settle(claimed.operation, { state, sent: true }, letGo);
      expect(claim(ledger, payout("A", "other")).kind).toBe("other");
    }
  });

  test.each([
    ["INTENT", undefined, "resumed"],
    ["NOT_SENT", undefined, "resumed"],
    ["UNCERTAIN", undefined, "resumed"],
    ["REFUSED", "access", "resumed"],
    ["REFUSED", "refused", "known"],
    ["CONFLICT", "conflict", "known"],
    ["CONFIRMED", undefined, "known"],
  ] as const)("P5, P17: that ended %s (%s) is %s", async (state, code, kind) => {
    const { ledger } = await memoryLedger();
    const { operation } = claim(ledger, payout("A"));
    ledger.settle(operation, { state, ...(code ? { code } : {}), sent: true }, letGo);
    expect(claim(ledger, payout("A")).kind).toBe(kind);
  });

  test("of the same reference by another account is an operation of its own", async () => {
    const database = await openDatabase(":memory:");
    const ledgers = ["key", "other"].map((keyId) =>
      openLedger(database, worker({ owner: { ...owner, keyId } })),
    );
    expect(ledgers.map((ledger) => claim(ledger, payout("A")).kind)).toEqual(["new", "new"]);
    expect(ledgers.map((ledger) => ledger.find("A")?.id)).toEqual(
      ledgers.map((ledger) => ledger.latest(1)?.id),
    );
  });
});

test("settling keeps what it is not told again, counts attempts alone, and lets go only when told", async () => {
  const { ledger } = await memoryLedger();
  const { operation } = claim(ledger, payout("A"));
  ledger.settle(operation, { state: "UNCERTAIN", sent: true, message: "lost" }, { letGo: false });
  expect(ledger.find(operation.id)).toMatchObject({
    state: "UNCERTAIN",
    attempts: 1,
    message: "lost",
    holder: { pid: 1 },
  });
  ledger.settle(
    operation,
    { state: "CONFIRMED", sent: true, remoteId: "PO1", status: "Processing" },
    letGo,
  );
  expect(ledger.find(operation.id)).toMatchObject({
    state: "CONFIRMED",
    attempts: 2,
    message: null,
    holder: null,
    remoteId: "PO1",
  });
  ledger.settle(operation, { state: "CONFIRMED", status: "Completed" }, letGo);
  expect(ledger.find(operation.id)).toMatchObject({
    attempts: 2,
    remoteId: "PO1",
    status: "Completed",
  });
  expect(ledger.historyOf(operation).map(({ event }) => event)).toEqual([
    "intent",
    "attempt",
    "attempt",
    "look",
  ]);
  expect(ledger.historyOf(operation)[1]).toMatchObject({
    data: { state: "UNCERTAIN", message: "lost" },
  });
});

test("beginning sees what was there of the same target or request, and a refusal leaves nothing behind", async () => {
  const { database, ledger } = await memoryLedger();
  const seen: (string | null)[][] = [];
  const note = (before: { target: string | null; fingerprint: string }[]) =>
    void seen.push(before.map(({ target, fingerprint }) => target ?? fingerprint));
  for (const intent of [
    payment("a"),
    payment("b"),
    payment("a"),
    refund("TX1"),
    refund("TX2"),
    refund("TX1"),
  ])
    ledger.begin(intent, note);
  expect(seen).toEqual([[], [], ["a"], [], [], ["TX1"]]);
  const forbid = () => {
    throw new Error("no");
  };
  expect(() => ledger.begin(payment("c"), forbid)).toThrow("no");
  expect([...ledger.all()]).toHaveLength(6);
  expect(verifyEvents(database)).toEqual({ events: 7, brokenAt: null, findings: [] });
});

test("listing, newest, latest and find see one account's operations alone, newest first", async () => {
  const { database, ledger } = await memoryLedger();
  const other = openLedger(database, worker({ owner: { ...owner, baseUrl: "http://b" } }));
  const confirm = (of: Ledger, reference: string, remoteId: string, status: string) =>
    of.settle(
      claim(of, payout(reference)).operation,
      { state: "CONFIRMED", remoteId, status, sent: true },
      letGo,
    );
  confirm(ledger, "A", "PO1", "Completed");
  confirm(other, "X", "PO9", "Completed");
  confirm(ledger, "B", "PO2", "Processing");
  claim(ledger, payout("C"));
  ledger.begin(payment("p"), () => {});
  const refs = (filter: object) =>
    ledger.list("payout", { limit: 50, ...filter }).map(({ reference }) => reference);
  expect(refs({})).toEqual(["C", "B", "A"]);
  expect(refs({ limit: 2 })).toEqual(["C", "B"]);
  expect(refs({ status: "Completed" })).toEqual(["A"]);
  const second = ledger.find("B")?.createdAt ?? "";
  expect(refs({ since: second })).toEqual(["C", "B"]);
  expect(refs({ until: second })).toEqual(["B", "A"]);
  expect(refs({ since: second, until: second, status: "Processing" })).toEqual(["B"]);
  expect([1, 2, 3].map((place) => ledger.newest("payout", place)?.remoteId)).toEqual([
    "PO2",
    "PO1",
    undefined,
  ]);
  expect([1, 2].map((place) => ledger.latest(place)?.kind)).toEqual(["payment", "payout"]);
  const found = ledger.find("A");
  expect([ledger.find("PO1"), ledger.find(found?.id ?? "")]).toEqual([found, found]);
  expect([ledger.find("X"), ledger.find("PO9"), ledger.find("")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(ledger.unsettled().map(({ reference, kind }) => reference ?? kind)).toEqual([
    "C",
    "payment",
  ]);
});

test("all operations come a page at a time, each once", async () => {
  const { ledger } = await memoryLedger();
  for (let index = 0; index < 1_203; index += 1) ledger.begin(payment(`${index}`), () => {});
  const numbers = [...ledger.all()].map(({ number }) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 1_203 }, (_, index) => index + 1));
});

describe("I10: an id of the API belongs to one operation", () => {
  const confirmed = (remoteId: string) => ({ state: "CONFIRMED", remoteId, sent: true }) as const;
  const two = async (given: Parameters<typeof memoryLedger>[0] = {}) => {
    const { database, ledger } = await memoryLedger(given);
    const [one, other] = ["A", "B"].map((name) => claim(ledger, payout(name)).operation);
    if (!one || !other) throw new Error("a claim has an operation");
    return { database, ledger, one, other };
  };

  test("one that another payout has is not recorded, and the outcome is unknown", async () => {
    const { database, ledger, one, other } = await two();
    expect(ledger.settle(one, confirmed("PO1"), letGo)).toBeUndefined();
    expect(ledger.settle(other, confirmed("PO1"), letGo)).toEqual({ kind: "taken", by: one.id });
    expect(ledger.find("B")).toMatchObject({ state: "UNCERTAIN", remoteId: null });
    expect(ledger.settle(one, confirmed("PO1"), letGo)).toBeUndefined();
    expect(ledger.settle(other, confirmed("PO2"), letGo)).toBeUndefined();
    expect(ledger.find("B")).toMatchObject({ state: "CONFIRMED", remoteId: "PO2" });
    expect(verifyEvents(database).findings).toEqual([]);
  });

  test("nor is it of two payouts that are settled in one change", async () => {
    const { ledger, one, other } = await two();
    const changes = [one, other].map(({ number }) => ({
      ...{ kind: "settle" as const, number, outcome: confirmed("PO1") },
      ...letGo,
    }));
    expect(ledger.apply(changes)).toEqual([undefined, { kind: "taken", by: one.id }]);
    expect(ledger.find("B")).toMatchObject({ state: "UNCERTAIN", remoteId: null });
  });

  test("nor is it learned", async () => {
    const { ledger, one, other } = await two();
    ledger.settle(one, confirmed("PO1"), letGo);
    ledger.settle(other, { state: "UNCERTAIN", sent: true }, letGo);
    const read = ledger.find("B");
    if (!read) throw new Error("the ledger lost a payout");
    expect(ledger.learn(read, confirmed("PO1"))).toMatchObject({ isWritten: false });
    expect(ledger.find("B")).toMatchObject({ state: "UNCERTAIN", remoteId: null });
  });

  test("but a sandbox on this machine gives it again after a restart", async () => {
    const { ledger, one, other } = await two({
      owner: { ...owner, baseUrl: "http://127.0.0.1:4242" },
    });
    ledger.settle(one, confirmed("PO1"), letGo);
    expect(ledger.settle(other, confirmed("PO1"), letGo)).toBeUndefined();
  });
});
