import { columnsOf } from "../output/columns.ts";
import { clean } from "../output/terminal-text.ts";
import type { Choice } from "./choice.ts";
import { discardTyped } from "./keyboard.ts";
import { put, type Question, type Terminal } from "./question.ts";

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

/** Opens the way to the person at a terminal; the prompts are loaded with the first question. */
export function openAsk(terminal: Terminal): Ask {
  const { stdin, stderr, head } = terminal;
  const theme = head ? { theme: { prefix: head } } : {};
  const asked = <Answer>(question: Question<Answer>): Promise<Answer> => put(question, terminal);
  const word = async (message: string): Promise<string> => {
    await discardTyped(stdin);
    return asked(({ input }, where) => input({ ...theme, message: clean(message) }, where));
  };
  return {
    text: (message, { preset, check } = {}) => {
      const filled = preset === undefined ? {} : { default: clean(preset) };
      const own = { ...theme, ...filled, message: clean(message), validate: validate(check) };
      return asked(({ input }, where) => input(own, where));
    },
    // Asked anew each time: in a field that shows nothing, nobody sees what is left of the last try.
    secret: async (message, check) => {
      for (;;) {
        const hidden = { message: clean(message), mask: false };
        const typed = await asked(({ password }, where) => password(hidden, where));
        const problem = check?.(typed);
        if (problem === undefined) return typed;
        stderr.write(`> ${clean(problem)}\n`);
      }
    },
    word,
    yes: async (message) => /^\s*y(?:es)?\s*$/i.test(await word(`${message} (y/N)`)),
    choice: (message, choices) =>
      asked(async ({ select }, where) => {
        const { cut } = await import("../output/width.ts");
        const width = columnsOf(stderr) - 3;
        const fitting = choices.map((one) => ({ ...one, name: cut(clean(one.name), width) }));
        return select({ message: clean(message), choices: fitting, loop: false }, where);
      }),
    search: (message, find) =>
      asked(async (_, where) => {
        const { searchPrompt } = await import("./search-prompt.ts");
        const own = { message: clean(message), find: cleaned(find), terminal: stderr };
        return searchPrompt(own, where);
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
