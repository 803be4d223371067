import type { Change, Changed } from "./changes.ts";
import type { Claim } from "./claiming.ts";
import type { Ledger } from "./ledger.ts";
import type { Taken } from "./settling.ts";

type Maybe<Value> = Value | Promise<Value>;

/** A ledger whose claims and outcomes may wait for a commit that they share with others. */
export interface SharedLedger extends Omit<Ledger, "apply" | "claim" | "settle"> {
  claim(...request: Parameters<Ledger["claim"]>): Maybe<Claim[]>;
  settle(...request: Parameters<Ledger["settle"]>): Maybe<Taken | undefined>;
}

/** A ledger that applies all changes of a call in one commit, durable when it returns or resolves. */
interface CommittingLedger extends Omit<Ledger, "apply"> {
  apply(changes: Change[]): Maybe<Changed[]>;
}

/** Changes of one caller, who continues only after their commit. */
interface Waiting {
  changes: Change[];
  resolve(answers: Changed[]): void;
  reject(error: unknown): void;
}

/**
 * Queues the changes of many callers. Changes that are requested at the same moment, or while a commit
 * is in progress, share the next commit, because a commit costs more than all the changes in it. Each
 * caller continues after its changes are durable. After a failed commit the queue accepts nothing (I4).
 *
 * @param soon runs something after all that can run at this moment
 */
export function withCommitQueue(
  { apply, ...ledger }: CommittingLedger,
  soon: (work: () => void) => void,
): SharedLedger {
  const waiting: Waiting[] = [];
  let isScheduled = false;
  let failed: { error: unknown } | undefined;

  const commitNext = async (): Promise<void> => {
    const group = waiting.splice(0);
    try {
      const answers = (await apply(group.flatMap(({ changes }) => changes))).values();
      for (const { changes, resolve } of group) resolve(changes.map(() => answers.next().value));
    } catch (error) {
      failed = { error };
      for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
    }
  };
  const commitAll = async (): Promise<void> => {
    while (waiting.length > 0) await commitNext();
    isScheduled = false;
  };
  const request = (changes: Change[]): Promise<Changed[]> =>
    new Promise((resolve, reject) => {
      if (failed) return reject(failed.error);
      waiting.push({ changes, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      soon(() => void commitAll());
    });

  return {
    ...ledger,
    claim: async (intents) => {
      const answers = await request(intents.map((intent) => ({ kind: "claim", intent })));
      return answers.map((answer) => {
        if (answer && answer.kind !== "taken") return answer;
        throw new Error("the ledger gave no answer to a claim");
      });
    },
    settle: async ({ number }, outcome, { letGo }) => {
      const [answer] = await request([{ kind: "settle", number, outcome, letGo }]);
      return answer?.kind === "taken" ? answer : undefined;
    },
  };
}
