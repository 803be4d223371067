import type { Host } from "../../host.ts";
import { openProgress, type Progress } from "../../ui/progress.ts";
import { loadStyle, type Style, wantsColor } from "../../ui/style.ts";
import { clean } from "../../ui/terminal-text.ts";
import type { Globals } from "../line/globals.ts";
import { once } from "../once.ts";

/** What lenden says to the person beside the answer: lines on stderr. */
export interface Speech {
  isTerminal: boolean;
  /** One line; only its head, which is our own, may hold colours. */
  say(text: string, head?: string): void;
  style(): Promise<Style>;
  /** A line that is drawn over and over until it is closed; what is said meanwhile stands above it. */
  progress(line: () => string[]): Progress;
}

/** Opens the way to stderr. */
export function openSpeech(
  { stderr, env, sleep }: Host,
  { color: mode }: Globals,
  scrub: (text: string) => string,
): Speech {
  const isTerminal = stderr.isTTY === true;
  let drawn: Progress | undefined;
  return {
    isTerminal,
    say: (text, head = "") => {
      if (drawn) drawn.note(text);
      else stderr.write(`${head && `${head} `}${scrub(clean(text))}\n`);
    },
    style: once(() => loadStyle(wantsColor({ mode, env, isTerminal }))),
    progress: (line) => {
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
