import type { RecordedExchange } from "../../api/contract/local.ts";
import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { type Row, text, time, type View } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { keptExchanges } from "./exchanges.ts";

const pollMs = 300;

/** All exchanges at once, or one after the other. */
type Found = RecordedExchange[] | RecordedExchange;

export const sandboxRequests = defineCommand({
  examples: [
    {
      comment: "Show the last thousand requests and callbacks",
      command: "lenden sandbox requests",
    },
    {
      comment: "Print new ones with their bodies as JSON",
      command: "lenden sandbox requests --follow --json",
    },
  ],
  flags: { follow: flag.toggle("--follow", "Show new requests as they arrive") },
  sandboxOnly: true,
  untilStopped: true,

  run({ follow }, context): Promise<Found> | AsyncIterable<Found> {
    return follow ? followExchanges(context) : allExchanges(context);
  },
  view: (found) => (Array.isArray(found) ? tableOf(found) : lineOf(found)),
});

async function allExchanges(context: Context): Promise<RecordedExchange[]> {
  const all: RecordedExchange[] = [];
  for await (const page of keptExchanges(context)) {
    if (page.length === 0) break;
    all.push(...page);
  }
  return all;
}

async function* followExchanges(context: Context): AsyncIterable<RecordedExchange> {
  for await (const page of keptExchanges(context)) {
    yield* page;
    if (page.length === 0) await context.host.sleep(pollMs, context.stopping);
  }
}

function lineOf(exchange: RecordedExchange): View {
  const { number, at, method, path, status, attempt, fault } = exchange;
  const which = attempt ? `callback, attempt ${attempt}` : "";
  const error = errorOf(exchange) ?? "";
  const parts = [formatTime(at), method, path, status ?? "no response", which, fault ?? "", error];
  return { kind: "line", id: String(number), text: parts.filter((part) => part !== "").join("  ") };
}

/** Why a callback has no response; for a request, `fault` says it. */
function errorOf({ status, attempt, answer }: RecordedExchange): string | null {
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
      { key: "attempt", label: "ATTEMPT" },
      { key: "why", label: "ERROR" },
    ],
    rows: exchanges.map(row),
    empty: "No requests yet. Run a command in another terminal, for example 'lenden methods'.",
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
      why: text(errorOf(exchange)),
    },
  };
}
