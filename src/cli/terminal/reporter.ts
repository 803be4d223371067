import { once } from "../../domain/collect.ts";
import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import { columnsOf, loadStyle, wantsColor } from "../output/style.ts";
import { clean } from "../output/terminal-text.ts";

/** Notices, warnings and progress on stderr. */
export type Reporter = ReturnType<typeof createReporter>;

/** A warning about money, as JSON output shows it. */
export interface Warning {
  reason: string;
  message: string;
}

export interface ProgressLine {
  /** The most important first: the end of the line may not fit. */
  parts: string[];
  /** From 0 to 1, if it is known: a terminal shows it as a bar. */
  done?: number;
}

interface Progress {
  /** Prints a line above it. */
  note(text: string): void;
  /** Draws it a last time. */
  close(): void;
}

export function createReporter(
  host: Pick<Host, "stderr" | "env" | "sleep">,
  { color: mode, quiet }: Pick<Globals, "color" | "quiet">,
  { scrub, isJson }: { scrub: (text: string) => string; isJson: boolean },
) {
  const { stderr, env } = host;
  const isTerminal = stderr.isTTY === true;
  const safe = (text: string): string => scrub(clean(text));
  let isSilent = isJson;
  let drawn: Progress | undefined;
  let warnings: Warning[] = [];
  const trace = (text: string, head = ""): void => {
    if (drawn) drawn.note(text);
    else stderr.write(`${head && `${head} `}${safe(text)}\n`);
  };
  const say = (text: string, head?: string): void => {
    if (!isSilent) trace(text, head);
  };
  return {
    isTerminal,
    /**
     * Prints one line, but not with JSON output, unless a prompt follows.
     *
     * @param head our own text before it, which may contain colors
     */
    say,
    /** Prints one line of --verbose, whatever the output is. */
    trace,
    /** Prints a warning about money. JSON output shows it in the result or in the error. */
    warn: ({ reason, message }: Warning): void => {
      if (isJson) warnings.push({ reason, message: safe(message) });
      say(message);
    },
    /** A prompt follows: notices are printed from now on, also with JSON output. */
    attend: (): void => {
      isSilent = false;
    },
    /** The warnings that no result and no error has shown yet; each is returned once. */
    takeWarnings: (): Warning[] => {
      const taken = warnings;
      warnings = [];
      return taken;
    },
    style: once(() => loadStyle(wantsColor({ mode, env, isTerminal }))),
    /** Shows progress until it is closed, but not with --quiet or JSON output. Other lines are printed above it. */
    progress: (line: () => ProgressLine): Progress => {
      if (isJson || quiet) return { note: () => {}, close: () => {} };
      const shown = () => ({ ...line(), parts: line().parts.map(safe) });
      const started = startProgress(shown, safe, host);
      drawn = started;
      return {
        ...started,
        close: () => {
          drawn = undefined;
          started.close();
        },
      };
    },
  };
}

const intervalMs = { terminal: 200, other: 5_000 };
const eraseLine = "\r\u001b[K";
const separator = " · ";

/** In a terminal one line is drawn again and again; otherwise one is printed every few seconds. */
function startProgress(
  line: () => ProgressLine,
  safe: (text: string) => string,
  { stderr, env, sleep }: Pick<Host, "stderr" | "env" | "sleep">,
): Progress {
  const redraws = stderr.isTTY === true && env.TERM !== "dumb";
  const closed = new AbortController();
  const draw = (): void => {
    if (redraws) stderr.write(eraseLine + drawnIn(line(), columnsOf(stderr) - 1));
    else stderr.write(`${line().parts.join(separator)}\n`);
  };
  void (async () => {
    while (!closed.signal.aborted) {
      await sleep(redraws ? intervalMs.terminal : intervalMs.other, closed.signal);
      if (!closed.signal.aborted) draw();
    }
  })();
  return {
    note: (text) => {
      stderr.write(`${redraws ? eraseLine : ""}${safe(text)}\n`);
      if (redraws) draw();
    },
    close: () => {
      closed.abort();
      draw();
      if (redraws) stderr.write("\n");
    },
  };
}

const bar = { least: 10, most: 30 };
/** In a narrower terminal, there is only room for the parts. */
const leastColumnsOfBar = 40;

function drawnIn({ parts, done }: ProgressLine, columns: number): string {
  if (done === undefined || columns < leastColumnsOfBar) return fitting(parts, columns);
  const text = fitting(parts, columns - bar.least - 1);
  const width = Math.min(bar.most, columns - text.length - 1);
  const full = Math.floor(Math.min(done, 1) * width);
  return `${"█".repeat(full)}${"░".repeat(width - full)} ${text}`;
}

/** As many whole parts as fit: part of a number would be a wrong number. */
function fitting(parts: string[], columns: number): string {
  const last = parts.findLastIndex(
    (_, index) => parts.slice(0, index + 1).join(separator).length <= columns,
  );
  return parts.slice(0, last + 1).join(separator);
}
