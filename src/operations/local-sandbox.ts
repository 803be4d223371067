import type { ClientOf } from "../api/client.ts";
import type { localContract } from "../api/contract/local.ts";
import type { Answer } from "../api/response.ts";
import { dataOf } from "./response-failure.ts";

/** The endpoints that only a local sandbox has. */
export type LocalClient = ClientOf<typeof localContract>;

/**
 * The pages of a list that a local sandbox has now.
 *
 * @param after the number of the last item that is known
 */
export async function* localPages<Item extends { number: number }>(
  request: (from: { after: string }) => Promise<Answer<Item[]>>,
  after = 0,
): AsyncGenerator<Item[]> {
  for (let last = after; ; ) {
    const page = dataOf(await request({ after: String(last) }));
    if (page.length === 0) return;
    yield page;
    last = page.at(-1)?.number ?? last;
  }
}
