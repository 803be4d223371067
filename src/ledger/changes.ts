import type { Database } from "../sqlite/database.ts";
import { openBeginning } from "./beginning.ts";
import { type Claim, openClaiming } from "./claiming.ts";
import type { History } from "./history.ts";
import type { Intent, Operation, Outcome, ReferencedIntent } from "./operation.ts";
import { openSelectOfService } from "./select.ts";
import { openSettling, type Settled, type Taken } from "./settling.ts";
import type { Similar } from "./similar.ts";
import type { Worker } from "./worker.ts";

/** A change that can share a commit with others. */
export type Change = { kind: "claim"; intent: ReferencedIntent } | ({ kind: "settle" } & Settled);
/** What came of it: a claim has an answer, and so has an id that another operation has. */
export type Changed = Claim | Taken | undefined;

/** An operation as it is now, and whether the outcome was recorded. */
export interface Learned {
  isWritten: boolean;
  operation: Operation;
}

interface Parts {
  history: History;
  similar: Similar;
}

/** All that changes operations. Every change is one transaction, durable when it returns. */
export function openChanges(database: Database, worker: Worker, { history, similar }: Parts) {
  const begin = openBeginning(database, worker, history);
  const { claim, take, holderOf } = openClaiming(database, worker, history);
  const { settle, holderOfId } = openSettling(database, worker, history);
  const byNumber = openSelectOfService(database, worker.owner)("AND number = ?");

  /** What is let go of is free for what is claimed. */
  function apply(changes: Change[]): Changed[] {
    const taken = settle(changes.filter((change) => change.kind === "settle")).values();
    const intents = changes.flatMap((one) => (one.kind === "claim" ? [one.intent] : []));
    const claims = claimAll(intents).values();
    return changes.map(({ kind }) => (kind === "claim" ? claims : taken).next().value);
  }

  function claimAll(intents: ReferencedIntent[]): Claim[] {
    const begun = begin(intents);
    return intents.map((intent, index) => claim(intent, begun[index]));
  }

  /** Whether it is as it was when it was read, and nobody works on it. */
  function asRead(read: Operation): { isSame: boolean; operation: Operation } {
    const operation = byNumber.first(read.number) ?? read;
    const hasMoved = operation.state !== read.state || operation.updatedAt !== read.updatedAt;
    return { isSame: !hasMoved && !holderOf(operation), operation };
  }

  return {
    /**
     * Writes down an intent that has no reference. `check` sees what there was before (of the same
     * target, or the same request) in the same transaction, and throws to forbid it.
     */
    begin: (intent: Intent, check: (before: Operation[]) => void): Operation =>
      database.transaction(() => {
        check(similar.similarTo(intent));
        const [operation] = begin([intent]);
        if (!operation) throw new Error("the ledger made an id that it has already");
        return operation;
      }),

    /**
     * Claims the reference of a single payout. `check` sees the claim inside the same transaction, so that
     * two processes cannot both pass it; it throws to reject the claim, and nothing is written then.
     */
    claimChecked: (intent: ReferencedIntent, check: (claim: Claim) => void): Claim =>
      database.transaction(() => {
        const [claim] = claimAll([intent]);
        if (!claim) throw new Error("the ledger gave no answer to a claim");
        check(claim);
        return claim;
      }),

    /** Asks for references, each for itself: one process at a time, one fingerprint for ever (I2, I3). */
    claim: (intents: ReferencedIntent[]): Claim[] => database.transaction(() => claimAll(intents)),

    holderOf,

    /** Fails where others can no longer see this process: nothing may go out of what it holds. */
    assertSeen: (): void => worker.assertSeen(),

    /**
     * Writes down what came of an attempt. `letGo`: nobody works on it any longer. An id that another
     * operation has is not recorded (I10): then the outcome is unknown, and the other one is given.
     */
    settle: (
      { number }: Operation,
      outcome: Outcome,
      { letGo }: { letGo: boolean },
    ): Taken | undefined => database.transaction(() => settle([{ number, outcome, letGo }])[0]),

    ...openLearning(database, { asRead, settle, holderOfId }),

    /**
     * Takes an operation in doubt for this process, so that it may be sent again; not where it has moved
     * since it was read. Gives it as it is now.
     */
    resume: (read: Operation): { isOurs: boolean; operation: Operation } =>
      database.transaction(() => {
        const { isSame, operation } = asRead(read);
        return { isOurs: isSame, operation: isSame ? take(operation) : operation };
      }),

    /** Several changes as one: all of them durable when it returns, or none. */
    apply: (changes: Change[]): Changed[] => database.transaction(() => apply(changes)),
  };
}

interface Learning extends Pick<ReturnType<typeof openSettling>, "settle" | "holderOfId"> {
  asRead(read: Operation): { isSame: boolean; operation: Operation };
}

/** Records what was found about operations outside an attempt, which takes time. */
function openLearning(database: Database, { asRead, settle, holderOfId }: Learning) {
  const learn = (read: Operation, outcome: Outcome): Learned => {
    const before = asRead(read);
    const settled = { number: read.number, outcome, letGo: true };
    const isWritten = before.isSame && !holderOfId(settled);
    if (isWritten) settle([settled]);
    return { isWritten, operation: isWritten ? asRead(read).operation : before.operation };
  };
  return {
    /** Records an outcome, unless the operation was sent, taken or resolved since it was read. */
    learn: (read: Operation, outcome: Outcome): Learned =>
      database.transaction(() => learn(read, outcome)),

    /** Records the same outcome for several operations in one transaction, each as `learn` does. */
    learnAll: (reads: Operation[], outcome: Outcome): Learned[] =>
      database.transaction(() => reads.map((read) => learn(read, outcome))),
  };
}
