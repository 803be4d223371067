/** The states of an operation. */
export const states = [
  "INTENT",
  "NOT_SENT",
  "REFUSED",
  "CONFLICT",
  "UNCERTAIN",
  "CONFIRMED",
] as const;
export type State = (typeof states)[number];

/** True while the outcome is unknown (INTENT or UNCERTAIN). */
export function isUnsettled({ state }: { state: State | null }): boolean {
  return state === "INTENT" || state === "UNCERTAIN";
}

/** True if a person or a status check has to find out what happened before the same is created again. */
export function isUnresolved(operation: { state: State }): boolean {
  return isUnsettled(operation) || operation.state === "CONFLICT";
}

/** The code of a CONFLICT that a retrieved record has caused: the API's record of the operation's own ID. */
export const differingCode = "record-differs";

/**
 * True if the API confirmed an operation, and its record later differed from what was requested (I14). Neither its
 * amount nor its status is proved. A later record that agrees ends this.
 */
export function isDiffering({ state, code }: { state: State; code: string | null }): boolean {
  return state === "CONFLICT" && code === differingCode;
}

/** The code of what a person found not to have been created. */
export const declaredCode = "declared";

/** The values of an operation that decide whether its reference can still be used. */
interface Ended {
  state: State | null;
  status: string | null;
  code: string | null;
}

/**
 * True if nothing was created and the reference may be sent again. A rejection for lack of access says
 * nothing about the payout itself; any other rejection retires the reference (P17).
 */
export function isFree({ state, code }: Omit<Ended, "status">): boolean {
  return state === "NOT_SENT" || (state === "REFUSED" && code === "access");
}

/** True if the API rejected it for what was requested: sent again, it may be corrected. */
export function isCorrectable({ state, code }: Omit<Ended, "status">): boolean {
  return state === "REFUSED" && !isFree({ state, code });
}

/**
 * True if the reference is retired and no payout of it exists. Only one that lenden generated is sent again, for a day
 * (P17).
 */
export function isUsedUp({ state, status, code }: Ended): boolean {
  if (state === "REFUSED") return !isFree({ state, code });
  return state === "CONFIRMED" && status === "Cancelled";
}

/**
 * The actions that a state allows, stored with each operation so that SQL can filter on them: `unresolved` (it may
 * have moved money), `live` (it moved or will move money), `free` (its reference may be sent again),
 * `retired` (its reference may not).
 */
export const phases = ["unresolved", "live", "free", "retired"] as const;
export type Phase = (typeof phases)[number];

export function phaseOf(ended: Ended & { state: State }): Phase {
  if (isUnresolved(ended)) return "unresolved";
  if (isFree(ended)) return "free";
  return isUsedUp(ended) ? "retired" : "live";
}

/** The command that only tests the API, in sandboxes. */
export const testCommand = "verify-api";

/** True if an operation only tested the API: it is no duplicate, is not sent again, and is not `@last`. */
export function isTest({ command }: { command: string }): boolean {
  return command === testCommand;
}

/** The command that records operations from a statement. */
const importCommand = "reconcile";

/** True if an operation was recorded from the API's record: whatever its place in the ledger, it is not `@last`. */
export function isImported({ command }: { command: string }): boolean {
  return command === importCommand;
}
