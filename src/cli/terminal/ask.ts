import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../domain/failure.ts";
import { columnsOf } from "../output/style.ts";
import { clean } from "../output/terminal-text.ts";

/** The prompts; each throws Failure `prompt.closed` on Ctrl-C, Ctrl-D, or if the run has to stop. */
export type Ask = ReturnType<typeof createAsk>;

/** Returns what is wrong with a text; undefined if nothing is. */
type Check = (text: string) => string | undefined;

export interface Choice<Value> {
  name: string;
  value: Value;
}

interface Terminal {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** Prompts are never on stdout, which is for the result of the command. */
  stderr: NodeJS.WritableStream & { columns?: number };
  /** Withdraws a prompt, because the run has to stop. */
  stopping: AbortSignal;
  /** Replaces the question mark before a prompt. */
  head?: string;
  /** Called when a prompt is shown and when it is gone. */
  onQuestion: (isOpen: boolean) => void;
  /** Called when the terminal is gone while a prompt is shown. */
  onGone: () => void;
}

/** A prompt, and where it is shown and read. */
type Prompt<Answer> = (
  prompts: Pick<typeof import("@inquirer/prompts"), "input" | "password" | "search" | "select">,
  where: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream; signal: AbortSignal },
) => Promise<Answer>;

export function createAsk(terminal: Terminal) {
  const { stdin, stderr, head } = terminal;
  const theme = head ? { theme: { prefix: head } } : {};
  const put = <Answer>(prompt: Prompt<Answer>): Promise<Answer> => putPrompt(prompt, terminal);
  const word = async (message: string): Promise<string> => {
    await discardTyped(stdin);
    return put(({ input }, where) => input({ ...theme, message: clean(message) }, where));
  };
  const shortened = async <Value>(choices: Choice<Value>[]): Promise<Choice<Value>[]> => {
    const { cut } = await import("../output/width.ts");
    const width = columnsOf(stderr) - 3;
    return choices.map((one) => ({ ...one, name: cut(clean(one.name), width) }));
  };
  return {
    text: (message: string, { preset, check }: { preset?: string; check?: Check } = {}) => {
      const filled = preset === undefined ? {} : { default: clean(preset) };
      const options = { ...theme, ...filled, message: clean(message), validate: validate(check) };
      return put(({ input }, where) => input(options, where));
    },
    /** Shows nothing of what is typed. */
    secret: async (message: string, check?: Check): Promise<string> => {
      // A new prompt after each mistake: a hidden field does not show what is left in it.
      for (;;) {
        const hidden = { message: clean(message), mask: false, toggleMask: false };
        const typed = await put(({ password }, where) => password(hidden, where));
        const problem = check?.(typed);
        if (problem === undefined) return typed;
        stderr.write(`> ${clean(problem)}\n`);
      }
    },
    /** Ignores what was typed before the prompt was shown. */
    word,
    /** Asks (y/N) in the same way. */
    yes: async (message: string) => /^\s*y(?:es)?\s*$/i.test(await word(`${message} (y/N)`)),
    choice: <Value>(message: string, choices: Choice<Value>[]): Promise<Value> =>
      put(async ({ select }, where) => {
        const options = { message: clean(message), choices: await shortened(choices), loop: false };
        return select(options, where);
      }),
    /** Asks for one of many texts, filtered by what is typed. */
    search: (message: string, find: (typed: string) => Choice<string>[]): Promise<string> =>
      put(async ({ search }, where) => {
        const source = async (typed = "") =>
          (await shortened(find(typed))).map((one) => ({ ...one, short: clean(one.value) }));
        return search({ message: clean(message), source }, where);
      }),
  };
}

function validate(check: Check | undefined): (text: string) => string | true {
  return (text) => {
    const problem = check?.(text);
    return problem === undefined ? true : clean(problem);
  };
}

async function putPrompt<Answer>(
  prompt: Prompt<Answer>,
  { stdin, stderr, stopping, onQuestion, onGone }: Terminal,
): Promise<Answer> {
  // Only these: the prompt that opens an editor is a quarter of the package.
  const { input, password, search, select } = await import("@inquirer/prompts");
  // A prompt that is withdrawn before it is shown would leave the terminal without echo.
  if (stopping.aborted) throw closed();
  const ended = new AbortController();
  const stopWatching = watchKeyboard(stdin, { onEnd: () => ended.abort(), onGone });
  const signal = AbortSignal.any([stopping, ended.signal]);
  onQuestion(true);
  try {
    const prompts = { input, password, search, select };
    return await prompt(prompts, { input: stdin, output: stderr, signal });
  } catch (error) {
    const isClosed =
      error instanceof Error && ["ExitPromptError", "AbortPromptError"].includes(error.name);
    throw isClosed ? closed(error) : error;
  } finally {
    stopWatching();
    onQuestion(false);
  }
}

function closed(cause?: unknown): Failure {
  return new Failure("prompt.closed", "Stopped at a prompt that was not answered.", { cause });
}

/** Long enough for everything that waits in the terminal to arrive. */
const arrivalMs = 30;

/** Discards what was typed before a prompt was shown: pasted lines would answer it with yes. */
async function discardTyped(stdin: Terminal["stdin"]): Promise<void> {
  if (!stdin.isTTY || !("setRawMode" in stdin) || typeof stdin.setRawMode !== "function") return;
  const ignore = (): void => {};
  stdin.setRawMode(true);
  stdin.on("data", ignore);
  stdin.resume();
  await delay(arrivalMs);
  stdin.pause();
  stdin.off("data", ignore);
  stdin.setRawMode(false);
}

/**
 * Handles what readline does not while a prompt is shown: after Ctrl-D and Ctrl-Z it stops reading without
 * an event, and after the terminal was closed it sets its mode, which throws.
 *
 * @param onEnd called after Ctrl-D
 * @param onGone called when the terminal is gone
 * @returns stops watching
 */
function watchKeyboard(
  stdin: Terminal["stdin"],
  { onEnd, onGone }: { onEnd: () => void; onGone: () => void },
): () => void {
  let isOpen = true;
  let isEnd = false;
  const onKey = (_: unknown, { ctrl, name }: { ctrl?: boolean; name?: string }): void => {
    isEnd = ctrl === true && name === "d";
  };
  const onPause = (): void => {
    const closes = isEnd;
    setImmediate(() => {
      if (!isOpen) return;
      if (closes) onEnd();
      else stdin.resume();
    });
  };
  stdin.on("keypress", onKey);
  stdin.on("pause", onPause);
  stdin.prependListener("end", onGone);
  return () => {
    isOpen = false;
    stdin.off("keypress", onKey);
    stdin.off("pause", onPause);
    stdin.off("end", onGone);
    stdin.pause();
  };
}
