import type { Database } from "../sqlite/database.ts";
import { isFree } from "../state.ts";
import type { Kind, Operation, Owner, ReferencedIntent } from "./operation.ts";
import { payeeOf } from "./payee.ts";
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
  const ofService = openSelectOfService(database, owner);
  const byName = [ofService(by("id")), select(by("reference")), select(by("remote_id"))];
  const byAnyReference = ofService("AND reference = ?");
  const byAnyKey = [byAnyReference, ofService("AND remote_id = ?")];
  const byNumber = select("AND number = ?");
  const record = "AND kind = ? AND remote_id = ? ORDER BY +number DESC LIMIT 1";
  const payoutById = select(record);
  const byRemoteId = ofService(record);
  const isOwn = ({ number }: Operation): boolean => byNumber.first(number) !== undefined;
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
    isOwn,

    /** Of another API key of this service, by a payout's reference, or by the service's id. */
    findOfOtherKey: (name: string): Operation | undefined =>
      byAnyKey.flatMap((question) => question.all(name)).find((one) => !isOwn(one)),

    /**
     * The very payout, where another key left it refused, so that it may have gone on by a new reference,
     * or in doubt. One to somebody else may be another merchant's.
     */
    leftByOtherKey: ({
      reference,
      amountPaisa,
      asked,
    }: ReferencedIntent): Operation | undefined => {
      const all = byAnyReference.all(reference);
      if (all.some((one) => isOwn(one) && !isFree(one))) return undefined;
      const payee = payeeOf(String(asked.recipientNumber));
      return all.find(
        (one) =>
          !isOwn(one) &&
          one.amountPaisa === amountPaisa &&
          payeeOf(String(one.asked.recipientNumber)) === payee &&
          one.state !== "CONFIRMED" &&
          !isFree(one),
      );
    },

    /**
     * The operation that made a record of the service, with whatever API key. The same payout may be
     * asked for with each of them, for its reference leads to it.
     */
    ofRecord: (kind: Kind, remoteId: string): Operation | undefined =>
      (kind === "payout" ? payoutById : byRemoteId).first(kind, remoteId),
  };
}
