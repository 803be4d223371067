import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Context } from "../command/context.ts";
import { columnsOf, wantsColor } from "../output/style.ts";
import type { Ask } from "../prompts/ask.ts";
import type { Stop } from "../runtime/stop.ts";
import type { Speech } from "./speech.ts";

/** Everything between a command and the person at the terminal; all of it is on stderr. */
export type Person = Pick<Context, "confirm" | "ask" | "notice" | "show" | "showQr" | "progress">;

interface PersonOptions {
  host: Host;
  isJson: boolean;
  globals: Globals;
  speech: Speech;
  stop: Stop;
  /** The account whose money a person confirms. */
  accounts: Pick<Context, "account" | "settings">;
  notice: (text: string, reason?: string) => void;
  scrub: (text: string) => string;
}

/** Prompts and drawings are loaded when they are needed. */
export function openPerson(options: PersonOptions): Person {
  const { host, globals, speech, stop, accounts, notice, scrub } = options;
  let hasAsked = false;

  /** Undefined if a person cannot be asked: not in a terminal, in CI, with --no-input. */
  const ask = async (head = ""): Promise<Ask | undefined> => {
    const { stdin, stderr, env } = host; // here, because reading `stdin` opens it
    if (!(stdin.isTTY && stderr.isTTY) || env.TERM === "dumb" || globals.noInput) return undefined;
    speech.attend();
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
  };

  const terminal = () => {
    const { stderr, env } = host;
    const isTerminal = stderr.isTTY === true;
    return {
      color: wantsColor({ mode: globals.color, env, isTerminal }),
      width: isTerminal ? columnsOf(stderr) : undefined,
    };
  };

  return {
    confirm: async (question) => {
      const around = { accounts, globals, speech, ask, notice, isDialogue: hasAsked };
      await (await import("./confirm.ts")).confirm(question, around);
    },
    ask: () => ask(),
    notice,
    show: async (view) => {
      const { toText } = await import("../output/text.ts");
      const { width } = terminal();
      const text = toText(view, { style: await speech.style(), width, nowMs: host.now() });
      host.stderr.write(`${scrub(text)}\n`);
    },
    showQr: async (text) => {
      // A program that reads JSON finds the URL there.
      if (options.isJson && !speech.isTerminal) return;
      const { drawQr } = await import("../output/qr.ts");
      const drawing = drawQr(text, terminal());
      if ("text" in drawing) host.stderr.write(drawing.text);
      else speech.trace(drawing.problem);
    },
    progress: speech.progress,
  };
}
