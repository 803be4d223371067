/**
 * `genuine`: all that it says is what the service has. `forged`: it says Completed, and the service
 * does not. `contradicted`: the service has something else under this id. `unknown`: it names nothing
 * that the service knows. `unanswered`: the service could not be asked.
 */
export const verdicts = ["genuine", "forged", "contradicted", "unknown", "unanswered"] as const;
export type Verdict = (typeof verdicts)[number];
