import { Failure } from "../failure.ts";
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
}

/** One of several answers, as it is shown. */
export interface Choice<Value> {
  name: string;
  value: Value;
}

/** Says of a text what is wrong with it; nothing, if it will do. */
type Check = (text: string) => string | undefined;

/** The questions that a person can be asked; each throws Failure `interrupted` on Ctrl-C. */
export interface Ask {
  text(message: string, options?: { preset?: string; check?: Check }): Promise<string>;
  /** Without echo: for what nobody may read over a shoulder. */
  secret(message: string, check?: Check): Promise<string>;
  /** The answer defaults to no. */
  yes(message: string): Promise<boolean>;
  choice<Value>(message: string, choices: Choice<Value>[]): Promise<Value>;
  /** One of many texts, narrowed by what is typed. */
  search(message: string, find: (typed: string) => Choice<string>[]): Promise<string>;
}

/** Opens the way to the person at a terminal; the prompts are loaded with the first question. */
export function openAsk({ stdin, stderr, stopping, head, onQuestion }: Terminal): Ask {
  const theme = head ? { theme: { prefix: head } } : {};
  const where = { input: stdin, output: stderr, signal: stopping };
  const asked = async <Answer>(
    question: (prompts: typeof import("@inquirer/prompts")) => Promise<Answer>,
  ): Promise<Answer> => {
    const prompts = await import("@inquirer/prompts");
    // A prompt that is taken back before it is put would leave the terminal without echo.
    if (stopping.aborted) throw left();
    onQuestion(true);
    try {
      return await question(prompts);
    } catch (error) {
      throw isLeft(error) ? left(error) : error;
    } finally {
      onQuestion(false);
    }
  };
  return {
    text: (message, { preset, check } = {}) =>
      asked(({ input }) =>
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
    secret: (message, check) =>
      asked(({ password }) =>
        password({ message: clean(message), mask: false, validate: validate(check) }, where),
      ),
    yes: (message) =>
      asked(({ confirm }) => confirm({ ...theme, message: clean(message), default: false }, where)),
    choice: (message, choices) =>
      asked(async ({ select }) => {
        const { cut } = await import("./width.ts");
        const width = (stderr.columns ?? 80) - 3;
        const fitting = choices.map((one) => ({
          ...one,
          name: cut(clean(one.name), width),
        }));
        return select({ message: clean(message), choices: fitting, loop: false }, where);
      }),
    search: (message, find) =>
      asked(async () => {
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
