import { expect, test } from "vitest";
import type { Change, Changed } from "../../src/ledger/changes.ts";
import { grouped } from "../../src/ledger/grouped.ts";
import { memoryLedger, payout } from "./small-ledger.ts";

test("what is asked at one moment is one group, and the next is handed over when it is worth it", async () => {
  const { ledger, groups } = await atWork();
  const first = ["A", "B"].map((name) => ledger.claim([payout(name)]));
  await soon();
  expect(groups.sizes()).toEqual([2]);
  const next = named("C", 31).map((name) => ledger.claim([payout(name)]));
  await soon();
  expect(groups.sizes()).toEqual([2]);
  next.push(Promise.resolve(ledger.claim([payout("C-last")])));
  await soon();
  expect(groups.sizes()).toEqual([2, 32]);
  const last = named("D", 40).map((name) => ledger.claim([payout(name)]));
  await soon();
  expect(groups.sizes()).toEqual([2, 32]);
  groups.finish();
  await soon();
  expect(groups.sizes()).toEqual([2, 32, 40]);
  groups.finish();
  groups.finish();
  const claims = await Promise.all([...first, ...next, ...last]);
  expect(claims.flat().every(({ kind }) => kind === "new")).toBe(true);
});

test("few that wait are the next group as soon as the one under way is done", async () => {
  const { ledger, groups } = await atWork();
  const claims = [ledger.claim([payout("A")])];
  await soon();
  claims.push(ledger.claim([payout("B")]));
  await soon();
  expect(groups.sizes()).toEqual([1]);
  groups.finish();
  await soon();
  expect(groups.sizes()).toEqual([1, 1]);
  groups.finish();
  expect((await Promise.all(claims)).flat().map(({ operation }) => operation.reference)).toEqual([
    "A",
    "B",
  ]);
});

test("I4: after a failed commit nothing is taken any longer, neither what waits nor what comes", async () => {
  const { ledger, groups } = await atWork();
  const first = ledger.claim([payout("A")]);
  await soon();
  const waiting = ledger.claim([payout("B")]);
  groups.fail(new Error("the disk is full"));
  const all = await Promise.allSettled([first, waiting, ledger.claim([payout("C")])]);
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(groups.sizes()).toEqual([1]);
});

test("I4: when a group fails, the one that was handed over after it fails too, and nothing comes after", async () => {
  const { ledger, groups } = await atWork();
  const first = ledger.claim([payout("A")]);
  await soon();
  const second = named("B", 32).map((name) => ledger.claim([payout(name)]));
  await soon();
  const third = ledger.claim([payout("C")]);
  groups.fail(new Error("the disk is full"));
  groups.fail(new Error("and after that nothing is taken"));
  const all = await Promise.allSettled([first, ...second, third]);
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(groups.sizes()).toEqual([1, 32]);
});

interface UnderWay {
  changes: Change[];
  resolve(changed: Changed[]): void;
  reject(error: Error): void;
}

/** A shared ledger whose commits end when the test says so. */
async function atWork() {
  const { ledger } = await memoryLedger();
  const sizes: number[] = [];
  const underWay: UnderWay[] = [];
  const commit = (changes: Change[]): Promise<Changed[]> =>
    new Promise((resolve, reject) => {
      sizes.push(changes.length);
      underWay.push({ changes, resolve, reject });
    });
  const groups = {
    sizes: () => sizes,
    finish: () => {
      const group = underWay.shift();
      group?.resolve(ledger.apply(group.changes));
    },
    fail: (error: Error) => underWay.shift()?.reject(error),
  };
  return { ledger: grouped(ledger, commit, (work) => void setImmediate(work)), groups };
}

function named(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${letter}-${index}`);
}

/** After all that a moment brings about. */
async function soon(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
}
