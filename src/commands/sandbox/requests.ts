import type { RecordedExchange } from "../../api/contract/local.ts";
import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { type Row, text, time, type View } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { keptExchanges } from "./exchanges.ts";

const pollMs = 300;

/** All that were kept at once, or one after the other. */
type Found = RecordedExchange[] | RecordedExchange;

export const sandboxRequests = defineCommand({
  name: "sandbox requests",
  summary: "Show what the local sandbox was asked and answered, and the callbacks it sent",
  examples: [
    { line: "lenden sandbox requests", says: "the last thousand, as a table" },
    {
      line: "lenden sandbox requests --follow --json",
      says: "as they come, with bodies, one JSON document a line",
    },
  ],
  flags: { follow: flag.toggle("--follow", "Go on and show new ones as they come") },
  sandboxOnly: true,
  untilStopped: true,
  exits: ["access", "unreachable"],
  run({ follow }, context): Promise<Found> | AsyncIterable<Found> {
    return follow ? followExchanges(context) : allExchanges(context);
  },
  view: (found) => (Array.isArray(found) ? tableOf(found) : lineOf(found)),
});

async function allExchanges(context: Context): Promise<RecordedExchange[]> {
  const kept: RecordedExchange[] = [];
  for await (const part of keptExchanges(context)) {
    if (part.length === 0) break;
    kept.push(...part);
  }
  return kept;
}

async function* followExchanges(context: Context): AsyncIterable<RecordedExchange> {
  for await (const part of keptExchanges(context)) {
    yield* part;
    if (part.length === 0) await context.host.sleep(pollMs, context.stopping);
  }
}

function lineOf(exchange: RecordedExchange): View {
  const { number, at, method, path, status, attempt, fault } = exchange;
  const which = attempt ? `callback, try ${attempt}` : "";
  const why = whyUnanswered(exchange) ?? "";
  const parts = [formatTime(at), method, path, status ?? "no answer", which, fault ?? "", why];
  return { kind: "line", id: String(number), text: parts.filter((part) => part !== "").join("  ") };
}

/** What kept a callback from its answer; of requests that were not answered, `fault` says it. */
function whyUnanswered({ status, attempt, answer }: RecordedExchange): string | null {
  return status === null && attempt !== null && typeof answer === "string" ? answer : null;
}

function tableOf(exchanges: RecordedExchange[]): View {
  return {
    kind: "table",
    columns: [
      { key: "number", label: "#" },
      { key: "at", label: "TIME" },
      { key: "method", label: "METHOD" },
      { key: "path", label: "PATH" },
      { key: "status", label: "STATUS" },
      { key: "durationMs", label: "MS" },
      { key: "fault", label: "FAULT" },
      { key: "attempt", label: "TRY" },
      { key: "why", label: "WHY NOT ANSWERED" },
    ],
    rows: exchanges.map(row),
    empty:
      "It was asked nothing yet. Run something against it in another terminal, for example 'lenden methods'.",
  };
}

function row(exchange: RecordedExchange): Row {
  return {
    id: String(exchange.number),
    cells: {
      number: text(exchange.number),
      at: time(exchange.at),
      method: text(exchange.method),
      path: text(exchange.path),
      status: text(exchange.status),
      durationMs: text(Math.round(exchange.durationMs)),
      fault: text(exchange.fault),
      attempt: text(exchange.attempt),
      why: text(whyUnanswered(exchange)),
    },
  };
}
