import { decimalText, type Paisa } from "../domain/amount.ts";
import type { EntryCategory } from "../domain/entry-category.ts";
import { localIso } from "../domain/local-time.ts";
import type { ListedEntry } from "../ledger/entry.ts";
import type { Kind, ListedOperation } from "../ledger/operation.ts";
import { type Bucket, bucketOf } from "./report.ts";

/** The other side of what an operation adds to the money at the payment provider, or takes from it. */
const accounts: Partial<Record<Kind, string>> = {
  payment: "revenues:payments",
  refund: "revenues:refunds",
  payout: "expenses:payouts",
};

/** The other side of an entry. */
const entryAccounts: Record<EntryCategory, string> = {
  fee: "expenses:fees",
  interest: "revenues:interest",
  "top-up": "assets:bank",
  settlement: "assets:bank",
  other: "expenses:other",
};

/**
 * A journal for hledger: an entry for each operation that moved money, on the day of its completion. hledger would
 * count a pending entry, so operations of unknown outcome are comments. The same ledger gives the same bytes.
 */
export function createJournal(zone: string) {
  const comments = new Map<Bucket, string[]>();
  const declared = new Set<string>();
  /** The directives of accounts before their first use, for hledger's strict mode. */
  const declarations = (...used: string[]) =>
    used.filter((one) => !declared.has(one) && declared.add(one)).map((one) => `account ${one}\n`);
  return {
    start: "commodity BDT 1000.00",

    /** Undefined for an operation that moved no money, or may not have. */
    entryOf(operation: ListedOperation): string | undefined {
      const { kind, remoteId, methodName, batchId } = operation;
      const { amountPaisa, completedAt, createdAt } = operation;
      const id = oneLine(operation.id);
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
      const owner = ownerOf(operation);
      const [into, from] = kind === "payment" ? ["", "-"] : ["-", ""];
      const [provider, other] = [`assets:provider:${owner}`, `${accounts[kind]}:${owner}`];
      return `
${declarations(provider, other).join("")}${day} * (${plainTitle(remoteId ?? "").replace(/[()]/g, "")}) ${titleOf(operation)}
    ; ${tagged.join(", ")}
    ${provider}  BDT ${into}${amount}
    ${other}  BDT ${from}${amount}`;
    },

    /** Of an entry of the ledger, such as a fee. */
    entryOfStatement(entry: ListedEntry) {
      const { category, reason, line, bookedAt, paisa } = entry;
      const owner = ownerOf(entry);
      const [provider, other] = [`assets:provider:${owner}`, `${entryAccounts[category]}:${owner}`];
      const [day] = localIso(bookedAt, zone).split("T");
      const amount = (sum: Paisa) => `${sum < 0n ? "-" : ""}${decimalText(sum < 0n ? -sum : sum)}`;
      return `
${declarations(provider, other).join("")}${day} * ${plainTitle(`${category}: ${reason}`)}
    ; ${plainTitle(line)}
    ${provider}  BDT ${amount(paisa)}
    ${other}  BDT ${amount(-paisa)}`;
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

/** The last parts of the names of accounts. Another login may have recorded them. */
function ownerOf({ environment, account }: Pick<ListedOperation, "environment" | "account">) {
  return plainTitle(`${environment}:${account}`);
}

function titleOf({ kind, reference, target, asked }: ListedOperation): string {
  const words = {
    payment: ["Payment", asked.description],
    payout: ["Payout", reference, "to", asked.recipientNumber, asked.recipientName],
    refund: ["Refund of", target, "to", asked.accountNumber],
    cancel: [],
    trigger: [],
  }[kind];
  return plainTitle(words.filter((word) => typeof word === "string").join(" "));
}

/** A semicolon starts a comment, and a bar ends the payee. */
function plainTitle(text: string): string {
  return text.replace(/[;|\s]+/g, " ");
}
