import type { Client } from "../api/client.ts";
import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { toleratedClockMs } from "../domain/timestamp.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Sealer } from "../ledger/seal.ts";

/**
 * What lenden relies on although the API's specification does not show it. All of it holds until
 * `lenden verify-api` refutes it; then the guards that rely on it are stricter.
 */
export interface ApiGuarantees {
  /** A used reference returns the existing payout, unchanged: an unknown payout may be sent again. */
  references: boolean;
  /** A rejected request creates nothing: a rejection is no unknown outcome. */
  rejections: boolean;
}

/** The dependencies of operations that talk to the API. */
export interface OperationDeps {
  client: Client;
  /** Opened when money is about to move. If it cannot be written, nothing is sent. */
  ledger(): Promise<Ledger>;
  account: { baseUrl: string; environment: string };
  /**
   * Seals what this run orders, with a key that follows from the payout secret.
   *
   * @throws Failure `access` without a payout secret (P2)
   */
  sealer(): Promise<Sealer>;
  /** Read when a response leaves something open, and not for every payout. */
  guarantees(): Promise<ApiGuarantees>;
  /** Milliseconds since 1970. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
  /** Returns early when the run is to stop; the caller checks `isStopping` after it. */
  sleep(ms: number): Promise<void>;
  /** Runs something after all that can run at this moment, and after responses that have arrived. */
  soon(work: () => void): void;
  /** When the whole command must end, in milliseconds since 1970. */
  deadlineMs: number;
  /** Moves the deadline of a command that waits; an explicit --timeout stays. */
  waitFor(ms: number): void;
  /** True after the first Ctrl-C and after `isOutOfTime`: requests in flight may end, nothing new begins. */
  isStopping(): boolean;
  /** True if --timeout elapsed: requests in flight were aborted. */
  isOutOfTime(): boolean;
  /** Milliseconds that the API's clock is ahead of ours, by the latest response. */
  clockAheadMs(): number | undefined;
  /** The least that the API's clock is ahead of ours, by all responses of this run. */
  clockAheadLeastMs(): number | undefined;
  /** Prints one line on stderr. With a reason it is a warning about money, and JSON has it too. */
  notice(text: string, reason?: string): void;
}

/** P22: nothing new begins once the run is to stop. */
export function checkStop(deps: Pick<OperationDeps, "isStopping" | "isOutOfTime">): void {
  if (!deps.isStopping()) return;
  if (deps.isOutOfTime())
    throw new Failure(
      "run.timeout",
      "The command did not finish within its time limit (--timeout).",
      {
        hint: "Run the same command again with a longer limit, for example --timeout 3m.",
      },
    );
  throw new Failure("run.interrupted", "Interrupted.");
}

/** Why a run is to stop, as the end of a sentence. */
export function stopCause({ isOutOfTime }: Pick<OperationDeps, "isOutOfTime">): string {
  return isOutOfTime() ? "the time limit (--timeout) elapsed" : "the command was stopped";
}

/** More than `Date` can differ by itself: one of the clocks was set. */
const setMs = 2_000;

/** Milliseconds that the API's clock is ahead of ours; undefined until a response shows it. */
export function createApiClock() {
  let latest: number | undefined;
  let least: number | undefined;
  return {
    /** By the latest response. */
    aheadMs: () => latest,
    /** At least: `Date` counts whole seconds, so the highest value of many responses is the most exact. */
    aheadLeastMs: () => least,
    saw: (aheadMs: number): void => {
      latest = aheadMs;
      const isSet = least === undefined || aheadMs < least - setMs;
      least = isSet ? aheadMs : Math.max(least ?? aheadMs, aheadMs);
    },
  };
}

/** A sentence about a clock that makes payouts fail; undefined if the clocks agree well enough. */
export function clockTrouble(aheadMs: number): string | undefined {
  if (Math.abs(aheadMs) <= toleratedClockMs) return undefined;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const difference = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `Set this machine's clock: it is ${difference} ${aheadMs > 0 ? "behind" : "ahead of"} the API's, and the API rejects payouts from 5 minutes on.`;
}

/** P3: a payout that the API must reject because of its timestamp is not sent. */
export function checkClock(deps: OperationDeps): void {
  const failure = clockFailure(deps, "clock.differs");
  if (failure) throw failure;
}

/** A clock that goes back by more than this, or forth by more than a request waits, was set, or the machine slept. */
const [mostBackMs, mostForthMs] = [5 * 60_000, 60 * 60_000];

/**
 * P3: notices that this machine's clock is set between a claim and its request: limits and duplicates were judged for
 * another day.
 *
 * @returns asked before each request; true from then on
 */
export function createClockWatch({ now }: Pick<OperationDeps, "now">): () => boolean {
  let [last, wasSet] = [now(), false];
  return () => {
    const at = now();
    wasSet ||= at < last - mostBackMs || at > last + mostForthMs;
    last = at;
    return wasSet;
  };
}

/** The failure of what a clock that was set leaves unsent. */
export function clockSet(reason: "clock.differs" | "batch.clock-differs"): Failure {
  const hint = "Check the clock, then run the same command again.";
  const details = { hint, neverLeft: true };
  const message = "This machine slept while the command ran, or its clock was set.";
  return new Failure(reason, message, details);
}

/** The failure of a payout that cannot be sent because of the clocks; undefined if it can. */
export function clockFailure(
  deps: OperationDeps,
  reason: "clock.differs" | "batch.clock-differs",
): Failure | undefined {
  const aheadMs = deps.clockAheadMs();
  const trouble = aheadMs === undefined ? undefined : clockTrouble(aheadMs);
  if (aheadMs === undefined || !trouble) return undefined;
  const [ours, theirs] = [deps.now(), deps.now() + aheadMs].map((ms) =>
    formatTime(new Date(ms).toISOString()),
  );
  return new Failure(
    reason,
    `The clocks differ: this machine has ${ours}, the API has ${theirs}.`,
    { hint: `${trouble} Then run the same command again.` },
  );
}
