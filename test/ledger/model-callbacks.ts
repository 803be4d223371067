import type {
  CallbackFilter,
  CallbackRequest,
  CallbackStore,
  StoredCallback,
} from "../../src/ledger/callback.ts";
import type { ModelCallback, ModelRun, ModelState } from "./model-state.ts";

const minuteMs = 60_000;

/** The callbacks of one account, in the plainest form. */
export function modelCallbacks(run: ModelRun): CallbackStore {
  const { state, worker } = run;
  const own = () => state.callbacks.filter(run.isOwn);
  const after = (ms: number) => new Date(worker.now() + ms).toISOString();
  const change = (number: number, make: (one: StoredCallback) => Partial<StoredCallback>): void => {
    state.callbacks = state.callbacks.map((one) => {
      const { stored } = one;
      return stored.number === number ? { ...one, stored: { ...stored, ...make(stored) } } : one;
    });
  };
  const selected = ({ verdict, since, until }: CallbackFilter) =>
    own()
      .map(({ stored }) => stored)
      .filter(
        ({ judged, receivedAt }) =>
          (verdict === undefined || judged?.verdict === verdict) &&
          (since === undefined || receivedAt >= since) &&
          (until === undefined || receivedAt <= until),
      );

  /** Of each verdict, so many of those that are no longer pending. */
  function deleteOldest(verdict: string): void {
    const most = verdict === "unknown" ? 1_000 : 5_000;
    const old = own()
      .filter(({ stored }) => stored.judged?.verdict === verdict && !isPending(stored))
      .slice(0, -most);
    state.callbacks = state.callbacks.filter((one) => !old.includes(one));
  }

  return {
    listen: async () => {
      const { account, environment } = run.storeAccount();
      const key = `${environment} ${account}`;
      const before = run.running(state.listeners.get(key) ?? null);
      if (before && !run.isHeldByThis(before)) return before;
      state.listeners.set(key, run.take());
      return undefined;
    },
    keep: async (request, source, isKnown) => {
      const same = own().findLast(
        (one) => one.request === textOf(request) && one.stored.receivedAt >= after(-minuteMs),
      );
      if (same) {
        const { number, count } = same.stored;
        change(number, () => ({ count: count + 1 }));
        return { ...same.stored, count: count + 1 };
      }
      const most = isKnown ? 5_000 : 2_500;
      if (own().filter(({ stored }) => isPending(stored)).length >= most) return undefined;
      const receivedAt = run.now();
      const stored: StoredCallback = {
        ...{ ...request, body: Buffer.from(request.body), source, receivedAt, isKnown },
        ...{ number: nextNumber(state), count: 1, checks: 0, dueAt: receivedAt },
        ...{ judged: null, forwarded: null },
      };
      const owned = run.storeAccount();
      state.callbacks = [...state.callbacks, { ...owned, stored, request: textOf(request) }];
      return stored;
    },
    due: async (to) =>
      own()
        .map(({ stored }) => stored)
        .filter(
          ({ dueAt, forwarded, judged }) =>
            dueAt !== null &&
            dueAt <= run.now() &&
            (to !== undefined || forwarded === null || judged?.verdict === "unchecked"),
        )
        .sort(
          (one, other) =>
            Number(other.isKnown) - Number(one.isKnown) ||
            one.checks - other.checks ||
            one.number - other.number,
        )
        .slice(0, 100),
    schedule: async (number, afterMs) =>
      change(number, ({ checks }) => {
        return { checks: checks + 1, dueAt: afterMs === null ? null : after(afterMs) };
      }),
    recordVerdict: async (number, judged, to) => {
      const forwarded = to === undefined ? {} : { forwarded: { ...notForwarded, to } };
      change(number, () => ({ judged, checks: 0, ...forwarded }));
      deleteOldest(judged.verdict);
    },
    recordForwarded: async (number, forwarded) => change(number, () => ({ forwarded })),
    isDelivered: async (finding, to) =>
      own().some(({ stored: { forwarded } }) => {
        const status = forwarded?.status ?? 0;
        const isDone = status >= 200 && status < 300;
        return isDone && forwarded?.finding === finding && forwarded.to === to;
      }),
    find: async (number) => own().find(({ stored }) => stored.number === number)?.stored,
    list: async (filter, limit, below = Number.POSITIVE_INFINITY) =>
      selected(filter)
        .filter(({ number }) => number < below)
        .toReversed()
        .slice(0, limit),
    count: async (filter, most) => Math.min(selected(filter).length, most),
  };
}

const notForwarded = { status: null, fault: null, finding: null };

/** True if the API or a handler is still to be asked: those are never deleted, and take a place. */
function isPending({ dueAt, judged }: StoredCallback): boolean {
  return dueAt !== null && (!judged || ["verified", "unchecked"].includes(judged.verdict));
}

function nextNumber({ callbacks }: ModelState): number {
  return Math.max(0, ...callbacks.map(({ stored }) => stored.number)) + 1;
}

/** Headers count only if they say how the body is encoded. */
function textOf({ method, target, headers, body }: CallbackRequest): string {
  const encoding = [headers["content-type"], headers["content-encoding"]];
  return JSON.stringify([method, target, encoding, Buffer.from(body).toString("hex")]);
}

/** Adds so many copies of a callback, each of another request: what `copiesOf` does in a database. */
export function copyCallback(state: ModelState, number: number, count: number): void {
  const copied = state.callbacks.find(({ stored }) => stored.number === number);
  if (!copied) return;
  const first = nextNumber(state);
  const copies = Array.from({ length: count }, (_, place): ModelCallback => {
    const stored = { ...copied.stored, number: first + place, forwarded: null };
    return { ...copied, stored, request: `copy ${first + place}` };
  });
  state.callbacks = [...state.callbacks, ...copies];
}
