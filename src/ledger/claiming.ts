import { sameMobile } from "../contract/mobile.ts";
import type { Database } from "../sqlite/database.ts";
import { isFree, isUnsettled } from "../state.ts";
import type { History } from "./history.ts";
import type { Holder, Operation, ReferencedIntent } from "./operation.ts";
import { holderIn } from "./rows.ts";
import { openSelect } from "./select.ts";
import { holderNow, nowIn, type Worker } from "./worker.ts";

/** What came of asking for an operation. */
export type Claim =
  | { kind: "new"; operation: Operation }
  /** It was begun before and may go on; nobody else works on it. */
  | { kind: "resumed"; operation: Operation }
  /** It is known, and its outcome is certain. */
  | { kind: "known"; operation: Operation }
  /** The reference belongs to something else. */
  | { kind: "other"; operation: Operation }
  | { kind: "held"; operation: Operation; by: Holder };

/** Decides who may work on the operation of a reference. */
export function openClaiming(database: Database, worker: Worker, history: History) {
  const byReference = openSelect(database, worker.owner)("AND reference = ?");
  const byNumber = database.prepare("SELECT holder FROM operations WHERE number = ?");
  // Who read it before must see that it has moved, also once this process is dead.
  const hold = database.prepare(
    "UPDATE operations SET holder = ?1, updated_at = ?2, resumed_at = ?2 WHERE number = ?3",
  );
  const reopen = database.prepare(
    "UPDATE operations SET state = 'INTENT', reopened_at = ? WHERE number = ?",
  );
  return {
    /**
     * Inside the transaction that tried to begin it: what was not begun is in the ledger already. One
     * process at a time, and one payout for each reference (I2, I3).
     */
    claim(intent: ReferencedIntent, begun: Operation | undefined): Claim {
      if (begun) return { kind: "new", operation: begun };
      const operation = byReference.first(intent.reference);
      if (!operation) throw lost();
      if (!isSamePayout(operation, intent)) return { kind: "other", operation };
      if (operation.holder && worker.isAlive(operation.holder)) {
        return { kind: "held", operation, by: operation.holder };
      }
      if (isUnsettled(operation) || isFree(operation))
        return { kind: "resumed", operation: take(operation) };
      return { kind: "known", operation };
    },

    take,

    /** The process that works on an operation, where one still does. */
    holderOf({ number }: Operation): Holder | undefined {
      const row = byNumber.get(number);
      if (!row) throw lost();
      const holder = holderIn(row);
      return holder && worker.isAlive(holder) ? holder : undefined;
    },
  };

  /**
   * This process works on it from now on, and it may be sent again, although it had ended. Gives it as it
   * was, but since when it may be sent.
   */
  function take(operation: Operation): Operation {
    const { number } = operation;
    const now = nowIn(worker);
    hold.run(JSON.stringify(holderNow(worker)), now, number);
    if (isUnsettled(operation)) {
      history.add(now, [{ operation: number, event: "resumed", data: "{}" }]);
      return operation;
    }
    reopen.run(now, number);
    history.add(now, [{ operation: number, event: "reopened", data: '{"state":"INTENT"}' }]);
    return { ...operation, openedAt: now };
  }
}

/** The same amount, method and recipient. A fingerprint also depends on how the number is written. */
function isSamePayout(operation: Operation, intent: ReferencedIntent): boolean {
  if (operation.fingerprint === intent.fingerprint) return true;
  const [one, other] = [operation.asked, intent.asked];
  const [number, otherNumber] = [one.recipientNumber, other.recipientNumber];
  return (
    operation.amountPaisa === intent.amountPaisa &&
    one.paymentMethodId === other.paymentMethodId &&
    typeof number === "string" &&
    typeof otherNumber === "string" &&
    sameMobile(number, otherNumber) === "same"
  );
}

function lost(): Error {
  return new Error("the ledger lost an operation that it just had");
}
