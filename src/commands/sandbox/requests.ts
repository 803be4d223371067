import type { RecordedExchange } from "../../contract/local.ts";
import { defineCommand } from "../../frame/command.ts";
import type { Context } from "../../frame/context.ts";
import { flag } from "../../frame/flag.ts";
import { type Row, text, time, type View } from "../../ui/view.ts";

const pollMs = 300;

export const sandboxRequests = defineCommand(
  {
    name: "sandbox requests",
    summary: "Show what the local sandbox was asked, and what it answered",
    examples: [
      { line: "lenden sandbox requests", says: "the last thousand" },
      {
        line: "lenden sandbox requests --follow --json",
        says: "as they come, with bodies, one JSON document a line",
      },
    ],
    flags: { follow: flag.toggle("--follow", "Go on and show new ones as they come") },
    sandboxOnly: true,
    exits: ["access", "unreachable"],
    async *run({ follow }, context) {
      let after = 0;
      let shown = false;
      do {
        const found = await exchangesAfter(after, context);
        if (found.length > 0 || (!shown && !follow)) yield found;
        shown = true;
        after = found.at(-1)?.number ?? after;
        if (found.length === 0 && !follow) return;
        if (found.length === 0) await context.host.sleep(pollMs, context.stopping);
      } while (!context.stopping.aborted);
    },
    view,
  },
  { streams: true },
);

/** One answer holds a part of them; an empty one means that there are no more. */
async function exchangesAfter(after: number, context: Context): Promise<RecordedExchange[]> {
  const { dataOf } = await import("../../operations/outcome.ts");
  return dataOf(await (await context.local()).listExchanges({ after: String(after) }));
}

function view(exchanges: RecordedExchange[]): View {
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
    ],
    rows: exchanges.map(row),
    empty: "It was asked nothing yet.",
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
    },
  };
}
