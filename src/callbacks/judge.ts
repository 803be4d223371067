import { type Paisa, paisaOf, readAmount } from "../contract/amount.ts";
import type { Resource, Status } from "../contract/words.ts";
import type { Statement } from "./statements.ts";
import type { Verdict } from "./verdicts.ts";

/** A record as the service has it. */
export interface ServiceRecord {
  status: string;
  amount: number;
  description?: string | null | undefined;
  transactionId?: string | undefined;
  merchantRef?: string | undefined;
}

/** What a callback says of a record, and what the service has. */
export interface Looked {
  statement: Statement;
  kind: Resource | undefined;
  record: ServiceRecord | undefined;
}

/** A record that the service has, and its kind. */
export type Found = Looked & { kind: Resource; record: ServiceRecord };

/** What whoever waits for a callback knows by himself. */
export interface Expected {
  amountPaisa?: Paisa | undefined;
  reference?: string | undefined;
}

interface Judgement {
  verdict: Verdict;
  /** Why it is not genuine, in one sentence. */
  because: string | null;
}

/** The worst that can be said of any of its records is what is said of it. */
export function judge(
  looked: Looked[],
  { isTwice, expected }: { isTwice: boolean; expected: Expected },
): Judgement {
  const found = looked.filter(isFound);
  const refunds = found.filter(({ kind }) => kind === "refund");
  // In a refund's callback, status and amount are the refund's, and not its payment's.
  const isOfRefund = ({ kind, statement }: Found) =>
    kind === "payment" && refunds.some(({ record }) => record.transactionId === statement.id);
  const judgements = found
    .filter((one) => !isOfRefund(one))
    .map((one) => judgeRecord(one, looked, expected));
  const forged = judgements.find(({ verdict }) => verdict === "forged");
  const contradicted = judgements.find(({ verdict }) => verdict === "contradicted");
  // A name without a kind may be anybody's: an event's own id, say.
  const isUnknown = ({ kind, record }: Looked) => !record && (kind || found.length === 0);
  const unknown = looked.find(isUnknown);
  if (forged) return forged;
  if (contradicted) return contradicted;
  if (isTwice)
    return { verdict: "contradicted", because: "It says something twice, in one place." };
  if (unknown)
    return { verdict: "unknown", because: `The service does not know ${unknown.statement.id}.` };
  return { verdict: "genuine", because: null };
}

function judgeRecord(one: Found, looked: Looked[], expected: Expected): Judgement {
  const { statement, record } = one;
  const { status, amount, description } = statement.claims;
  const isFalselyPaid = status.some((word) => meaningOf(word) === "Completed");
  if (isFalselyPaid && record.status !== "Completed") {
    const because = `It says Completed, and the service says ${record.status}.`;
    return { verdict: "forged", because };
  }
  const wrong = [
    ...(status.every((word) => meaningOf(word) === record.status) ? [] : ["the status"]),
    ...(amount.every((text) => isSameAmount(text, record)) ? [] : ["the amount"]),
    ...(isTold(description, record) ? [] : ["the description"]),
    ...(isOfItsPayment(one, looked) ? [] : ["the payment"]),
    ...(isExpectedAmount(expected, record) ? [] : ["the amount that you expect"]),
    ...(isExpectedReference(expected, record) ? [] : ["the reference that you expect"]),
  ];
  if (wrong.length === 0) return { verdict: "genuine", because: null };
  const because = `What the service has under ${statement.id} differs: ${wrong.join(", ")}.`;
  return { verdict: "contradicted", because };
}

/** Words that other services use for the documented ones; any other word is compared as it is. */
function meaningOf(word: string): string {
  const plain = word.toLowerCase();
  const meanings: [RegExp, Status][] = [
    [/^(?:completed?|success(?:ful)?|succeeded|paid)$/, "Completed"],
    [/^(?:cancell?ed|fail(?:ed|ure)|declined|expired)$/, "Cancelled"],
    [/^(?:processing|pending|initiated)$/, "Processing"],
  ];
  return meanings.find(([words]) => words.test(plain))?.[1] ?? word;
}

function isSameAmount(text: string, { amount }: ServiceRecord): boolean {
  const read = readAmount(text);
  return read.ok && read.value === paisaOf(amount);
}

/** What the service does not tell cannot be compared. */
function isTold(claimed: string[], { description }: ServiceRecord): boolean {
  return typeof description !== "string" || claimed.every((text) => text === description.trim());
}

function isOfItsPayment({ kind, record }: Found, looked: Looked[]): boolean {
  if (kind !== "refund") return true;
  const payments = looked.filter(({ statement }) => statement.kind === "payment");
  return (
    payments.length === 0 ||
    payments.every(({ statement }) => statement.id === record.transactionId)
  );
}

function isExpectedAmount({ amountPaisa }: Expected, { amount }: ServiceRecord): boolean {
  return amountPaisa === undefined || paisaOf(amount) === amountPaisa;
}

function isExpectedReference({ reference }: Expected, record: ServiceRecord): boolean {
  if (reference === undefined) return true;
  return [record.description, record.merchantRef].includes(reference);
}

export function isFound(one: Looked): one is Found {
  return one.record !== undefined;
}
