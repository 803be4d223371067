import type { Change, Changed } from "../../ledger/changes.ts";
import type { Claim } from "../../ledger/claiming.ts";
import type { Intent, Operation, ReferencedIntent } from "../../ledger/operation.ts";

/**
 * What goes to the thread that commits, and what comes back, as text: between threads that costs a
 * sixth of what objects cost. Whole numbers are written in quotes, for JSON has no bigint.
 */

/** @param scrub takes the secrets of this moment, the signatures, out of what the service said */
export function textOfChanges(changes: Change[], scrub: (text: string) => string): string {
  const texts = changes.map((change) =>
    change.kind === "claim"
      ? JSON.stringify({ ...change, intent: written(change.intent) })
      : scrub(JSON.stringify({ ...change, number: String(change.number) })),
  );
  return `[${texts.join(",")}]`;
}

export function changesOf(text: string): Change[] {
  const read: (
    | { kind: "claim"; intent: Written<ReferencedIntent> }
    | (Omit<Extract<Change, { kind: "settle" }>, "number"> & { number: string })
  )[] = JSON.parse(text);
  return read.map((change) =>
    change.kind === "claim"
      ? { kind: "claim", intent: { ...change.intent, amountPaisa: paisa(change.intent) } }
      : { ...change, number: BigInt(change.number) },
  );
}

export function textOfChanged(changed: Changed[]): string {
  return JSON.stringify(
    changed.map((claim) =>
      claim === undefined
        ? null
        : {
            ...claim,
            operation: { ...written(claim.operation), number: String(claim.operation.number) },
          },
    ),
  );
}

export function changedOf(text: string): Changed[] {
  const read: (WrittenClaim | null)[] = JSON.parse(text);
  return read.map((claim) => {
    if (claim === null) return undefined;
    const { operation } = claim;
    const numbers = { number: BigInt(operation.number), amountPaisa: paisa(operation) };
    // Assigned, not spread: of objects this large that is twenty times quicker.
    return Object.assign(claim, { operation: Object.assign(operation, numbers) });
  });
}

type Written<Value extends Intent> = Omit<Value, "amountPaisa"> & { amountPaisa: string | null };
type WrittenOperation = Omit<Written<Operation>, "number"> & { number: string };
type Rewritten<One> = One extends { operation: Operation }
  ? Omit<One, "operation"> & { operation: WrittenOperation }
  : never;
type WrittenClaim = Rewritten<Claim>;

function written<Value extends Intent>(value: Value): Written<Value> {
  const { amountPaisa } = value;
  return { ...value, amountPaisa: amountPaisa === null ? null : String(amountPaisa) };
}

function paisa({ amountPaisa }: { amountPaisa: string | null }): bigint | null {
  return amountPaisa === null ? null : BigInt(amountPaisa);
}
