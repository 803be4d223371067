import { decimalText } from "../domain/amount.ts";
import { localIso } from "../domain/local-time.ts";
import type { Kind, ListedOperation } from "../ledger/operation.ts";
import { type Bucket, bucketOf } from "./report.ts";

/** The other side of what an operation adds to the money at the payment provider, or takes from it. */
const accounts: Partial<Record<Kind, string>> = {
  payment: "revenues:payments",
  refund: "revenues:refunds",
  payout: "expenses:payouts",
};

/**
 * A journal for hledger: an entry for each operation that moved money, on the day of its completion. hledger would
 * count a pending entry, so operations of unknown outcome are comments. The same ledger gives the same bytes.
 */
export function createJournal(zone: string) {
  const comments = new Map<Bucket, string[]>();
  return {
    start: "commodity BDT 1000.00",

    /** Undefined for an operation that moved no money, or may not have. */
    entryOf(operation: ListedOperation): string | undefined {
      const { kind, id, remoteId, methodName, batchId, account, environment } = operation;
      const { amountPaisa, completedAt, createdAt } = operation;
      const bucket = bucketOf(operation);
      const at = localIso(completedAt ?? createdAt, zone);
      const [day] = at.split("T");
      const amount = decimalText(amountPaisa ?? 0n);
      if (bucket in notCounted) {
        const own = comments.get(bucket) ?? [];
        comments.set(bucket, own);
        const what = bucket === "differing" ? oneLine(operation.message ?? "") : `BDT ${amount}`;
        own.push(`; ${day} ${titleOf(operation)}: ${what} (${id})`);
      }
      if (bucket !== "completed") return undefined;
      const tags = { operation: id, completed: at, method: methodName, batch: batchId };
      const tagged = Object.entries(tags).flatMap(([name, value]) =>
        // A comma ends the value of a tag.
        value === null ? [] : [`${name}:${value.replace(/[,\s]+/g, " ")}`],
      );
      const owner = `${environment}:${account}`;
      const [into, from] = kind === "payment" ? ["", "-"] : ["-", ""];
      return `
${day} * (${remoteId?.replace(/[();]/g, "")}) ${titleOf(operation)}
    ; ${tagged.join(", ")}
    assets:provider:${owner}  BDT ${into}${amount}
    ${accounts[kind]}:${owner}  BDT ${from}${amount}`;
    },

    /** The operations that may have moved money, or that did before. */
    *end(): Iterable<string> {
      for (const [bucket, heading] of Object.entries(notCounted)) {
        const found = [...comments].find(([one]) => one === bucket)?.[1] ?? [];
        if (found.length > 0) yield `\n; ${heading}, not counted:`;
        yield* found;
      }
    },
  };
}

/** The comments of a journal: what is not counted, and why. */
const notCounted: Partial<Record<Bucket, string>> = {
  unknown: "Outcome unknown",
  differing: "The API's record differs from what was requested",
  noLongerCompleted: "Completed before, and not any more",
};

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function titleOf({ kind, reference, target, asked }: ListedOperation): string {
  const words = {
    payment: ["Payment", asked.description],
    payout: ["Payout", reference, "to", asked.recipientNumber, asked.recipientName],
    refund: ["Refund of", target, "to", asked.accountNumber],
    cancel: [],
    trigger: [],
  }[kind];
  // A semicolon starts a comment, and a bar ends the payee.
  return words
    .filter((word) => typeof word === "string")
    .join(" ")
    .replace(/[;|\s]+/g, " ");
}
