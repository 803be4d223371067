import type { Host } from "../host.ts";
import type { Progress } from "../ui/progress.ts";
import { loadStyle, type Style, wantsColor } from "../ui/style.ts";
import { clean } from "../ui/terminal-text.ts";
import type { Globals } from "./globals.ts";
import { once } from "./once.ts";

/** What lenden says to the person beside the answer: lines on stderr. */
export interface Speech {
  isTerminal: boolean;
  /** One line; only its head, which is our own, may hold colours. */
  say(text: string, head?: string): void;
  style(): Promise<Style>;
  /** Puts all further lines above this progress while it is drawn; undefined ends that. */
  above(progress: Progress | undefined): void;
}

/** Opens the way to stderr. */
export function openSpeech(
  { stderr, env }: Host,
  { color: mode }: Globals,
  scrub: (text: string) => string,
): Speech {
  const isTerminal = stderr.isTTY === true;
  let progress: Progress | undefined;
  return {
    isTerminal,
    say: (text, head = "") => {
      if (progress) progress.note(text);
      else stderr.write(`${head && `${head} `}${scrub(clean(text))}\n`);
    },
    style: once(() => loadStyle(wantsColor({ mode, env, isTerminal }))),
    above: (drawn) => {
      progress = drawn;
    },
  };
}
