import { type Paisa, paisaOf } from "../contract/amount.ts";
import { sameMobile } from "../contract/mobile.ts";
import { formatAmount, formatPaisa } from "../contract/money.ts";
import type { ServiceRecord } from "../contract/record.ts";
import { isLoopback } from "../contract/url.ts";
import { Failure } from "../failure.ts";
import type { Operation } from "../ledger/operation.ts";
import type { World } from "./world.ts";

/** What decides who gets how much, as it was asked for. What was not, is not compared. */
export interface Asked {
  amountPaisa: Paisa | null;
  reference?: string | null | undefined;
  recipient?: string | undefined;
  /** The payment that a refund pays back, and the account to which. */
  payment?: string | null | undefined;
  account?: string | undefined;
}

/** The same as the service has it. What its answer never tells is left out; what it lacks is empty. */
export interface Theirs {
  amount: number;
  reference?: string;
  recipient?: string;
  payment?: string;
  account?: string;
}

/** Lines that say what was asked for, and what the service has. */
export interface Compared {
  different: string[];
  /** What is shown in a way that cannot be compared: it proves nothing. */
  unclear: string[];
}

/** Whether what the service has is what was asked for (P15, P16). */
export function compared(asked: Asked, theirs: Theirs): Compared {
  const { amountPaisa, recipient } = asked;
  const found: Compared = { different: [], unclear: [] };
  if (amountPaisa !== null && paisaOf(theirs.amount) !== amountPaisa)
    found.different.push(line("amount", formatPaisa(amountPaisa), formatAmount(theirs.amount)));
  for (const field of ["reference", "payment", "account"] as const) {
    const [ours, other] = [asked[field], theirs[field]];
    if (typeof ours === "string" && other !== undefined && other !== ours)
      found.different.push(line(field, ours, other));
  }
  if (recipient === undefined || theirs.recipient === undefined) return found;
  const verdict = sameMobile(recipient, theirs.recipient);
  if (verdict !== "same") found[verdict].push(line("recipient", recipient, theirs.recipient));
  return found;
}

/** The same of an operation and a whole record: what the record lacks was not asked for so. */
export function comparedRecord(
  { kind, amountPaisa, reference, target, asked }: Operation,
  record: ServiceRecord,
): Compared {
  const own: Asked = { amountPaisa, reference };
  if (kind === "payout") own.recipient = String(asked.recipientNumber);
  if (kind === "refund") {
    own.payment = target;
    own.account = String(asked.accountNumber);
  }
  return compared(own, {
    amount: record.amount,
    reference: record.merchantRef ?? "",
    recipient: record.recipientNumber ?? "",
    payment: record.transactionId ?? "",
    account: record.accountNumber ?? "",
  });
}

/**
 * One record is one operation's: an answer that names another one's is not about ours. A sandbox on this
 * machine forgets, and gives its ids anew.
 */
export async function takenBefore(
  { kind, number }: Pick<Operation, "kind" | "number">,
  remoteId: string,
  world: Pick<World, "ledger" | "account">,
): Promise<string[]> {
  const { baseUrl, environment } = world.account;
  if (environment === "sandbox" && isLoopback(new URL(baseUrl))) return [];
  const other = (await world.ledger()).ofRecord(kind, remoteId);
  return other && other.number !== number ? [`${remoteId} belongs to ${other.id} already`] : [];
}

/** The failure of an answer that is about something else than was asked for (P15). */
export function anotherRecord(
  { kind, reference, id }: Pick<Operation, "kind" | "reference" | "id">,
  otherId: string,
  different: string[],
): Failure {
  const group = kind === "payment" ? "pay" : kind;
  return new Failure("conflict", `The service answered with another ${kind}, ${otherId}.`, {
    problems: different,
    hint: `Look at it with 'lenden ${group} get ${otherId}' and in the dashboard before anything else is sent.`,
    operation: reference ?? id,
    evidence: { otherId },
  });
}

function line(what: string, ours: string, theirs: string): string {
  return `${what}: asked ${ours}, the service has ${theirs || "none"}`;
}
