import { Failure } from "../domain/failure.ts";

/** The result of some work, or the failure `interrupted` as soon as the signal fires. */
export async function unlessStopped<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  let stop = (): void => {};
  const whenStopped = new Promise<never>((_, reject) => {
    stop = () => reject(stopped());
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, whenStopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

export function stopped(): Failure {
  return new Failure("interrupted", "Stopped before the service answered.");
}
