/**
 * `genuine`: all of it was understood, and is what the service has. `forged`: it says Completed, and
 * the service does not. `contradicted`: the service has something else under this id. `unknown`: it
 * names nothing that the service knows, or not all of it was understood, or it says nothing of what is
 * not decided. `unanswered`: the service could not be asked.
 */
export const verdicts = ["genuine", "forged", "contradicted", "unknown", "unanswered"] as const;
export type Verdict = (typeof verdicts)[number];
