import { type ChangeAnswer, type ChangeRequest, createSingleChanges } from "./change.ts";
import type { Ledger } from "./ledger.ts";

/** Requests of one caller, who continues only after their commit. */
interface Waiting {
  requests: ChangeRequest[];
  resolve(answers: ChangeAnswer[]): void;
  reject(error: unknown): void;
}

/**
 * Queues the changes of many callers. Changes that are requested at the same moment, or while a commit
 * is in progress, share the next commit, because a commit costs more than all the changes in it. Each
 * caller continues after its changes are durable. After a failed commit the queue accepts nothing (I4).
 *
 * @param soon runs something after all that can run at this moment
 */
export function withCommitQueue(ledger: Ledger, soon: (work: () => void) => void): Ledger {
  const waiting: Waiting[] = [];
  let isScheduled = false;
  let failed: { error: unknown } | undefined;

  const commitNext = async (): Promise<void> => {
    const group = waiting.splice(0);
    try {
      const answers = await ledger.change(group.flatMap(({ requests }) => requests));
      for (const { requests, resolve } of group) resolve(answers.splice(0, requests.length));
    } catch (error) {
      failed = { error };
      for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
    }
  };
  const commitAll = async (): Promise<void> => {
    while (waiting.length > 0) await commitNext();
    isScheduled = false;
  };
  const change = (requests: ChangeRequest[]): Promise<ChangeAnswer[]> =>
    new Promise((resolve, reject) => {
      if (failed) return reject(failed.error);
      waiting.push({ requests, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      soon(() => void commitAll());
    });

  return { ...ledger, change, ...createSingleChanges(change) };
}
