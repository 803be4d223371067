import { err, ok, type Result } from "../domain/result.ts";

/** What a cell means. Probable: what it most likely means, and why that is not certain. */
export type Reading<Value> =
  | { kind: "certain"; value: Value }
  | { kind: "probable"; value: Value; because: string }
  | { kind: "error"; problem: string }
  | { kind: "empty" };

/** What is certain; an empty cell is undefined. What is only probable is a problem. */
export function certainOf<Value>(reading: Reading<Value>): Result<Value | undefined> {
  if (reading.kind === "certain") return ok(reading.value);
  if (reading.kind === "empty") return ok(undefined);
  return err(
    reading.kind === "error"
      ? reading.problem
      : `The cell is not certain, because ${reading.because}. Correct it in the file.`,
  );
}
