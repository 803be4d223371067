import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { errorCode } from "../../error-code.ts";
import { Failure } from "../../failure.ts";
import type { Change, Changed } from "../../ledger/changes.ts";
import type { Commit } from "../../ledger/grouped.ts";
import type { Owner } from "../../ledger/operation.ts";
import type { Thread } from "../../parts.ts";
import { changedOf, textOfChanges } from "./text.ts";

/** What the thread is started with. */
export interface WriterStart {
  path: string;
  owner: Owner;
  command: string;
  /** What must not stand in the ledger; it stays inside this process. */
  secrets: string[];
  /** This process's lock: were it the thread's own, it would go with the thread. */
  lock: string;
}

/** What it answers to changes, which it gets as text; to "close" it answers nothing. */
export type Answered = { changed: string } | { failed: Failed };

/** An error, as text: `hint` where it says itself what to do. */
interface Failed {
  message: string;
  code: string | undefined;
  hint?: string | undefined;
}

/** Commits changes to the ledger, and is closed at the end. */
export interface Writer {
  commit: Commit;
  close(): Promise<void>;
}

/** It holds two groups of changes at most; left alone, Node would give it tens of megabytes. */
const littleMemory = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 };

/**
 * Opens a thread that commits: while one group is brought to the disk, the rows of others are on
 * the wire. It takes groups in their order, and after one that failed none.
 *
 * @param program what it runs
 * @param scrub takes signatures out of what the service said, before it is handed over
 */
export function openWriter(
  { program, isText }: Thread,
  start: WriterStart,
  scrub: (text: string) => string,
): Writer {
  const thread = new Worker(program, {
    eval: isText,
    workerData: start,
    resourceLimits: littleMemory,
  });
  thread.once("online", tune);
  const pending: { resolve: (text: string) => void; reject: (error: unknown) => void }[] = [];
  let fault: Failure | undefined;
  const fail = (failure: Failure): void => {
    fault ??= failure;
    for (const { reject } of pending.splice(0)) reject(fault);
  };
  thread.on("message", (answered: Answered) => {
    if ("failed" in answered) fail(notWritten(answered.failed));
    else pending.shift()?.resolve(answered.changed);
  });
  thread.on("error", (error) => fail(brokenDown(error)));
  const ended = new Promise<void>((resolve) => thread.on("exit", () => resolve()));
  void ended.then(() => fail(brokenDown(undefined)));
  const answerTo = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      if (fault) return reject(fault);
      pending.push({ resolve, reject });
      thread.postMessage(text);
    });
  const commit = async (changes: Change[]): Promise<Changed[]> =>
    changedOf(await answerTo(textOfChanges(changes, scrub)), changes);
  return {
    commit: Object.assign(commit, { fault: () => fault }),
    close: async () => {
      thread.postMessage("close");
      await ended;
    },
  };
}

function notWritten(error: Failed): Failure {
  if (error.hint !== undefined) return new Failure("internal", error.message, { hint: error.hint });
  const why = /BUSY|LOCKED/.test(error.code ?? "")
    ? "Another program holds its file: end that"
    : "Make room on the disk and check its permissions";
  return new Failure("internal", `The ledger could not be written${named(error.code)}.`, {
    hint: `${why}, then run the same command again.`,
    cause: error,
  });
}

/** It takes every fault of the ledger as an answer: what ends it is a fault of lenden. */
function brokenDown(cause: unknown): Failure {
  const code = named(errorCode(cause));
  return new Failure("internal", `The part of lenden that writes the ledger broke down${code}.`, {
    hint: "Install lenden again, then run the same command again.",
    cause,
  });
}

function named(code: string | undefined): string {
  return code === undefined ? "" : ` (${code})`;
}

/** After the thread has started: under other flags, V8 rejects what the compile cache has of its code. */
function tune(): void {
  // Two threads keep two cores busy: V8's own helpers would only take turns with them.
  setFlagsFromString("--no-parallel-scavenge");
  // What a batch keeps is little; left alone, V8 would let it grow to four times as much before it cleans up.
  setFlagsFromString("--heap-growing-percent=100");
}
