import { Failure } from "../failure.ts";
import type { Choice } from "./choice.ts";
import { discardTyped, watchKeyboard } from "./keyboard.ts";
import { clean } from "./terminal-text.ts";

/** Where questions go: never to stdout, which is for the answer of the command. */
interface Terminal {
  stdin: NodeJS.ReadableStream;
  stderr: NodeJS.WritableStream & { columns?: number };
  /** Takes a question back: the run was told to stop. */
  stopping: AbortSignal;
  /** Stands before a question instead of the question mark. */
  head?: string;
  /** Told when a question is put, and when it is gone again. */
  onQuestion: (isOpen: boolean) => void;
  /** Told when the terminal is gone while a question is open. */
  onGone: () => void;
}

/** Says of a text what is wrong with it; nothing, if it will do. */
type Check = (text: string) => string | undefined;

/** The questions that a person can be asked; each throws Failure `interrupted` on Ctrl-C. */
export interface Ask {
  text(message: string, options?: { preset?: string; check?: Check }): Promise<string>;
  /** Without echo: for what nobody may read over a shoulder. */
  secret(message: string, check?: Check): Promise<string>;
  /** An answer to what is on the screen: what was typed before it does not count. */
  word(message: string): Promise<string>;
  /** The same; anything but y and yes is a no. */
  yes(message: string): Promise<boolean>;
  choice<Value>(message: string, choices: Choice<Value>[]): Promise<Value>;
  /** One of many texts, narrowed by what is typed. */
  search(message: string, find: (typed: string) => Choice<string>[]): Promise<string>;
}

type Prompts = Pick<typeof import("@inquirer/prompts"), "input" | "password" | "select">;

interface Where {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/** Opens the way to the person at a terminal; the prompts are loaded with the first question. */
export function openAsk(terminal: Terminal): Ask {
  const { stdin, stderr, stopping, head, onQuestion, onGone } = terminal;
  const theme = head ? { theme: { prefix: head } } : {};
  const asked = async <Answer>(
    question: (prompts: Prompts, where: Where) => Promise<Answer>,
  ): Promise<Answer> => {
    // Named one by one: a quarter of the package would else be what opens an editor.
    const { input, password, select } = await import("@inquirer/prompts");
    // A prompt that is taken back before it is put would leave the terminal without echo.
    if (stopping.aborted) throw left();
    const ended = new AbortController();
    const stopWatching = watchKeyboard(stdin, { onEnd: () => ended.abort(), onGone });
    const signal = AbortSignal.any([stopping, ended.signal]);
    onQuestion(true);
    try {
      return await question({ input, password, select }, { input: stdin, output: stderr, signal });
    } catch (error) {
      throw isLeft(error) ? left(error) : error;
    } finally {
      stopWatching();
      onQuestion(false);
    }
  };
  const word = async (message: string): Promise<string> => {
    await discardTyped(stdin);
    return asked(({ input }, where) => input({ ...theme, message: clean(message) }, where));
  };
  return {
    text: (message, { preset, check } = {}) =>
      asked(({ input }, where) =>
        input(
          {
            ...theme,
            message: clean(message),
            validate: validate(check),
            ...(preset === undefined ? {} : { default: clean(preset) }),
          },
          where,
        ),
      ),
    // Asked anew each time: in a field that shows nothing, nobody sees what is left of the last try.
    secret: async (message, check) => {
      for (;;) {
        const typed = await asked(({ password }, where) =>
          password({ message: clean(message), mask: false }, where),
        );
        const problem = check?.(typed);
        if (problem === undefined) return typed;
        stderr.write(`> ${clean(problem)}\n`);
      }
    },
    word,
    yes: async (message) => /^\s*y(?:es)?\s*$/i.test(await word(`${message} (y/N)`)),
    choice: (message, choices) =>
      asked(async ({ select }, where) => {
        const { cut } = await import("./width.ts");
        const width = (stderr.columns ?? 80) - 3;
        const fitting = choices.map((one) => ({
          ...one,
          name: cut(clean(one.name), width),
        }));
        return select({ message: clean(message), choices: fitting, loop: false }, where);
      }),
    search: (message, find) =>
      asked(async (_, where) => {
        const { searchPrompt } = await import("./search-prompt.ts");
        return searchPrompt(
          { message: clean(message), find: cleaned(find), terminal: stderr },
          where,
        );
      }),
  };
}

function validate(check: Check | undefined): (text: string) => string | true {
  return (text) => {
    const problem = check?.(text);
    return problem === undefined ? true : clean(problem);
  };
}

function cleaned(find: (typed: string) => Choice<string>[]) {
  return (typed: string): Choice<string>[] =>
    find(typed).map((choice) => ({ ...choice, name: clean(choice.name) }));
}

function left(cause?: unknown): Failure {
  return new Failure("interrupted", "Stopped before anything was sent.", { cause });
}

/** Whether the person went away from the question, or was taken away. */
function isLeft(error: unknown): boolean {
  return error instanceof Error && ["ExitPromptError", "AbortPromptError"].includes(error.name);
}
