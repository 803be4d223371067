import { errorCode } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";

/** What one check came to. */
export interface Verdict {
  state: "passed" | "warning" | "failed" | "skipped";
  /** What was found, or why it was not looked for. */
  says: string;
  /** What to do about it; null where nothing is to be done. */
  todo: string | null;
}

/** The same with the check's name, as it is shown. */
export interface Finding extends Verdict {
  check: string;
}

export function passed(says: string): Verdict {
  return { state: "passed", says, todo: null };
}

export function warning(says: string, todo: string): Verdict {
  return { state: "warning", says, todo };
}

export function failed(says: string, todo: string): Verdict {
  return { state: "failed", says, todo };
}

export function skipped(why: string): Verdict {
  return { state: "skipped", says: why, todo: null };
}

/** What a piece of work gave, or what is to be said of it because it gave nothing. */
export type Attempt<Value> = { value: Value } | { verdict: Verdict };

/** Never throws: whatever goes wrong with one check, the others go on. */
export async function attempt<Value>(work: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { verdict: verdictOf(error) };
  }
}

function verdictOf(error: unknown): Verdict {
  if (error instanceof Failure)
    return failed(error.message, error.details.hint ?? "Mend what it names.");
  const code = errorCode(error);
  return failed(
    `This could not be looked at${code ? ` (${code})` : ""}.`,
    "Run it again with LENDEN_DEBUG=1 and report what it prints.",
  );
}
