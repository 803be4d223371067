import type { ServiceRecord } from "../api/contract/record.ts";
import { type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { sameMobile } from "../domain/mobile.ts";
import { formatAmount, formatPaisa } from "../domain/money.ts";
import { isLocalSandbox } from "../domain/url.ts";
import type { Operation } from "../ledger/operation.ts";
import type { World } from "./deps.ts";

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
 * One record is one operation's, with whatever API key (I10): a response that names another one's is not
 * about ours. A sandbox on this machine forgets, and gives its ids again.
 *
 * @throws Failure `uncertain` if another operation has the record
 */
export async function assertFree(
  operation: Pick<Operation, "kind" | "number" | "reference" | "id">,
  remoteId: string,
  world: Pick<World, "ledger" | "account">,
): Promise<void> {
  if (isLocalSandbox(world.account)) return;
  const other = await (await world.ledger()).ofRecord(operation.kind, remoteId);
  if (other && other.number !== operation.number) throw idTaken(operation, remoteId, other.id);
}

/** The failure of a response that names the record of another operation (I10). */
export function idTaken(
  { kind, reference, id }: Pick<Operation, "kind" | "reference" | "id">,
  remoteId: string,
  by: string,
): Failure {
  return new Failure(
    "uncertain",
    `The API's response for ${kind} ${reference ?? id} names ${remoteId}, which belongs to ${by}. Outcome unknown: money may have moved.`,
    {
      hint: reference
        ? `Run the same command again with --ref ${reference}: the API creates only one payout per reference.`
        : `Do not retry: this could create a second ${kind}. Check the dashboard, then run 'lenden ledger resolve ${id}' with --created <id> or --not-created.`,
      operation: reference ?? id,
      evidence: { otherId: remoteId },
    },
  );
}

/** What ends a CONFLICT. Another reference could pay the same recipient twice, so no hint names one. */
export function conflictHint(name: string, kind: Operation["kind"] = "payout"): string {
  return `Check the dashboard. If the ${kind} was created as requested, run 'lenden ledger resolve ${name} --created <id>'. If it was not created, run 'lenden ledger resolve ${name} --not-created'.`;
}

/** The failure of an answer that is about something else than was asked for (P15). */
export function anotherRecord(
  { kind, reference, id }: Pick<Operation, "kind" | "reference" | "id">,
  otherId: string,
  different: string[],
): Failure {
  const group = kind === "payment" ? "pay" : kind;
  const name = reference ?? id;
  return new Failure(
    "conflict",
    `The API's response for ${kind} ${name} shows another ${kind}, ${otherId}. Outcome unknown: money may have moved.`,
    {
      problems: different,
      hint: `To inspect it, run 'lenden ${group} get ${otherId}'. ${conflictHint(name, kind)}`,
      operation: name,
      evidence: { otherId },
    },
  );
}

function line(what: string, ours: string, theirs: string): string {
  return `${what}: asked ${ours}, the service has ${theirs || "none"}`;
}
