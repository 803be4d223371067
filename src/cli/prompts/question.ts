import { Failure } from "../../domain/failure.ts";
import { watchKeyboard } from "./keyboard.ts";

/** Where questions go: never to stdout, which is for the answer of the command. */
export interface Terminal {
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

/** A question: one of the prompts, and where it is shown and read. */
export type Question<Answer> = (prompts: Prompts, where: Where) => Promise<Answer>;

type Prompts = Pick<typeof import("@inquirer/prompts"), "input" | "password" | "select">;

interface Where {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/**
 * Puts one question, and waits until it is answered or taken back.
 *
 * @throws Failure `interrupted` when the person went away from it, or the run is to stop
 */
export async function put<Answer>(
  question: Question<Answer>,
  { stdin, stderr, stopping, onQuestion, onGone }: Terminal,
): Promise<Answer> {
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
}

function left(cause?: unknown): Failure {
  return new Failure("interrupted", "Stopped before anything was sent.", { cause });
}

/** Whether the person went away from the question, or was taken away. */
function isLeft(error: unknown): boolean {
  return error instanceof Error && ["ExitPromptError", "AbortPromptError"].includes(error.name);
}
