import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Warning } from "../output/error-text.ts";
import { openProgress, type Progress } from "../output/progress.ts";
import { loadStyle, type Style, wantsColor } from "../output/style.ts";
import { clean } from "../output/terminal-text.ts";
import { once } from "../runtime/parts.ts";

/** What lenden says to the person beside the answer: lines on stderr. */
export interface Speech {
  isTerminal: boolean;
  /**
   * One line; only its head, which is our own, may hold colours. With JSON output nothing is said,
   * unless a person is asked something.
   */
  say(text: string, head?: string): void;
  /** The same for a warning about money. JSON output keeps it for the result or the error. */
  warn(warning: Warning): void;
  /** One line that the person asked for with --verbose, whatever the output. */
  trace(text: string): void;
  /** A person is asked something, and has to see what it is about. */
  attend(): void;
  /** The warnings that nothing has shown yet; each is given once. */
  takeWarnings(): Warning[];
  style(): Promise<Style>;
  /** A line that is drawn over and over until it is closed; what is said meanwhile stands above it. */
  progress(line: () => string[]): Progress;
}

/** Opens the way to stderr. */
export function openSpeech(
  { stderr, env, sleep }: Host,
  { color: mode }: Globals,
  { scrub, isJson }: { scrub: (text: string) => string; isJson: boolean },
): Speech {
  const isTerminal = stderr.isTTY === true;
  let isSilent = isJson;
  let drawn: Progress | undefined;
  let warnings: Warning[] = [];
  const trace = (text: string, head = ""): void => {
    if (drawn) drawn.note(text);
    else stderr.write(`${head && `${head} `}${scrub(clean(text))}\n`);
  };
  const say = (text: string, head?: string): void => {
    if (!isSilent) trace(text, head);
  };
  return {
    isTerminal,
    say,
    trace,
    warn: ({ reason, message }) => {
      if (isJson) warnings.push({ reason, message: scrub(clean(message)) });
      say(message);
    },
    attend: () => {
      isSilent = false;
    },
    takeWarnings: () => {
      const taken = warnings;
      warnings = [];
      return taken;
    },
    style: once(() => loadStyle(wantsColor({ mode, env, isTerminal }))),
    progress: (line) => {
      if (isSilent) return { note: () => {}, close: () => {} };
      const opened = openProgress(line, { stderr, env, sleep, scrub });
      drawn = opened;
      return {
        ...opened,
        close: () => {
          drawn = undefined;
          opened.close();
        },
      };
    },
  };
}
