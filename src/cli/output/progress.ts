import { columnsOf } from "./columns.ts";
import { clean } from "./terminal-text.ts";

/** A line that stays where it is and says how far something is. */
export interface Progress {
  /** A line of its own, above the one that stays. */
  note(text: string): void;
  /** Draws it a last time. */
  close(): void;
}

interface ProgressOptions {
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  env: Record<string, string | undefined>;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  scrub(text: string): string;
}

const everyMs = { terminal: 200, elsewhere: 5_000 };
const toStartAndErase = "\r\u001b[K";

const between = " · ";

/** As many parts as fit: half a figure would be another figure. */
function fitting(parts: string[], columns: number): string {
  const longest = parts.findLastIndex(
    (_, index) => parts.slice(0, index + 1).join(between).length <= columns,
  );
  return parts.slice(0, longest + 1).join(between);
}

/**
 * On a terminal one line is drawn over and over; elsewhere one is printed every few seconds.
 *
 * @param line its parts, the most important first
 */
export function openProgress(
  line: () => string[],
  { stderr, env, sleep, scrub }: ProgressOptions,
): Progress {
  const isTerminal = stderr.isTTY === true && env.TERM !== "dumb";
  const over = new AbortController();
  const draw = (): void => {
    const parts = line().map((part) => scrub(clean(part)));
    if (!isTerminal) stderr.write(`${parts.join(between)}\n`);
    else stderr.write(toStartAndErase + fitting(parts, columnsOf(stderr) - 1));
  };
  void (async () => {
    while (!over.signal.aborted) {
      await sleep(isTerminal ? everyMs.terminal : everyMs.elsewhere, over.signal);
      if (!over.signal.aborted) draw();
    }
  })();
  return {
    note: (note) => {
      if (isTerminal) stderr.write(toStartAndErase);
      stderr.write(`${scrub(clean(note))}\n`);
      if (isTerminal) draw();
    },
    close: () => {
      over.abort();
      draw();
      if (isTerminal) stderr.write("\n");
    },
  };
}
