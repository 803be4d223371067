import type { RecordedExchange } from "../../api/contract/local.ts";
import type { Context } from "../../cli/command/context.ts";
import { formatTime } from "../../domain/local-time.ts";
import { basePath } from "../../domain/url.ts";

/** The journal of the local sandbox in pages; an empty page means that there are no more exchanges now. */
export async function* exchangePages(
  context: Pick<Context, "api" | "stopping">,
  after = 0,
): AsyncIterable<RecordedExchange[]> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const local = await context.api.local();
  let last = after;
  while (!context.stopping.aborted) {
    const page = dataOf(await local.listExchanges({ after: String(last) }));
    last = page.at(-1)?.number ?? last;
    yield page;
  }
}

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
