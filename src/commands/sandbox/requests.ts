import type { RecordedExchange } from "../../api/contract/local.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { table, text, time, type View } from "../../cli/output/view.ts";
import { collect } from "../../domain/collect.ts";
import { localPages } from "../../operations/local-sandbox.ts";
import { errorOf, exchangeText } from "../../sandbox/exchange-text.ts";

const pollMs = 300;

/** All exchanges at once, or one after the other. */
type Found = RecordedExchange[] | RecordedExchange;

export const sandboxRequests = defineCommand({
  examples: { "Print new requests as JSON": "lenden sandbox requests --follow --json" },
  flags: { follow: flag.toggle("--follow", "Show new requests as they arrive") },
  sandboxOnly: true,
  mode: "serve",

  run({ follow }, context): Promise<Found> | AsyncIterable<Found> {
    return follow ? followExchanges(context) : allExchanges(context);
  },
  output: ({ z, text, textOrNull, count, each }) =>
    z.array(
      z.looseObject({
        number: count,
        ...each(text, "at method path"),
        ...each(z.nullable(count), "status attempt"),
        fault: textOrNull,
        durationMs: z.number(),
      }),
    ),
  view: (found) =>
    Array.isArray(found)
      ? tableOf(found)
      : { kind: "line", id: String(found.number), text: exchangeText(found) },
});

async function allExchanges({ api, ui }: Context): Promise<RecordedExchange[]> {
  const { listExchanges } = await api.local();
  const all = (await collect(localPages(listExchanges))).flat();
  const older = (all[0]?.number ?? 1) - 1;
  if (older > 0) ui.notice(`${older} older ones are no longer in the log.`);
  return all;
}

async function* followExchanges({ api, host, stopping }: Context): AsyncIterable<RecordedExchange> {
  const { listExchanges } = await api.local();
  for (let last = 0; !stopping.aborted; await host.sleep(pollMs, stopping))
    for await (const page of localPages(listExchanges, last)) {
      yield* page;
      last = page.at(-1)?.number ?? last;
    }
}

function tableOf(exchanges: RecordedExchange[]): View {
  return table(exchanges, {
    id: ({ number }) => String(number),
    empty: "No requests yet. Run a command in another terminal, for example 'lenden methods'.",
    columns: {
      number: ["#", ({ number }) => text(number)],
      at: ["TIME", ({ at }) => time(at)],
      method: ["METHOD", ({ method }) => text(method)],
      path: ["PATH", ({ path }) => text(path)],
      status: ["STATUS", ({ status }) => text(status)],
      durationMs: ["MS", ({ durationMs }) => text(Math.round(durationMs))],
      fault: ["FAULT", ({ fault }) => text(fault)],
      attempt: ["ATTEMPT", ({ attempt }) => text(attempt)],
      why: ["ERROR", (exchange) => text(errorOf(exchange))],
    },
  });
}
