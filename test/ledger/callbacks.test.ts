import { expect, test } from "vitest";
import { newestCallbacks } from "../../src/callbacks/stored.ts";
import { collect } from "../support/helpers.ts";
import { copiesOf, owner } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

const secret = "sk_sandbox_abc-abcdefghijkl-abc";

function request(body: string | Uint8Array, headers: Record<string, string> = {}) {
  return { method: "POST", target: "/a?b=c", headers, body: Buffer.from(body) };
}

const genuine = { verdict: "verified", explanation: null, records: [], finding: "g" };
const unchecked = { ...genuine, verdict: "unchecked", finding: "u" };
const handler = "http://127.0.0.1:3000/";

describeEach(databases, "callbacks", ({ share }) => {
  async function callbacks() {
    const clock = { ms: Date.parse("2026-11-20T10:00:00Z") };
    const shared = await share();
    const worker = {
      now: () => clock.ms,
      scrub: (text: string) => text.replaceAll(secret, "masked"),
    };
    const open: typeof shared.open = (given) => shared.open({ ...worker, ...given });
    const { callbacks: kept } = await open();
    const { callbacks: ofAnother } = await open({ owner: { ...owner, keyId: "other" } });
    return { ...shared, open, clock, kept, ofAnother };
  }

  test("a callback is stored byte by byte", async () => {
    const { kept } = await callbacks();
    const bytes = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);
    const callback = await kept.keep(request(bytes, { "content-type": "x/y" }), "received", true);
    expect(await kept.find(1)).toEqual(callback);
    expect(callback).toMatchObject({ method: "POST", target: "/a?b=c", count: 1, judged: null });
    expect(Buffer.from(callback?.body ?? "").equals(bytes)).toBe(true);
  });

  test("counts an equal callback within a minute, and stores a later or a different one", async () => {
    const { kept, clock } = await callbacks();
    const keep = (body: string) => kept.keep(request(body), "received", true);
    expect(await keep("x")).toMatchObject({ number: 1, count: 1 });
    clock.ms += 59_000;
    expect(await keep("x")).toMatchObject({ number: 1, count: 2 });
    expect(await keep("y")).toMatchObject({ number: 2, count: 1 });
    clock.ms += 2_000;
    expect(await keep("x")).toMatchObject({ number: 3, count: 1 });
  });

  test("lists what is due: known records first, then the callbacks with the fewest checks", async () => {
    const { kept, clock } = await callbacks();
    for (const body of ["a", "b", "c", "d"]) await kept.keep(request(body), "received", true);
    const due = async () => (await kept.due(undefined)).map(({ number }) => number);
    for (const [number, checks] of [
      [1, 2],
      [2, 1],
    ] as const) {
      await kept.recordVerdict(number, unchecked, undefined);
      for (let check = 0; check < checks; check += 1) await kept.schedule(number, 5_000);
    }
    await kept.schedule(3, null);
    expect(await due()).toEqual([4]);
    clock.ms += 5_000;
    expect(await due()).toEqual([4, 2, 1]);
    await kept.keep(request("unknown"), "received", false);
    await kept.keep(request("known"), "received", true);
    expect(await due()).toEqual([4, 6, 2, 1, 5]);
    expect(await kept.find(1)).toMatchObject({ checks: 2, dueAt: "2026-11-20T10:00:05.000Z" });
  });

  test("leaves a callback that only waits to be forwarded to a run that forwards", async () => {
    const { kept, clock } = await callbacks();
    await kept.keep(request("a"), "received", true);
    await kept.recordVerdict(1, genuine, handler);
    await kept.schedule(1, 5_000);
    clock.ms += 5_000;
    expect(await kept.due(undefined)).toHaveLength(0);
    expect(await kept.due("http://127.0.0.1:4000/")).toHaveLength(1);
  });

  test("stores with a verdict which handler is to get it", async () => {
    const { kept } = await callbacks();
    await kept.keep(request("a"), "received", true);
    await kept.recordVerdict(1, unchecked, handler);
    expect((await kept.find(1))?.forwarded).toEqual({
      to: handler,
      status: null,
      fault: null,
      finding: null,
    });
    const fault = "connection refused";
    await kept.recordForwarded(1, { to: handler, status: null, fault, finding: "u" });
    expect((await kept.find(1))?.forwarded).toMatchObject({ status: null, fault });
    await kept.recordVerdict(1, { ...unchecked, finding: "v" }, handler);
    expect((await kept.find(1))?.forwarded).toMatchObject({ status: null, fault: null });
    await kept.recordForwarded(1, { to: handler, status: 200, fault: null, finding: "u" });
    // A run that does not forward found it: the handler still has the earlier verdict.
    await kept.recordVerdict(1, genuine, undefined);
    expect((await kept.find(1))?.forwarded).toEqual({
      to: handler,
      status: 200,
      fault: null,
      finding: "u",
    });
  });

  test("one process at a time listens for an account, until it ends", async () => {
    const { open, end, ...first } = await callbacks();
    const { callbacks: second } = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    expect(await first.kept.listen()).toBeUndefined();
    expect(await first.kept.listen()).toBeUndefined();
    expect(await first.ofAnother.listen()).toBeUndefined();
    expect(await second.listen()).toMatchObject({ pid: 1 });
    await end(1);
    expect(await second.listen()).toBeUndefined();
    expect(await first.kept.listen()).toMatchObject({ pid: 2 });
  });

  test("knows that a handler acknowledged a finding, with any callback", async () => {
    const { kept, ofAnother } = await callbacks();
    await kept.keep(request("a"), "received", true);
    await kept.recordVerdict(1, genuine, handler);
    const isDelivered = () => kept.isDelivered("g", handler);
    expect(await isDelivered()).toBe(false);
    for (const [status, delivered] of [
      [500, false],
      [302, false],
      [null, false],
      [204, true],
    ] as const) {
      await kept.recordForwarded(1, { to: handler, status, fault: null, finding: "g" });
      expect([status, await isDelivered()]).toEqual([status, delivered]);
    }
    expect(await kept.isDelivered("other", handler)).toBe(false);
    expect(await kept.isDelivered("g", "http://127.0.0.1:4000/")).toBe(false);
    expect(await ofAnother.isDelivered("g", handler)).toBe(false);
  });

  test("never drops a pending callback: rejects a further one if too many are pending", async () => {
    const { kept, run } = await callbacks();
    await kept.keep(request("0"), "received", true);
    await run(copiesOf(1, 4_999));
    expect(await kept.keep(request("more"), "received", true)).toBeUndefined();
    expect(await kept.keep(request("0"), "received", true)).toMatchObject({ number: 1, count: 2 });
    await run("UPDATE callbacks SET verdict = 'unchecked', records = '[]'");
    await kept.recordVerdict(5_000, unchecked, undefined);
    expect(await kept.find(1)).toBeDefined();
    expect(await kept.keep(request("more"), "received", true)).toBeUndefined();
    // No further check: it is no longer pending.
    await kept.schedule(2, null);
    expect(await kept.keep(request("more"), "received", false)).toBeUndefined();
    expect(await kept.keep(request("more"), "received", true)).toMatchObject({ number: 5_001 });
    await kept.recordVerdict(5_001, unchecked, undefined);
    expect(await kept.find(1)).toBeDefined();
  });

  test("lists and counts those of a time and a verdict, page by page", async () => {
    const { kept, ofAnother, clock } = await callbacks();
    for (const body of ["a", "b", "c", "d"]) {
      await kept.keep(request(body), "received", true);
      clock.ms += 1_000;
    }
    for (const number of [1, 2, 4]) await kept.recordVerdict(number, genuine, undefined);
    const second = { since: "2026-11-20T10:00:01.000Z", until: "2026-11-20T10:00:03.000Z" };
    const found = async (...asked: Parameters<typeof kept.list>) =>
      (await kept.list(...asked)).map(({ number }) => number);
    expect(await found(second, 10)).toEqual([4, 3, 2]);
    expect(await found({ ...second, verdict: "verified" }, 10)).toEqual([4, 2]);
    expect(await found(second, 1, 4)).toEqual([3]);
    expect(await found(second, 10, 3)).toEqual([2]);
    expect(await kept.count({ ...second, verdict: "verified" }, 10)).toBe(2);
    expect(await kept.count({}, 3)).toBe(3);
    const all = await collect(newestCallbacks(kept, {}, 3));
    expect(all.map(({ number }) => number)).toEqual([4, 3, 2]);
    expect([await ofAnother.list({}, 10), await ofAnother.find(1)]).toEqual([[], undefined]);
  });

  test("keeps the newest thousand callbacks about unknown records, and all others", async () => {
    const { kept, run } = await callbacks();
    await kept.keep(request("verified"), "received", true);
    await kept.recordVerdict(1, genuine, undefined);
    const unknown = { verdict: "unknown", explanation: "No.", records: [], finding: "n" };
    const keep = async (number: number) => {
      await kept.keep(request(`${number}`), "received", true);
      await kept.recordVerdict(number, unknown, undefined);
    };
    await keep(2);
    await run(copiesOf(2, 999));
    for (let number = 1_002; number <= 1_011; number += 1) await keep(number);
    expect(await kept.list({ verdict: "unknown" }, 5_000)).toHaveLength(1_000);
    expect(await kept.find(1)).toBeDefined();
    expect(await kept.find(2)).toBeUndefined();
    expect(await kept.find(1_011)).toBeDefined();
  });
});
