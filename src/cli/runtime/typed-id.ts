import { Failure, usage } from "../../domain/failure.ts";
import type { Resource } from "../../domain/statuses.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Context } from "../command/context.ts";
import { placeIn } from "../command/place.ts";

/** Reads ids as they are typed: the ledger is opened only for `@last`, `@2`, and so on. */
export function idsOf(ledger: () => Promise<Ledger>): Context["idOf"] {
  return async (kind, typed) => {
    const place = placeIn(typed);
    if (place !== undefined) return newestId(kind, place, await ledger());
    if (typed.startsWith("@")) throw noPlace(typed);
    return typed;
  };
}

function noPlace(typed: string): Failure {
  return usage([
    `${JSON.stringify(typed)} is no place: @last is the newest that was sent from here, @2 the one before it.`,
  ]);
}

async function newestId(kind: Resource, place: number, ledger: Ledger): Promise<string> {
  const id = (await ledger.newest(kind, place))?.remoteId;
  if (id) return id;
  const what = place === 1 ? kind : `${place} ${kind}s`;
  throw new Failure("not-found", `The ledger has no ${what} of this account.`);
}
