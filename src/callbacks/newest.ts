import type { CallbackFilter, CallbackStore, StoredCallback } from "../ledger/callback.ts";

const pageSize = 500;

/** Reads the newest callbacks page by page, because they have their bodies. */
export async function* newestCallbacks(
  store: Pick<CallbackStore, "list">,
  filter: CallbackFilter,
  most: number,
): AsyncGenerator<StoredCallback> {
  let below: number | undefined;
  for (let left = most; left > 0; left -= pageSize) {
    const size = Math.min(left, pageSize);
    const page = await store.list(filter, size, below);
    yield* page;
    if (page.length < size) return;
    below = page.at(-1)?.number;
  }
}
