import type { Database } from "../sqlite/database.ts";
import type { Kind, Operation, Owner } from "./operation.ts";
import { openSelect, openSelectOfService } from "./select.ts";

/** One operation of the account, by what somebody knows of it. */
export function openLookups(database: Database, owner: Owner) {
  const select = openSelect(database, owner);
  const confirmed = select(
    "AND kind = ? AND remote_id IS NOT NULL ORDER BY number DESC LIMIT 1 OFFSET ?",
  );
  const any = select("ORDER BY number DESC LIMIT 1 OFFSET ?");
  // Without the plus SQLite would walk through all of them by their number, to avoid the sorting.
  const by = (column: string) => `AND ${column} = ? ORDER BY +number DESC LIMIT 1`;
  const byName = [
    openSelectOfService(database, owner)(by("id")),
    select(by("reference")),
    select(by("remote_id")),
  ];
  const byNumber = select("AND number = ?");
  const byRemoteId = select("AND kind = ? AND remote_id = ? ORDER BY number DESC LIMIT 1");
  return {
    /** The newest of a kind that the service confirmed is 1, the one before it 2. */
    newest: (kind: Kind, place: number): Operation | undefined =>
      confirmed.first(kind, BigInt(place - 1)),

    /** The same of any kind, confirmed or not. */
    latest: (place: number): Operation | undefined => any.first(BigInt(place - 1)),

    /** By its own id, of any API key; by a payout's reference, or by the service's id. */
    find: (name: string): Operation | undefined => {
      for (const question of byName) {
        const found = question.first(name);
        if (found) return found;
      }
      return undefined;
    },

    /** Whether it was begun with the API key of this run: one that `find` knows by its id may not be. */
    isOwn: ({ number }: Operation): boolean => byNumber.first(number) !== undefined,

    /** The operation that made a record of the service. */
    ofRecord: (kind: Kind, remoteId: string): Operation | undefined =>
      byRemoteId.first(kind, remoteId),
  };
}
