import { usage } from "../../failure.ts";
import type { Context, StoredCallback } from "../../frame/context.ts";

/** A callback of the ledger as scripts get it in a list: without what it was made of. */
export function listed({ judged, body: _, headers: __, ...callback }: StoredCallback) {
  return {
    ...callback,
    verdict: judged?.verdict ?? null,
    because: judged?.because ?? null,
    records: judged?.records ?? [],
  };
}

export type KeptCallback = ReturnType<typeof listed>;

/** The callback of a number, or the failure that says that there is none. */
export async function callbackNumbered(number: number, context: Context): Promise<StoredCallback> {
  const found = (await context.ledger()).callbacks().find(number);
  if (found) return found;
  throw usage(
    [`The ledger has no callback ${number} of this account.`],
    "'lenden callback list' shows all of them.",
  );
}
