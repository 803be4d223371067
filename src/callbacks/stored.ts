import { Failure } from "../domain/failure.ts";
import type { CallbackFilter, CallbackStore, StoredCallback } from "../ledger/callback.ts";

/** @throws Failure `callback.not-found` */
export async function callbackNumbered(
  number: number,
  { callbacks }: { callbacks: Pick<CallbackStore, "find"> },
): Promise<StoredCallback> {
  const found = await callbacks.find(number);
  if (found) return found;
  throw new Failure("callback.not-found", `This account has no callback ${number}.`, {
    hint: "To list its callbacks, run 'lenden callback list'.",
  });
}

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
