import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Context } from "../command/context.ts";
import type { Stop } from "../runtime/stop.ts";
import { openAsking } from "./asking.ts";
import type { Speech } from "./speech.ts";

/** What passes between a run and the person at the terminal; all of it on stderr. */
export type Person = Pick<Context, "confirm" | "ask" | "notice" | "show" | "showQr" | "progress">;

export interface PersonOptions {
  host: Host;
  isJson: boolean;
  globals: Globals;
  speech: Speech;
  stop: Stop;
  /** Whose money it is that a person confirms. */
  accounts: Pick<Context, "account" | "settings">;
  notice: (text: string, reason?: string) => void;
  scrub: (text: string) => string;
}

/** Opens the way to the person; questions and drawings are loaded when they are needed. */
export function openPerson(options: PersonOptions): Person {
  const { host, globals, speech, stop, accounts, notice } = options;
  const asking = openAsking(host, globals, stop);
  const { hasAsked } = asking;
  const ask: typeof asking.ask = async (head) => {
    const way = await asking.ask(head);
    if (way) speech.attend();
    return way;
  };
  return {
    confirm: async (question) => {
      const around = { accounts, globals, speech, ask, notice, isDialogue: hasAsked() };
      await (await import("./confirm.ts")).confirm(question, around);
    },
    ask: () => ask(),
    notice,
    show: async (view) => (await import("./show.ts")).show(view, options),
    showQr: async (text) => {
      // A program that reads JSON finds the address there.
      if (options.isJson && !speech.isTerminal) return;
      (await import("./show-qr.ts")).showQr(text, { host, globals, notice: speech.trace });
    },
    progress: speech.progress,
  };
}
