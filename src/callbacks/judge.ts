import type { ServiceRecord } from "../api/contract/index.ts";
import { type Paisa, paisaOf, readAmount } from "../domain/amount.ts";
import { hasEnded } from "../domain/statuses.ts";
import type { Claimed } from "./claims.ts";
import type { Contents, NamedValue } from "./contents.ts";
import { type Found, isFound, subjectsOf } from "./looked-up.ts";
import { meaningOf } from "./status-words.ts";
import type { Verdict } from "./verdicts.ts";

/** What the person who waits for a callback knows already. */
export interface Expected {
  amountPaisa?: Paisa | undefined;
  reference?: string | undefined;
}

interface Judgement {
  verdict: Verdict;
  /** Why it is not verified, in one sentence. */
  because: string | null;
}

/** Of all that is wrong with a callback, the worst is its verdict. */
export function judge(
  looked: Claimed[],
  { values, trouble, unclear }: Contents,
  expected: Expected,
): Judgement {
  const found = looked.filter(isFound);
  const subjects = subjectsOf(found);
  const judgements = found.map((one) =>
    judgeRecord(one, looked, subjects.includes(one) ? expected : {}),
  );
  // A name without a kind may be anybody's: an event's own id, say.
  const isUnknown = ({ kind, record }: Claimed) => !record && (kind || found.length === 0);
  const unknown = looked.find(isUnknown)?.statement.id;
  const silent = subjects.find(({ claims, record }) => !claims.status.length && !hasEnded(record));
  return (
    judgements.find(({ verdict }) => verdict === "forged") ??
    judgements.find(({ verdict }) => verdict === "mismatched") ??
    (subjects.length > 1 ? mismatched("It is about more than one record.") : undefined) ??
    (trouble ? mismatched("It says something twice, in one place.") : undefined) ??
    (unknown === undefined ? undefined : notKnown(`The service does not know ${unknown}.`)) ??
    (unclear ? notKnown(`${unclear}, so that what it claims cannot be compared.`) : undefined) ??
    (found.every(({ record }) => record.status !== "Completed") && values.some(hints)
      ? notKnown("Something in it means Completed, and the service does not say so.")
      : undefined) ??
    (silent
      ? notKnown(`It claims no status, and the service says ${silent.record.status}.`)
      : { verdict: "verified", because: null })
  );
}

function judgeRecord(one: Claimed & Found, looked: Claimed[], expected: Expected): Judgement {
  const { statement, record, claims } = one;
  if (record.status !== "Completed" && claims.status.some(meansCompleted)) {
    const because = `It says Completed, and the service says ${record.status}.`;
    return { verdict: "forged", because };
  }
  const wrong = [
    ...(claims.status.every((word) => isSameStatus(word, record)) ? [] : ["the status"]),
    ...(claims.amount.every((text) => isSameAmount(text, record)) ? [] : ["the amount"]),
    ...(isTold(claims.description, record) ? [] : ["the description"]),
    ...(isOfItsPayment(one, looked) ? [] : ["the payment"]),
    ...(isExpectedAmount(expected, record) ? [] : ["the amount that you expect"]),
    ...(isExpectedReference(expected, record) ? [] : ["the reference that you expect"]),
  ];
  if (wrong.length === 0) return { verdict: "verified", because: null };
  return mismatched(`What the service has under ${statement.id} differs: ${wrong.join(", ")}.`);
}

/** Such as `payment.completed` as the name of an event: a handler may go by it. */
function hints({ name, value, isText }: NamedValue): boolean {
  return isText && name !== "description" && meansCompleted(value.split(/[^\p{L}]+/u).at(-1) ?? "");
}

function mismatched(because: string): Judgement {
  return { verdict: "mismatched", because };
}

function notKnown(because: string): Judgement {
  return { verdict: "unknown", because };
}

function meansCompleted(word: string): boolean {
  return meaningOf(word) === "Completed";
}

/** A word that the specification does not have is compared as it is. */
export function isSameStatus(word: string, { status }: Pick<ServiceRecord, "status">): boolean {
  return (meaningOf(word) ?? word) === status;
}

export function isSameAmount(text: string, { amount }: Pick<ServiceRecord, "amount">): boolean {
  const read = readAmount(text);
  return read.ok && read.value === paisaOf(amount);
}

/** Where the service gives no description, none can be compared. */
function isTold(claimed: string[], { description }: ServiceRecord): boolean {
  return typeof description !== "string" || claimed.every((text) => text === description.trim());
}

function isOfItsPayment({ kind, record }: Found, looked: Claimed[]): boolean {
  if (kind !== "refund") return true;
  const payments = looked.filter(({ statement }) => statement.kind === "payment");
  return payments.every(({ statement }) => statement.id === record.transactionId);
}

function isExpectedAmount({ amountPaisa }: Expected, { amount }: ServiceRecord): boolean {
  return amountPaisa === undefined || paisaOf(amount) === amountPaisa;
}

function isExpectedReference({ reference }: Expected, record: ServiceRecord): boolean {
  if (reference === undefined) return true;
  return [record.description, record.merchantRef].includes(reference);
}
