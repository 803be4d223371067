import type { CallbackRequest, CallbackSource, StoredCallback } from "../ledger/callback.ts";
import type { Limits } from "./limits.ts";
import { messageOf } from "./message.ts";
import { openWork, type WorkOptions } from "./work.ts";

export interface IntakeOptions extends WorkOptions {
  limits: Limits;
}

export interface Intake {
  /** Keeps a callback and gives the status that its sender gets. */
  take(received: CallbackRequest, source: CallbackSource): Promise<number>;
  /**
   * Takes up what was kept and did not come to its end; resolves once all of that was looked at. Two
   * at a time, so that it leaves room for what comes.
   */
  takeUp(): Promise<void>;
  /** Resolves once nothing is under way. */
  idle(): Promise<void>;
}

/**
 * What happens to a callback: it is kept, and durable; then the service is asked, the ledger learns
 * what the service said, and it is passed on. A callback alone sets nothing.
 */
export function openIntake(options: IntakeOptions): Intake {
  const { limits, forwardTo, stopping } = options;
  const work = openWork(options);
  return {
    async take(received, source) {
      if (stopping.aborted || work.waiting() >= limits.queue) return 503;
      const kept = await keep(received, source, options);
      if (typeof kept === "number") return kept;
      const status = work.on(kept);
      // Without anybody to pass it on to, it is durable, and nobody needs to wait for more.
      return forwardTo === undefined ? 200 : inTime(status, options);
    },

    async takeUp() {
      const due = (await dueNow(options)).values();
      const lane = async (): Promise<void> => {
        for (const callback of due)
          if (!work.isUnderWay(callback) && !stopping.aborted) await work.begin(callback);
      };
      await Promise.all([lane(), lane()]);
    },

    idle: work.idle,
  };
}

/** The callback as it is kept now, or the status that says that it is not. */
async function keep(
  received: CallbackRequest,
  source: CallbackSource,
  { callbacks, notice }: IntakeOptions,
): Promise<StoredCallback | number> {
  try {
    return (await callbacks.keep(received, source)) ?? 503;
  } catch (error) {
    notice(`A callback could not be kept; its sender was told so: ${messageOf(error)}`);
    return 500;
  }
}

/** The status, or 503 to a sender that waited too long for it. */
function inTime(
  status: Promise<number>,
  { limits, sleep, stopping }: IntakeOptions,
): Promise<number> {
  const over = new AbortController();
  const tooLate = sleep(limits.answerMs, AbortSignal.any([over.signal, stopping])).then(() => 503);
  return Promise.race([status, tooLate]).finally(() => over.abort());
}

async function dueNow({ callbacks, forwardTo, notice }: IntakeOptions): Promise<StoredCallback[]> {
  try {
    return await callbacks.due(forwardTo);
  } catch (error) {
    notice(`What is to be tried again could not be read: ${messageOf(error)}`);
    return [];
  }
}
