/** Where an operation stands. */
export const states = [
  "INTENT",
  "NOT_SENT",
  "REFUSED",
  "CONFLICT",
  "UNCERTAIN",
  "CONFIRMED",
] as const;
export type State = (typeof states)[number];

/**
 * Whether nobody knows if it happened: an INTENT was interrupted or is under way, what is UNCERTAIN
 * was answered by nothing that can be trusted.
 */
export function isUnsettled({ state }: { state: State | null }): boolean {
  return state === "INTENT" || state === "UNCERTAIN";
}

/** Whether somebody has to look before the same is made once more. */
export function isUnresolved(operation: { state: State }): boolean {
  return isUnsettled(operation) || operation.state === "CONFLICT";
}

/** What of an operation says whether its reference is still good. */
interface Ended {
  state: State | null;
  status: string | null;
  code: string | null;
}

/**
 * Whether it ended, and may be sent by its reference all the same. A refusal for want of access said nothing
 * about the payout itself; any other one retires the reference (P17).
 */
export function isFree({ state, code }: Omit<Ended, "status">): boolean {
  return state === "NOT_SENT" || (state === "REFUSED" && code === "access");
}

/** Whether its reference came to an end without a payout that stands: nothing goes out by it again. */
export function isUsedUp({ state, status, code }: Ended): boolean {
  if (state === "REFUSED") return !isFree({ state, code });
  return state === "CONFIRMED" && status === "Cancelled";
}
