import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Change } from "../../src/ledger/changes.ts";
import { withCommitQueue } from "../../src/ledger/commit-queue.ts";
import { letGo, memoryLedger, payout } from "./small-ledger.ts";

const confirmed = { state: "CONFIRMED", sent: true } as const;

test("commits changes of one moment together, and answers each caller with its own", async () => {
  const { queue, commits } = await queued();
  const [[first]] = await Promise.all([queue.claim([payout("A")]), queue.claim([payout("B")])]);
  if (!first) throw new Error("a claim has an answer");

  const [found, outcome, others] = await Promise.all([
    queue.claim([payout("C"), payout("A")]),
    queue.settle(first.operation, { ...confirmed, remoteId: "PO1" }, letGo),
    queue.claim([payout("D")]),
  ]);

  expect(commits.map((changes) => changes.length)).toEqual([2, 4]);
  expect(outcome).toBeUndefined();
  const answers = [...found, ...others].map(({ kind, operation }) => [kind, operation.reference]);
  expect(answers).toEqual([
    ["new", "C"],
    ["known", "A"],
    ["new", "D"],
  ]);
});

test("names the operation that has the ID of an outcome in the same commit", async () => {
  const { queue } = await queued();
  const claims = await queue.claim([payout("A"), payout("B")]);
  const outcome = { ...confirmed, remoteId: "PO1" };
  const answers = await Promise.all(
    claims.map(({ operation }) => queue.settle(operation, outcome, letGo)),
  );
  expect(answers).toEqual([undefined, { kind: "taken", by: claims[0]?.operation.id }]);
});

test("I1: no caller continues before its commit, and changes that arrive meanwhile share the next", async () => {
  const { queue, commits, finish } = await queued({ isSlow: true });
  const done: string[] = [];
  const claims = (names: string[]) =>
    names.map(async (name) => {
      await queue.claim([payout(name)]);
      done.push(name);
    });
  const first = claims(["A"]);
  await turn();
  const later = claims(["B", "C"]);
  await turn();
  expect([commits.length, done]).toEqual([1, []]);
  finish();
  await Promise.all(first);
  await turn();
  expect([commits.map((changes) => changes.length), done]).toEqual([[1, 2], ["A"]]);
  finish();
  await Promise.all(later);
  expect(done).toEqual(["A", "B", "C"]);
});

test("I4: accepts nothing after a failed commit, neither what waits nor what comes later", async () => {
  const { queue, commits, finish } = await queued({ isSlow: true });
  const error = new Error("the disk is full");
  const first = queue.claim([payout("A")]);
  await turn();
  const waiting = queue.claim([payout("B")]);
  finish(error);
  const ends = await Promise.allSettled([first, waiting]);
  const later = await Promise.allSettled([queue.claim([payout("C")])]);
  expect([...ends, ...later]).toEqual(
    Array.from({ length: 3 }, () => ({ status: "rejected", reason: error })),
  );
  await turn();
  expect(commits).toHaveLength(1);
});

/** A queue on a ledger in memory, and its commits; slow ones end when the test calls `finish`. */
async function queued({ isSlow = false } = {}) {
  const { ledger } = await memoryLedger();
  const commits: Change[][] = [];
  let finish = (_?: Error): void => {};
  const apply: typeof ledger.apply = (changes) => {
    commits.push(changes);
    return ledger.apply(changes);
  };
  const slowly = async (changes: Change[]) => {
    commits.push(changes);
    await new Promise<void>((resolve, reject) => {
      finish = (error) => (error ? reject(error) : resolve());
    });
    return ledger.apply(changes);
  };
  const queue = withCommitQueue({ ...ledger, apply: isSlow ? slowly : apply }, setImmediate);
  return { queue, commits, finish: (error?: Error) => finish(error) };
}
