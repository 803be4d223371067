import { amountText, signedText } from "../domain/amount.ts";
import type { Kind, Operation } from "../ledger/operation.ts";
import {
  type AccountReport,
  type Bucket,
  entriesIn,
  type Group,
  netOf,
  type Scope,
  type Sums,
  sumIn,
} from "./report.ts";

/** A report as programs read it: every amount is a text. Groups are read while they are printed. */
export function plainReport(scope: Scope, accounts: AccountReport<Iterable<Group>>[]) {
  return {
    by: scope.by,
    since: scope.since ?? null,
    until: scope.until ?? null,
    timeZone: scope.zone,
    accounts: accounts.map(({ groups, total, listed, ...account }) => ({
      ...account,
      groups: plainGroups(groups),
      total: plainSums(total),
      differing: listed.differing.map(({ message, ...one }) => ({ ...plainListed(one), message })),
      noLongerCompleted: listed.noLongerCompleted.map(({ completedAt, status, ...one }) => ({
        ...plainListed(one),
        completedAt,
        status,
      })),
    })),
  };
}

function* plainGroups(groups: Iterable<Group>) {
  for (const { sums, ...group } of groups) yield { ...group, ...plainSums(sums) };
}

function plainListed(
  one: Pick<Operation, "id" | "kind" | "remoteId" | "reference" | "amountPaisa">,
) {
  const { id, kind, remoteId, reference, amountPaisa } = one;
  const requested = amountPaisa === null ? null : amountText(amountPaisa);
  return { operation: id, kind, remoteId, reference, requested };
}

function plainSums(sums: Sums) {
  const sum = (bucket: Bucket, kind: Kind) => {
    const { count, paisa } = sumIn(sums, bucket, [kind]);
    return { count, amount: amountText(paisa) };
  };
  const each = (bucket: Bucket) => ({
    payments: sum(bucket, "payment"),
    refunds: sum(bucket, "refund"),
    payouts: sum(bucket, "payout"),
  });
  return {
    ...each("completed"),
    entries: { count: entriesIn(sums).count, amount: signedText(entriesIn(sums).paisa) },
    net: signedText(netOf(sums)),
    unknown: each("unknown"),
    inProgress: each("inProgress"),
    noLongerCompleted: each("noLongerCompleted"),
    // Their amounts are not proved.
    differing: sumIn(sums, "differing").count,
    notCounted: sumIn(sums, "notCounted").count,
  };
}
