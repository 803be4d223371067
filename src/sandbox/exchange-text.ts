import type { RecordedExchange } from "../api/contract/local.ts";
import { formatTime } from "../domain/local-time.ts";
import { basePath } from "../domain/url.ts";

type Shown = Pick<
  RecordedExchange,
  "at" | "method" | "path" | "status" | "durationMs" | "attempt" | "fault"
> & { answer?: unknown };

/** One aligned line, the longest part last: time, method, status, milliseconds, path, fault. */
export function exchangeText(exchange: Shown): string {
  const { at, method, path, status, durationMs, attempt, fault } = exchange;
  const parts = [
    formatTime(at),
    method.padEnd(5),
    status ?? "---",
    `${Math.round(durationMs)} ms`.padStart(8),
    path.replace(basePath, ""),
    ...(attempt === null ? [] : [`callback, attempt ${attempt}`]),
    ...(fault === null ? [] : [fault]),
    errorOf(exchange) ?? "",
  ];
  return parts.join("  ").trimEnd();
}

/** Why a callback has no response; for a request, `fault` says it. */
export function errorOf({ status, attempt, answer }: Shown): string | null {
  return status === null && attempt !== null && typeof answer === "string" ? answer : null;
}
