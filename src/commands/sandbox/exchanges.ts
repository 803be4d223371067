import type { RecordedExchange } from "../../api/contract/local.ts";
import type { Context } from "../../cli/command/context.ts";

/** What the local sandbox has kept, part by part; an empty part means that it has no more by now. */
export async function* keptExchanges(
  context: Pick<Context, "local" | "stopping">,
  after = 0,
): AsyncIterable<RecordedExchange[]> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const local = await context.local();
  let last = after;
  while (!context.stopping.aborted) {
    const part = dataOf(await local.listExchanges({ after: String(last) }));
    last = part.at(-1)?.number ?? last;
    yield part;
  }
}
