import type { RecordedExchange } from "../../api/contract/local.ts";
import type { Context } from "../../cli/command/context.ts";

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
