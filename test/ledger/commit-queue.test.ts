import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ChangeRequest } from "../../src/ledger/change.ts";
import { withCommitQueue } from "../../src/ledger/commit-queue.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { claim, claimed, payout, record, sealer } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

const confirmed = { state: "CONFIRMED", sent: true } as const;

describeEach(databases, "the queue of commits", ({ share }) => {
  test("commits changes of one moment together, and answers each caller with its own", async () => {
    const { queue, commits } = await queued();
    const [first] = await Promise.all([claimed(queue, payout("A")), claimed(queue, payout("B"))]);
    if (!first) throw new Error("a claim has an answer");

    const [found, outcome, other] = await Promise.all([
      queue.change(
        ["C", "B"].map((name) => ({ kind: "claim", intent: payout(name), onDuplicate, sealer })),
      ),
      record(queue, first, { ...confirmed, remoteId: "PO1" }),
      claim(queue, payout("D")),
    ]);

    expect(commits.map((requests) => requests.length)).toEqual([2, 4]);
    expect(outcome).toMatchObject({ kind: "recorded" });
    expect([...found, other]).toMatchObject([
      { kind: "new", operation: { reference: "C" } },
      { kind: "locked", operation: { reference: "B" } },
      { kind: "new", operation: { reference: "D" } },
    ]);
  });

  test("I1: no caller continues before its commit, and changes that arrive meanwhile share the next", async () => {
    const { queue, commits, finish } = await queued({ isSlow: true });
    const done: string[] = [];
    const claims = (names: string[]) =>
      names.map(async (name) => {
        await claim(queue, payout(name));
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
    expect([commits.map((requests) => requests.length), done]).toEqual([[1, 2], ["A"]]);
    finish();
    await Promise.all(later);
    expect(done).toEqual(["A", "B", "C"]);
  });

  test("I4: accepts nothing after a failed commit, neither what waits nor what comes later", async () => {
    const { queue, commits, finish } = await queued({ isSlow: true });
    const error = new Error("the disk is full");
    const first = claim(queue, payout("A"));
    await turn();
    const waiting = claim(queue, payout("B"));
    finish(error);
    const ends = await Promise.allSettled([first, waiting]);
    const later = await Promise.allSettled([claim(queue, payout("C"))]);
    expect([...ends, ...later]).toEqual(
      Array.from({ length: 3 }, () => ({ status: "rejected", reason: error })),
    );
    await turn();
    expect(commits).toHaveLength(1);
  });

  const onDuplicate = "send" as const;

  /** A queue on a ledger in memory, and its commits; slow ones end when the test calls `finish`. */
  async function queued({ isSlow = false } = {}) {
    const ledger = await (await share()).open();
    const commits: ChangeRequest[][] = [];
    let finish = (_?: Error): void => {};
    const change: Ledger["change"] = async (requests) => {
      commits.push(requests);
      if (isSlow)
        await new Promise<void>((resolve, reject) => {
          finish = (error) => (error ? reject(error) : resolve());
        });
      return ledger.change(requests);
    };
    const queue = withCommitQueue({ ...ledger, change }, setImmediate);
    return { queue, commits, finish: (error?: Error) => finish(error) };
  }
});
