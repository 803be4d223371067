import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export { collect } from "../../src/domain/collect.ts";

/** Runs something once a test is over. */
export type AtEnd = (close: () => Promise<void>) => void;

const share = Number(process.env.LENDEN_DEEP ?? 0);

/**
 * How many cases a property is tried with: few in `npm test`, many in `npm run test:deep`, and in between
 * if LENDEN_DEEP is a share of many.
 */
export function runs(usual: number, deep: number): number {
  return share === 1 ? deep : Math.max(usual, Math.ceil(share * deep));
}

/** An empty directory for one test. */
export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), "lenden-test-"));
}

/** Today in Bangladesh, as a statement writes it. */
export function todayInDhaka(): string {
  return new Date(Date.now() + 6 * 3_600_000).toISOString().slice(0, 10);
}

/** Resolves once it holds; a test's own time limit ends it otherwise. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(10);
}

/** How many milliseconds of the processor's time some work took, however busy the machine is. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** As V8 does it sooner or later by itself. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

/**
 * A `sleep` in which the deadline of `--timeout 1h` comes once something holds, however slow the machine is.
 * Pauses are short.
 */
export function deadlineOnce(holds: () => boolean) {
  return (ms: number, signal?: AbortSignal): Promise<void> =>
    ms < 3_600_000 ? soon(ms, signal) : until(() => holds() || signal?.aborted === true);
}

/** A `sleep` with short pauses between attempts; the deadline of a whole command stays. */
export function soon(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms < 30_000 ? 1 : ms, undefined, signal ? { signal } : {}).catch(() => {});
}
