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

/** On a terminal one line is drawn over and over; elsewhere one is printed every few seconds. */
export function openProgress(
  line: () => string,
  { stderr, env, sleep, scrub }: ProgressOptions,
): Progress {
  const isTerminal = stderr.isTTY === true && env.TERM !== "dumb";
  const over = new AbortController();
  const text = (): string => scrub(clean(line()));
  const draw = (): void => {
    if (!isTerminal) stderr.write(`${text()}\n`);
    else stderr.write(toStartAndErase + text().slice(0, (stderr.columns ?? 80) - 1));
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
