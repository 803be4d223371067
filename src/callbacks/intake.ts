import { Failure } from "../failure.ts";
import type { CallbackSource, Callbacks, StoredCallback } from "../ledger/callbacks.ts";
import { answerFor, forward } from "./forward.ts";
import type { Limits } from "./limits.ts";
import { openGate, openPace } from "./pace.ts";
import type { Received } from "./said.ts";
import { type Checked, type Found, type Look, verdicts, verify } from "./verify.ts";

/** A callback and all that came of it. */
export interface Taken extends Checked {
  callback: StoredCallback;
  /** The operations that it proved. */
  resolved: string[];
}

export interface IntakeOptions {
  callbacks: Callbacks;
  look: Look;
  /** Writes down what the retrieved records show; gives the operations that are certain now. */
  settle: (found: Found[]) => Promise<string[]>;
  forwardTo: string | undefined;
  limits: Limits;
  now(): number;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Fires when nothing new is to begin; what is kept is taken up by the next run. */
  stopping: AbortSignal;
  /** Told of each, once; resolves when somebody saw it. */
  onTaken(taken: Taken): Promise<void>;
  notice(text: string): void;
}

export type Intake = ReturnType<typeof openIntake>;

/**
 * What happens to a callback: it is kept, and durable; then the service is asked, the ledger learns
 * what the service said, and it is passed on. A callback alone sets nothing.
 */
export function openIntake(options: IntakeOptions) {
  const { callbacks, limits, forwardTo, stopping, notice } = options;
  const gate = openGate(limits.atOnce);
  const pace = openPace(limits.retrievePauseMs, {
    now: options.now,
    sleep: (ms) => options.sleep(ms, stopping),
  });
  const underWay = new Map<number, { status: Promise<number>; done: Promise<void> }>();
  const told = new Set<number>();

  const look: Look = async (kind, id) => {
    await pace();
    return unlessStopped(options.look(kind, id), stopping);
  };

  const tell = async (taken: Taken): Promise<void> => {
    // Only what repeats within a minute is asked for here.
    if (told.size > 10_000) told.clear();
    told.add(taken.callback.number);
    await options.onTaken(taken);
  };

  async function work(callback: StoredCallback): Promise<{ status: number; taken?: Taken }> {
    if (stopping.aborted) return { status: 503 };
    const before = checkedBefore(callback);
    const { found, ...checked } = before ?? (await check(callback, look));
    // A look that was cut off says nothing about the service.
    if (stopping.aborted) return { status: 503 };
    const resolved = await options.settle(found);
    if (!before) callbacks.judge(callback.number, checked);
    const status = forwardTo === undefined ? 200 : await passOn(callback, checked, forwardTo);
    const kept = callbacks.find(callback.number) ?? callback;
    return { status, taken: { callback: kept, ...checked, resolved } };
  }

  async function passOn(callback: StoredCallback, checked: Checked, to: string): Promise<number> {
    const status = await forward(callback, {
      to,
      verdict: checked.verdict,
      status: statusOf(checked),
      timeoutMs: limits.forwardMs,
      signal: stopping,
    });
    callbacks.passedOn(callback.number, { to, status });
    return answerFor(status);
  }

  /** The one place where a fault on the way becomes a status: the sender may try again. */
  function begin(callback: StoredCallback): Promise<number> {
    const { number } = callback;
    const running = underWay.get(number);
    if (running) return running.status;
    let answer = (_: number): void => {};
    const status = new Promise<number>((resolve) => {
      answer = resolve;
    });
    const done = gate.through(async () => {
      const { status: worked, taken } = await work(callback).catch((error: unknown) => {
        if (!stopping.aborted) notice(`Callback ${number}: ${messageOf(error)}`);
        return { status: 503, taken: undefined };
      });
      answer(worked);
      if (taken) await tell(taken);
    });
    underWay.set(number, { status, done: done.finally(() => underWay.delete(number)) });
    return status;
  }

  return {
    /** Keeps a callback and gives the status that its sender gets. */
    async take(received: Received, source: CallbackSource): Promise<number> {
      if (stopping.aborted || gate.waiting() >= limits.queue) return 503;
      const kept = keep(received, source);
      if (!kept) return 500;
      const { callback, isNew } = kept;
      const isDone = !isNew && !underWay.has(callback.number) && isOver(callback);
      if (isDone && told.has(callback.number)) return doneStatus(callback);
      if (isDone) return tellAgain(callback);
      const status = begin(callback);
      // Without anybody to pass it on to, it is durable, and nobody needs to wait for more.
      return forwardTo === undefined ? 200 : inTime(status);
    },

    /** Takes up what was kept, and not verified. */
    takeUp(): void {
      for (const callback of callbacks.pending()) void begin(callback);
    },

    /** Resolves once nothing is under way. */
    async idle(): Promise<void> {
      await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };

  function keep(received: Received, source: CallbackSource) {
    try {
      return callbacks.keep(received, source);
    } catch (error) {
      notice(`A callback could not be kept; its sender was told so: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Verified by an earlier run, which this one's reader knows nothing of. */
  function tellAgain(callback: StoredCallback): number {
    const before = checkedBefore(callback);
    if (before) void tell({ callback, ...before, resolved: [] });
    return doneStatus(callback);
  }

  function isOver(callback: StoredCallback): boolean {
    const isPassedOn = forwardTo === undefined || doneStatus(callback) < 300;
    return checkedBefore(callback) !== undefined && isPassedOn;
  }

  function doneStatus({ forwarded }: StoredCallback): number {
    return forwardTo === undefined ? 200 : answerFor(forwarded?.status ?? null);
  }

  function inTime(status: Promise<number>): Promise<number> {
    const over = new AbortController();
    const tooLate = options
      .sleep(limits.answerMs, AbortSignal.any([over.signal, stopping]))
      .then(() => 503);
    return Promise.race([status, tooLate]).finally(() => over.abort());
  }
}

/** Asks the service. Where it gives no usable answer nothing is decided, and that is said. */
export async function check(
  callback: Pick<Received, "target" | "body">,
  look: Look,
): Promise<Checked & { found: Found[] }> {
  try {
    return await verify(callback, look);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "interrupted") throw error;
    return { verdict: "unanswered", because: error.message, records: [], found: [] };
  }
}

/** What an earlier look came to; no answer is none. */
function checkedBefore({ judged }: StoredCallback): (Checked & { found: Found[] }) | undefined {
  const verdict = verdicts.find((one) => one === judged?.verdict);
  if (!judged || !verdict || verdict === "unanswered") return undefined;
  return { verdict, because: judged.because, records: judged.records, found: [] };
}

/** The status of what it is about, where it is about one thing. */
export function statusOf({ records }: Checked): string | undefined {
  const statuses = records.flatMap(({ verified }) => (verified ? [verified.status] : []));
  return new Set(statuses).size === 1 ? statuses[0] : undefined;
}

async function unlessStopped<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let stop = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new Failure("interrupted", "Stopped before the service answered."));
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
