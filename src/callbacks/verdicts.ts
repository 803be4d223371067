/**
 * `verified`: all of it was understood, and is what the service has. `forged`: it says Completed, and
 * the service does not. `mismatched`: the service has something else under this id. `unknown`: it
 * names nothing that the service knows, or not all of it was understood, or it says nothing of what is
 * not decided. `unchecked`: the service could not be asked.
 */
export const verdicts = ["verified", "forged", "mismatched", "unknown", "unchecked"] as const;
export type Verdict = (typeof verdicts)[number];
