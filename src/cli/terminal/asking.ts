import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Ask } from "../prompts/ask.ts";
import type { Stop } from "../runtime/stop.ts";

/** The questions of a run. */
export interface Asking {
  /** How to ask the person, `head` before each question; undefined where nobody can be asked. */
  ask(head?: string): Promise<Ask | undefined>;
  /** Whether anything was asked yet. */
  hasAsked(): boolean;
}

/** While a question is open, its time does not count, and a terminal that is gone ends the run. */
export function openAsking(host: Host, { noInput }: Globals, stop: Stop): Asking {
  let hasAsked = false;
  return {
    hasAsked: () => hasAsked,
    ask: async (head = "") => {
      const { stdin, stderr, env } = host; // not before: stdin is made when it is asked for
      const isTerminal = stdin.isTTY && stderr.isTTY && env.TERM !== "dumb";
      if (!isTerminal || noInput) return undefined;
      return (await import("../prompts/ask.ts")).openAsk({
        stdin,
        stderr,
        stopping: stop.stopping,
        head,
        onGone: stop.hangUp,
        onQuestion: (isOpen) => {
          stop.hold(isOpen);
          hasAsked = true;
        },
      });
    },
  };
}
