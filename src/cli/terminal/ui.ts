import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import { columnsOf, wantsColor } from "../output/style.ts";
import type { View } from "../output/view.ts";
import type { Ask } from "../prompts/ask.ts";
import type { ConfigAccess } from "../runtime/accounts.ts";
import type { Stop } from "../runtime/stop.ts";
import type { Confirmation } from "./confirm.ts";
import type { Progress, Reporter } from "./reporter.ts";

/** What a command shows on stderr, and its prompts. */
export interface Ui {
  /**
   * Shows what is about to happen. A production account requires a confirmation.
   *
   * @throws Failure `access` if the confirmation is missing or declined; nothing was sent
   */
  confirm(question: Confirmation): Promise<void>;
  /** Undefined if no prompt is possible: non-interactively, in CI, with --no-input. */
  ask(): Promise<Ask | undefined>;
  /** Names the operation of this run for errors that do not name it: a generated reference. */
  concerns(operation: string): void;
  /**
   * Prints one line, but not with JSON output.
   *
   * @param reason a stable identifier if the line is a warning about money: JSON output has it among the
   *   `warnings` of the result or of the error
   */
  notice(text: string, reason?: string): void;
  /** Shows what a prompt is about. */
  show(view: View): Promise<void>;
  /** Draws a text as a QR code, or states why that is not possible. */
  showQr(text: string): Promise<void>;
  /** Shows progress until it is closed. `line` is called for every update. */
  progress(line: () => string[]): Progress;
}

interface UiOptions {
  host: Host;
  isJson: boolean;
  globals: Globals;
  reporter: Reporter;
  stop: Stop;
  /** The account whose money a person confirms. */
  accounts: Pick<ConfigAccess, "account" | "settings">;
  concerns: (operation: string) => void;
  notice: (text: string, reason?: string) => void;
  scrub: (text: string) => string;
}

/** Prompts and drawings are loaded when they are needed. */
export function createUi(options: UiOptions): Ui {
  const { host, globals, reporter, stop, accounts, notice, scrub } = options;
  let hasAsked = false;

  /** Undefined if a person cannot be asked: not in a terminal, in CI, with --no-input. */
  const ask = async (head = ""): Promise<Ask | undefined> => {
    const { stdin, stderr, env } = host; // here, because reading `stdin` opens it
    if (!(stdin.isTTY && stderr.isTTY) || env.TERM === "dumb" || globals.noInput) return undefined;
    reporter.attend();
    return (await import("../prompts/ask.ts")).createAsk({
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
      const around = { accounts, globals, reporter, ask, notice, isDialogue: hasAsked };
      await (await import("./confirm.ts")).confirm(question, around);
    },
    ask: () => ask(),
    concerns: options.concerns,
    notice,
    show: async (view) => {
      const { toText } = await import("../output/text.ts");
      const { width } = terminal();
      const text = toText(view, { style: await reporter.style(), width, nowMs: host.now() });
      host.stderr.write(`${scrub(text)}\n`);
    },
    showQr: async (text) => {
      // A program that reads JSON finds the URL there.
      if (options.isJson && !reporter.isTerminal) return;
      const { drawQr } = await import("../output/qr.ts");
      const drawing = drawQr(text, terminal());
      if ("text" in drawing) host.stderr.write(drawing.text);
      else reporter.trace(drawing.problem);
    },
    progress: reporter.progress,
  };
}
