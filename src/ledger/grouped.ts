import type { Failure } from "../failure.ts";
import type { Change, Changed } from "./changes.ts";
import type { Claim } from "./claiming.ts";
import type { Ledger } from "./ledger.ts";
import type { Taken } from "./settling.ts";

type Maybe<Value> = Value | Promise<Value>;

/** A ledger whose changes may take a moment, because they share a commit with others. */
export interface SharedLedger extends Omit<Ledger, "claim" | "settle"> {
  claim(...asked: Parameters<Ledger["claim"]>): Maybe<Claim[]>;
  settle(...asked: Parameters<Ledger["settle"]>): Maybe<Taken | undefined>;
}

/**
 * Makes changes in one commit; durable when it resolves, and none of them made when it rejects. Groups
 * are committed in their order, and after one that failed none is.
 */
export interface Commit {
  (changes: Change[]): Promise<Changed[]>;
  /** Why it can make no change any longer, also before anybody asks for one (I4). */
  fault?(): Failure | undefined;
}

/** Changes that were asked for together. */
interface Waiting {
  changes: Change[];
  done: (changed: Changed[]) => void;
  fail: (error: unknown) => void;
}

/** So many changes are worth a group of their own while another one is brought to the disk. */
const worthGettingReady = 32;

/**
 * The same ledger for many at once: what they change at the same moment, or while a commit is under
 * way, is one commit, durable before any of them goes on: a commit costs more than all the
 * changes in it. After a failed commit it takes nothing any longer (I4).
 *
 * @param commit is given the next group while it is at one, so that it need not wait for us
 * @param soon runs something after all that can run at this moment
 */
export function grouped(
  ledger: Ledger,
  commit: Commit,
  soon: (flush: () => void) => void,
): SharedLedger {
  const waiting: Waiting[] = [];
  let underWay = 0;
  let isDue = false;
  let broken: { error: unknown } | undefined;

  const commitAll = async (group: Waiting[]): Promise<void> => {
    underWay += 1;
    try {
      const changed = (await commit(group.flatMap(({ changes }) => changes))).values();
      for (const { changes, done } of group) done(changes.map(() => changed.next().value));
    } catch (error) {
      broken = { error };
      for (const { fail } of [...group, ...waiting.splice(0)]) fail(error);
    }
    underWay -= 1;
    flush();
  };
  const flush = (): void => {
    isDue = false;
    const least = [1, worthGettingReady][underWay] ?? Number.POSITIVE_INFINITY;
    const count = waiting.reduce((sum, { changes }) => sum + changes.length, 0);
    if (count >= least) void commitAll(waiting.splice(0));
  };
  const shared = (changes: Change[]): Promise<Changed[]> =>
    new Promise((done, fail) => {
      if (broken) return fail(broken.error);
      waiting.push({ changes, done, fail });
      if (isDue) return;
      isDue = true;
      soon(flush);
    });

  return {
    ...ledger,
    claim: async (intents) => {
      const claims = await shared(intents.map((intent) => ({ kind: "claim", intent })));
      return claims.map((claim) => {
        if (claim && claim.kind !== "taken") return claim;
        throw new Error("the ledger gave no answer to a claim");
      });
    },
    settle: async ({ number }, outcome, { letGo }) => {
      const [taken] = await shared([{ kind: "settle", number, outcome, letGo }]);
      return taken?.kind === "taken" ? taken : undefined;
    },
  };
}
