import { expect, test } from "vitest";
import { listenForStop } from "../../src/cli/runtime/parts.ts";
import type { Signal } from "../../src/platform/host.ts";

/** A clock that a test moves; what sleeps wakes up when its time has come. */
function openClock() {
  let nowMs = 0;
  const sleepers: { atMs: number; wake: () => void }[] = [];
  const listeners = new Set<(signal: Signal) => void>();
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms: number) =>
      new Promise<void>((wake) => {
        sleepers.push({ atMs: nowMs + ms, wake });
      }),
    raise: () => {},
    onSignal: (listener: (signal: Signal) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listeners: () => listeners.size,
    send: (signal: Signal) => {
      for (const listener of listeners) listener(signal);
    },
    pass: async (ms: number) => {
      nowMs += ms;
      for (const { atMs, wake } of sleepers) if (atMs <= nowMs) wake();
      await Promise.resolve();
    },
  };
}

test("--timeout does not count the time at a prompt", async () => {
  const clock = openClock();
  const stop = listenForStop(clock, { finishes: true, notice: () => {} });
  stop.cutOffAfter(100);
  await clock.pass(40);
  stop.hold(true);
  await clock.pass(10_000);
  stop.hold(false);
  expect(stop.cutOffAtMs()).toBe(10_100);
  await clock.pass(59);
  expect(stop.cutOff.aborted).toBe(false);
  await clock.pass(1);
  expect(stop.cutOff.aborted).toBe(true);
});

test("a signal prints what is still in flight, except at a prompt", () => {
  const said = (isAsked: boolean): string[] => {
    const notices: string[] = [];
    const clock = openClock();
    const stop = listenForStop(clock, { finishes: true, notice: (text) => notices.push(text) });
    stop.hold(isAsked);
    clock.send("SIGTERM");
    expect(stop.stopping.aborted).toBe(true);
    return notices;
  };
  expect(said(false)).toHaveLength(1);
  expect(said(true)).toEqual([]);
});

test("a signal after the run prints nothing, and the next one ends the process", () => {
  const clock = openClock();
  const notices: string[] = [];
  const stop = listenForStop(clock, { finishes: true, notice: (text) => notices.push(text) });
  stop.end();
  clock.send("SIGINT");
  expect([notices, stop.stopping.aborted, clock.listeners()]).toEqual([[], false, 1]);
  clock.send("SIGINT");
  expect(clock.listeners()).toBe(0);
});
