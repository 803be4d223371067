import type { Failure } from "../failure.ts";
import { clean, safeJson } from "./terminal-text.ts";

/** A failure as it stands on stderr: what happened, what to do; or one line of JSON. */
export function errorText({ kind, message, details }: Failure, asJson: boolean): string {
  const { hint, status, code, operation, problems = [] } = details;
  if (asJson) {
    const more = problems.length > 0 ? { problems } : {};
    return `${safeJson({ error: { kind, message, hint, status, code, operation, ...more } })}\n`;
  }
  const lines = [`error: ${message}`, ...problems.map((problem) => `       ${problem}`)];
  return `${[...lines, ...(hint ? [`hint:  ${hint}`] : [])].map(clean).join("\n")}\n`;
}
