import type { Claim, Ledger } from "./ledger.ts";

type Maybe<Value> = Value | Promise<Value>;

/** A ledger whose changes may take a moment, because they share a commit with others. */
export interface SharedLedger extends Omit<Ledger, "claim" | "settle"> {
  claim(...asked: Parameters<Ledger["claim"]>): Maybe<Claim>;
  settle(...asked: Parameters<Ledger["settle"]>): Maybe<void>;
}

/**
 * The same ledger for many at once: what they change in the same turn is one commit, durable
 * before any of them goes on. Bringing a commit to the disk costs more than all the changes in it.
 * After a failed commit it takes nothing any longer (I4).
 *
 * @param soon runs something once everything that can go on at this moment did
 */
export function grouped(ledger: Ledger, soon: (flush: () => void) => void): SharedLedger {
  interface Change {
    /** Makes the change, and gives what to do once it is durable. */
    make: () => () => void;
    fail: (error: unknown) => void;
  }
  let waiting: Change[] = [];
  let broken: { error: unknown } | undefined;

  const flush = (): void => {
    const changes = waiting;
    waiting = [];
    try {
      for (const done of ledger.together(() => changes.map(({ make }) => make()))) done();
    } catch (error) {
      broken = { error };
      for (const { fail } of changes) fail(error);
    }
  };

  const shared = <Result>(change: () => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (broken) return reject(broken.error);
      if (waiting.length === 0) soon(flush);
      waiting.push({
        make: () => {
          const result = change();
          return () => resolve(result);
        },
        fail: reject,
      });
    });

  return {
    ...ledger,
    claim: (intent) => shared(() => ledger.claim(intent)),
    settle: (operation, outcome, how) => shared(() => ledger.settle(operation, outcome, how)),
  };
}
