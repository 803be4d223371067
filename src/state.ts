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
