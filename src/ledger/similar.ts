import type { Database } from "../sqlite/database.ts";
import type { Intent, Operation, Owner } from "./operation.ts";
import { openSelectOfService } from "./select.ts";

export type Similar = ReturnType<typeof openSimilar>;

/**
 * What there was before, oldest first: the service would do the same thing twice. It may have been with
 * another API key, for a merchant gets a new one and pays back the same payments.
 */
export function openSimilar(database: Database, owner: Owner) {
  const select = openSelectOfService(database, owner);
  const byTarget = select("AND kind = ? AND target = ? ORDER BY +number");
  const byFingerprint = select("AND kind = 'payment' AND fingerprint = ? ORDER BY +number");
  return {
    /** Those of the same target; payments, which have none: those of the very same request. */
    similarTo: ({ kind, target, fingerprint }: Intent): Operation[] =>
      target === null ? byFingerprint.all(fingerprint) : byTarget.all(kind, target),

    /** What was paid back of a payment, or may have been. */
    refundsOf: (transactionId: string): Operation[] => byTarget.all("refund", transactionId),
  };
}
