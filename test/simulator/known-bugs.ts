/**
 * Bugs of src that the simulator found and that are not mended yet: it looks away from exactly
 * these, so that it goes on finding others. Take a line out to see its bug; mend it, then the line
 * must go. `simulator/found.test.ts` holds the smallest case of each.
 */
const known: readonly KnownBug[] = [];

export type KnownBug =
  | "a resumed payout is sent while the ledger says NOT_SENT or REFUSED"
  | "a killed attempt is not awaited"
  | "a payment or a refund that ended in CONFLICT does not count"
  | "a cancel in doubt is called refused or not sent"
  | "what another process holds can be resolved"
  | "a failing ledger after the end is called a fault without sending"
  | "an adopted record is not compared with the recipient";

export function isKnown(bug: KnownBug): boolean {
  return process.env.LENDEN_STRICT === undefined && known.includes(bug);
}
