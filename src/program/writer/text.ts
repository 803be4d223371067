import type { Paisa } from "../../contract/amount.ts";
import { type Beginner, operationBegun } from "../../ledger/beginning.ts";
import type { Change, Changed } from "../../ledger/changes.ts";
import type { Claim } from "../../ledger/claiming.ts";
import type { Operation, Outcome, ReferencedIntent } from "../../ledger/operation.ts";

/**
 * What goes to the thread that commits, and what comes back, as text: between threads that costs a
 * sixth of what objects cost. Whole numbers are written in quotes, for JSON has no bigint.
 */

/** @param scrub takes the secrets of this moment, the signatures, out of what the service said */
export function textOfChanges(changes: Change[], scrub: (text: string) => string): string {
  const settled = changes.filter((change) => change.kind === "settle").map(writtenSettled);
  const claims = changes.filter((change) => change.kind === "claim").map(writtenIntent);
  return `[${scrub(JSON.stringify(settled))},${JSON.stringify(claims)}]`;
}

/** The same changes, but for their order, which means nothing inside one commit. */
export function changesOf(text: string): Change[] {
  const [settled, claims]: [WrittenSettled[], WrittenIntent[]] = JSON.parse(text);
  return [...settled.map(settledOf), ...claims.map(claimedOf)];
}

/** Of what was begun it says only what the intent does not. */
export function textOfChanged(changed: Changed[]): string {
  const claims = changed.filter((one) => one !== undefined && one.kind !== "taken");
  const begun = claims.find(({ kind }) => kind === "new")?.operation;
  // The settled ones come first, as `changesOf` has them.
  const taken = changed.flatMap((one, index): WrittenTaken[] =>
    one?.kind === "taken" ? [[index, one.by]] : [],
  );
  return JSON.stringify([begun ? beginnerOf(begun) : null, claims.map(writtenClaim), taken]);
}

/** @param changes what was asked for, in its order */
export function changedOf(text: string, changes: Change[]): Changed[] {
  const [by, claims, taken]: [Beginner | null, WrittenClaim[], WrittenTaken[]] = JSON.parse(text);
  const next = claims.values();
  const takenBy = new Map(taken);
  let settled = -1;
  return changes.map((change) => {
    if (change.kind === "claim") return claimOf(next.next().value, change.intent, by);
    settled += 1;
    const holder = takenBy.get(settled);
    return holder === undefined ? undefined : { kind: "taken", by: holder };
  });
}

/** The place among the settled, and the operation that has the id. */
type WrittenTaken = [settled: number, by: string];

type Settled = Extract<Change, { kind: "settle" }>;
type WrittenSettled = [number: string, outcome: Outcome, letGo: boolean];

function writtenSettled({ number, outcome, letGo }: Settled): WrittenSettled {
  return [String(number), outcome, letGo];
}

function settledOf([number, outcome, letGo]: WrittenSettled): Settled {
  return { kind: "settle", number: BigInt(number), outcome, letGo };
}

type Claimed = Extract<Change, { kind: "claim" }>;
type WrittenIntent = [
  ReferencedIntent["kind"],
  reference: string,
  fingerprint: string,
  amountPaisa: string | null,
  target: string | null,
  asked: ReferencedIntent["asked"],
];

function writtenIntent({ intent }: Claimed): WrittenIntent {
  const { kind, reference, fingerprint, amountPaisa, target, asked } = intent;
  return [kind, reference, fingerprint, textOf(amountPaisa), target, asked];
}

function claimedOf([kind, reference, fingerprint, amount, target, asked]: WrittenIntent): Claimed {
  const amountPaisa = paisaOf(amount);
  return { kind: "claim", intent: { kind, reference, fingerprint, amountPaisa, target, asked } };
}

type WrittenBegun = [number: string, id: string, target: string | null];
type WrittenOperation = Omit<Operation, "number" | "amountPaisa"> & {
  number: string;
  amountPaisa: string | null;
};
type Rewritten<One> = One extends { operation: Operation }
  ? Omit<One, "operation"> & { operation: WrittenOperation }
  : never;
type WrittenFound = Rewritten<Exclude<Claim, { kind: "new" }>>;
type WrittenClaim = WrittenBegun | WrittenFound;

function writtenClaim(claim: Claim): WrittenClaim {
  const { operation } = claim;
  const number = String(operation.number);
  if (claim.kind === "new") return [number, operation.id, operation.target];
  const numbers = { number, amountPaisa: textOf(operation.amountPaisa) };
  return { ...claim, operation: { ...operation, ...numbers } };
}

function claimOf(
  claim: WrittenClaim | undefined,
  intent: ReferencedIntent,
  by: Beginner | null,
): Claim {
  if (!claim) throw new TypeError("a claim without an answer");
  if (!Array.isArray(claim)) return foundOf(claim);
  if (!by) throw new TypeError("a beginning by nobody");
  const [number, id, target] = claim;
  const operation = operationBegun(intent, { number: BigInt(number), id, target }, by);
  return { kind: "new", operation };
}

function foundOf(claim: WrittenFound): Claim {
  const { operation } = claim;
  const numbers = { number: BigInt(operation.number), amountPaisa: paisaOf(operation.amountPaisa) };
  return { ...claim, operation: { ...operation, ...numbers } };
}

/** The same for all that is begun in one change. */
function beginnerOf({ holder, ...operation }: Operation): Beginner {
  if (!holder) throw new TypeError("a beginning by nobody");
  const { user, command, profile, environment, baseUrl } = operation;
  return { holder, user, command, profile, environment, baseUrl };
}

function textOf(amountPaisa: Paisa | null): string | null {
  return amountPaisa === null ? null : String(amountPaisa);
}

function paisaOf(amount: string | null): Paisa | null {
  return amount === null ? null : BigInt(amount);
}
