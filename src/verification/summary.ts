import { Failure } from "../domain/failure.ts";
import { isTest } from "../domain/state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { resolveHint } from "../operations/response-failure.ts";
import type { Result } from "./stored.ts";

const verdicts = ["holds", "refuted", "undecided", "skipped"] as const;

/** `16 assumptions: 15 hold, 1 refuted.` */
export function summaryOf(results: Result[]): string {
  const counts = verdicts.flatMap((one) => {
    const { length } = results.filter(({ verdict }) => verdict === one);
    return length > 0 ? [`${length} ${one === "holds" ? "hold" : one}`] : [];
  });
  const isStrict = results.some(({ verdict, guard }) => verdict === "refuted" && guard !== null);
  const effect = isStrict
    ? " From now on, lenden does not rely on refuted assumptions, in production too."
    : "";
  return `${results.length} assumptions: ${counts.join(", ")}.${effect}`;
}

/** A run that stops has sent test operations, and the outcome of one may be unknown. */
export async function withEffect(
  error: unknown,
  hasSent: boolean,
  ledger: Ledger,
): Promise<unknown> {
  if (!(error instanceof Failure)) return error;
  const open = (await ledger.unsettled()).find(isTest);
  if (open)
    return new Failure(
      "payout.outcome-unknown",
      `${error.message} A test ${open.kind} was sent without a valid response.`,
      {
        hint: resolveHint(open.id, open.kind, open),
        operation: open.id,
      },
    );
  const effect = hasSent ? { effect: "accepted" as const } : {};
  return new Failure(error.reason, error.message, { ...error.details, ...effect });
}
