import type { Context, StoredCallback } from "../../cli/command/context.ts";
import { usage } from "../../domain/failure.ts";

/** A callback of the ledger as scripts get it in a list: without what it was made of. */
export function listed(callback: StoredCallback) {
  const { number, source, receivedAt, count, method, target, judged } = callback;
  const { verdict = null, because = null, records = [] } = judged ?? {};
  return {
    ...{ number, source, receivedAt, count, method, target },
    ...{ forwarded: forwardedOf(callback), verdict, because, records },
  };
}

/** Where it was passed on to, and what answered, also in a word; null where it was to go nowhere. */
export function forwardedOf({ forwarded, judged, isHeld }: StoredCallback) {
  if (!forwarded) return null;
  const { to, status, finding } = forwarded;
  const isOld = finding !== null && finding !== judged?.finding;
  const answer = `${status ?? "no answer"}${isOld ? ", of an earlier verdict" : ""}`;
  const unfinished = isHeld ? "under way" : "cut off";
  return { to, status, answer: finding === null ? unfinished : answer };
}

export type KeptCallback = ReturnType<typeof listed>;

/** The callback of a number, or the failure that says that there is none. */
export async function callbackNumbered(number: number, context: Context): Promise<StoredCallback> {
  const found = await (await context.records()).callbacks.find(number);
  if (found) return found;
  throw usage(
    [`The ledger has no callback ${number} of this account.`],
    "'lenden callback list' shows all of them.",
  );
}
