import type { Input, Shape } from "./flag.ts";

/** What a command adds to the plain questions of its flags and arguments, where there is more to say. */
export type Guide<S extends Shape> = {
  [Name in keyof S]?: Question<Exclude<Input<S>[Name], undefined>, Partial<Input<S>>>;
};

interface Question<Value, Known> {
  /** How to ask, where the flag's own sentence is not the best question; without a colon. */
  message?: string;
  /** An optional one is asked for too once anything is; Enter leaves it out. */
  isOffered?: boolean;
  /** What Enter answers. @throws Failure that ends the dialogue */
  preset?(known: Known): Promise<string>;
  /**
   * Looks at an answer that reads well, and shows what the person should see of it.
   *
   * @throws Failure `refused`, `not-found` or `usage` that says why to ask again
   */
  look?(value: Value, known: Known): Promise<void>;
}

/** The same without its types: a dialogue only passes on what the flags have read. */
export type AnyGuide = Record<string, Question<unknown, Record<string, unknown>> | undefined>;
