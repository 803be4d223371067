import { columnsOf, wantsColor } from "../output/style.ts";
import type { View } from "../output/view.ts";
import type { ConfigAccess } from "../runtime/config-access.ts";
import type { RunParts } from "../runtime/parts.ts";
import type { Ask } from "./ask.ts";
import type { Confirmation } from "./confirm.ts";
import type { Reporter } from "./reporter.ts";

interface UiOptions
  extends Pick<RunParts, "host" | "isJson" | "output" | "globals" | "stop" | "notice" | "scrub"> {
  reporter: Reporter;
  /** The account whose money a person confirms. */
  config: Pick<ConfigAccess, "account" | "settings">;
  concerns: (operation: string) => void;
}

/** What a command shows on stderr, and its prompts. */
export type Ui = ReturnType<typeof createUi>;

/** Prompts and drawings are loaded when they are needed. */
export function createUi(options: UiOptions) {
  const { host, globals, reporter, stop, config, notice, scrub, concerns } = options;
  const isLogged =
    reporter.isTerminal && host.stdout.isTTY === true && !globals.quiet && !options.isJson;
  let hasAsked = false;

  const ask = async (head = ""): Promise<Ask | undefined> => {
    const { stdin, stderr, env } = host; // here, because reading `stdin` opens it
    if (!(stdin.isTTY && stderr.isTTY) || env.TERM === "dumb" || globals.noInput) return undefined;
    reporter.attend();
    return (await import("./ask.ts")).createAsk({
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
    const isTerminal = host.stderr.isTTY === true;
    return {
      color: wantsColor({ mode: globals.color, env: host.env, isTerminal }),
      width: isTerminal ? columnsOf(host.stderr) : undefined,
    };
  };

  return {
    /** What the results are printed as. */
    output: options.output,
    /**
     * Shows what is about to happen. A production account requires a confirmation.
     *
     * @throws Failure `access` if the confirmation is missing or declined; nothing was sent
     */
    confirm: async (question: Confirmation): Promise<void> => {
      const { confirm } = await import("./confirm.ts");
      return confirm(question, { config, globals, reporter, ask, isDialogue: hasAsked });
    },
    /** Undefined if no prompt is possible: non-interactively, in CI, with --no-input. */
    ask: () => ask(),
    /** True if a person is asked before something is sent in production, and not a script. */
    asksPerson: async () => !globals.yes && (await ask()) !== undefined,
    /** Names the operation of this run for errors that do not name it: a generated reference. */
    concerns,
    /**
     * Prints one line, but not with JSON output. With a `reason` it is a warning about money, which JSON
     * output has in the result or in the error.
     */
    notice,
    /** Prints one line of a log; undefined outside a terminal, with --quiet and with JSON output. */
    log: isLogged ? notice : undefined,
    /** Shows what a prompt is about. */
    show: async (view: View): Promise<void> => {
      const { toText } = await import("../output/text.ts");
      const { width } = terminal();
      const text = toText(view, { style: await reporter.style(), width, nowMs: host.now() });
      host.stderr.write(`${scrub(text)}\n`);
    },
    /** Draws a text as a QR code, or states why that is not possible. */
    showQr: async (text: string): Promise<void> => {
      // A program that reads JSON finds the URL there.
      if (options.isJson && !reporter.isTerminal) return;
      const { drawQr } = await import("../output/qr.ts");
      const drawing = drawQr(text, terminal());
      if ("text" in drawing) host.stderr.write(drawing.text);
      else reporter.trace(drawing.problem);
    },
    /** Shows progress until it is closed. `line` is called for every update. */
    progress: reporter.progress,
  };
}
