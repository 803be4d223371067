import { Failure } from "../failure.ts";

/** Where questions go: never to stdout, which is for the answer of the command. */
interface Terminal {
  stdin: NodeJS.ReadableStream;
  stderr: NodeJS.WritableStream;
  /** Takes a question back: the run was told to stop. */
  stopping: AbortSignal;
  /** Stands before a question instead of the question mark. */
  head?: string;
}

/** One of several answers, with what is said of it. */
interface Choice<Value> {
  name: string;
  value: Value;
  description?: string;
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
  /** One of many, narrowed by what is typed. */
  search<Value>(
    message: string,
    find: (typed: string) => Choice<Value>[] | Promise<Choice<Value>[]>,
  ): Promise<Value>;
}

/** Opens the way to the person at a terminal; the prompts are loaded with the first question. */
export function openAsk({ stdin, stderr, stopping, head }: Terminal): Ask {
  const theme = head ? { theme: { prefix: head } } : {};
  const where = { input: stdin, output: stderr, signal: stopping };
  const asked = async <Answer>(
    question: (prompts: typeof import("@inquirer/prompts")) => Promise<Answer>,
  ): Promise<Answer> => {
    const prompts = await import("@inquirer/prompts");
    try {
      return await question(prompts);
    } catch (error) {
      throw isLeft(error)
        ? new Failure("interrupted", "Stopped before anything was sent.", { cause: error })
        : error;
    }
  };
  const validate = (check: Check | undefined) => (text: string) => check?.(text) ?? true;
  return {
    text: (message, { preset, check } = {}) =>
      asked(({ input }) =>
        input(
          {
            ...theme,
            message,
            validate: validate(check),
            ...(preset === undefined ? {} : { default: preset }),
          },
          where,
        ),
      ),
    secret: (message, check) =>
      asked(({ password }) => password({ message, mask: false, validate: validate(check) }, where)),
    yes: (message) => asked(({ confirm }) => confirm({ ...theme, message, default: false }, where)),
    choice: (message, choices) => asked(({ select }) => select({ message, choices }, where)),
    search: (message, find) =>
      asked(({ search }) => search({ message, source: async (typed) => find(typed ?? "") }, where)),
  };
}

/** Whether the person went away from the question, or was taken away. */
function isLeft(error: unknown): boolean {
  return error instanceof Error && ["ExitPromptError", "AbortPromptError"].includes(error.name);
}
