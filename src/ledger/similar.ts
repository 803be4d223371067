import type { Database } from "../sqlite/database.ts";
import type { Intent, Operation, Owner } from "./operation.ts";
import { openSelect, openSelectOfService } from "./select.ts";

export type Similar = ReturnType<typeof openSimilar>;

/** What there was before, oldest first: the service would do the same thing twice. */
export function openSimilar(database: Database, owner: Owner) {
  const select = openSelect(database, owner);
  const byTarget = select("AND kind = ? AND target = ? ORDER BY number");
  const refunds = openSelectOfService(
    database,
    owner,
  )("AND kind = 'refund' AND target = ? ORDER BY number");
  const byFingerprint = select("AND kind = 'payment' AND fingerprint = ? ORDER BY number");
  return {
    /** Those of the same target; payments, which have none: those of the very same request. */
    similarTo: ({ kind, target, fingerprint }: Intent): Operation[] => {
      if (target === null) return byFingerprint.all(fingerprint);
      return kind === "refund" ? refunds.all(target) : byTarget.all(kind, target);
    },

    /** What was paid back of a payment, or may have been: by any API key, for the payment is one. */
    refundsOf: (transactionId: string): Operation[] => refunds.all(transactionId),
  };
}
