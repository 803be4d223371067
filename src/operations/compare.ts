import type { ServiceRecord } from "../api/contract/index.ts";
import { type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { scalarText } from "../domain/json.ts";
import { sameMobile } from "../domain/mobile.ts";
import { formatAmount, formatPaisa, isTaka } from "../domain/money.ts";
import { commandGroup } from "../domain/statuses.ts";
import { inCommand } from "../domain/text.ts";
import { isLocalSandbox } from "../domain/url.ts";
import type { Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "./deps.ts";
import { differingHint, resolveHint } from "./response-failure.ts";

/** The requested values that are compared; an absent one is not compared. */
export interface Asked {
  amountPaisa: Paisa | null;
  reference?: string | null | undefined;
  recipient?: string | undefined;
  /** The payment of a refund, and the account that receives it. */
  payment?: string | null | undefined;
  account?: string | undefined;
  accountType?: string | undefined;
}

/** The values from the API. A value that the response never has is absent; a missing one is empty. */
export interface Theirs {
  amount: number;
  reference?: string;
  recipient?: string;
  payment?: string;
  account?: string;
  accountType?: string;
  /** Documented nowhere; an API that names one must mean taka. */
  currency?: unknown;
}

/** Lines with the requested value and the API's value. */
export interface Compared {
  different: string[];
  /** Values that cannot be compared: they prove nothing. */
  unclear: string[];
}

/** Compares what was requested with what the API has (P15, P16). */
export function compared(asked: Asked, theirs: Theirs): Compared {
  const { amountPaisa, recipient } = asked;
  const found: Compared = { different: [], unclear: [] };
  if (amountPaisa !== null && paisaOf(theirs.amount) !== amountPaisa)
    found.different.push(line("amount", formatPaisa(amountPaisa), formatAmount(theirs.amount)));
  for (const field of ["reference", "payment"] as const) {
    const [ours, other] = [asked[field], theirs[field]];
    if (typeof ours === "string" && other !== undefined && other !== ours)
      found.different.push(line(field, ours, other));
  }
  const { currency } = theirs;
  if (typeof currency === "string" && currency !== "" && !isTaka(currency))
    found.different.push(line("currency", "BDT", currency));
  const { account, accountType } = asked;
  if (account !== undefined && theirs.account !== undefined) {
    const verdict = sameAccount(account, theirs.account);
    if (verdict !== "same") found[verdict].push(line("account", account, theirs.account));
  }
  if (accountType !== undefined && theirs.accountType !== undefined) {
    const verdict = theirs.accountType === "" ? "unclear" : "different";
    if (theirs.accountType !== accountType)
      found[verdict].push(line("account type", accountType, theirs.accountType));
  }
  if (recipient === undefined || theirs.recipient === undefined) return found;
  const verdict = sameMobile(recipient, theirs.recipient);
  if (verdict !== "same") found[verdict].push(line("recipient", recipient, theirs.recipient));
  return found;
}

/**
 * Whether the API's text names our account: any text, that is a mobile number or not. A missing text proves nothing,
 * nor does one with hidden characters.
 */
function sameAccount(ours: string, theirs: string): ReturnType<typeof sameMobile> {
  const verdict = sameMobile(ours, theirs);
  const isHidden = theirs === "" || /[*•#]/.test(theirs);
  return verdict === "unclear" && !isHidden ? "different" : verdict;
}

/** Compares an operation with a whole record, in every field that was requested and that the record must have. */
export function comparedRecord(
  { kind, amountPaisa, reference, target, asked }: Operation,
  record: ServiceRecord,
): Compared {
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const own: Asked = { amountPaisa, reference };
  if (kind === "payout") own.recipient = scalarText(asked.recipientNumber);
  if (kind === "refund") {
    own.payment = target;
    own.account = text(asked.accountNumber);
    own.accountType = text(asked.accountType);
  }
  return compared(own, {
    amount: record.amount,
    reference: record.merchantRef ?? "",
    recipient: record.recipientNumber ?? "",
    payment: record.transactionId ?? "",
    account: record.accountNumber ?? "",
    accountType: record.accountType ?? "",
    currency: record.currency,
  });
}

/**
 * A record belongs to one operation, whatever the API key (I10). Local sandboxes that are started one after
 * the other give out the same IDs, so they are not checked.
 *
 * @throws Failure `uncertain` if another operation has the record
 */
export async function assertFree(
  operation: Operation,
  remoteId: string,
  deps: Pick<OperationDeps, "ledger" | "account">,
): Promise<void> {
  if (isLocalSandbox(deps.account)) return;
  const holder = await (await deps.ledger()).recordHolder(operation.kind, remoteId);
  if (holder && holder !== operation.id) throw idTaken(operation, remoteId, holder);
}

/** The failure of a response that names the record of another operation (I10). */
export function idTaken(operation: Operation, remoteId: string, by: string): Failure {
  const { kind, reference, id } = operation;
  return new Failure(
    "record.id-used",
    `The API returned the ID ${remoteId} for ${kind} ${reference ?? id}, but that ID belongs to operation ${by}.`,
    {
      hint: reference
        ? resendHint(reference)
        : `Do not retry: the API could create a second ${kind}. ${resolveHint(id, kind, operation)}`,
      operation: reference ?? id,
      evidence: { otherId: remoteId },
    },
  );
}

/** How a payout of unknown outcome is resolved, as long as it may be sent again. */
export function resendHint(reference: string): string {
  return `Run 'lenden ledger resolve ${inCommand(reference)}', which sends the same reference again. The API creates one payout per reference.`;
}

/** P15: shows what differs. Another reference could pay the recipient twice, so no hint names one. */
export function differingPayout(
  reference: string,
  payoutId: string,
  problems: string[],
  account: OperationDeps["account"],
): Failure {
  return new Failure(
    "payout.response-differs",
    `The API has a different payout under reference ${reference}: ${payoutId}.`,
    {
      problems,
      hint: resolveHint(reference, "payout", account),
      operation: reference,
      evidence: { otherId: payoutId },
    },
  );
}

/** The failure of a response that differs from the request (P15). */
export function anotherRecord(operation: Operation, otherId: string, different: string[]): Failure {
  const { kind, reference, id } = operation;
  const name = reference ?? id;
  return new Failure(
    "record.differs",
    `The API's response for ${kind} ${name} shows another ${kind}, ${otherId}.`,
    {
      problems: different,
      hint: `To inspect it, run 'lenden ${commandGroup(kind)} get ${inCommand(otherId)}'. ${resolveHint(name, kind, operation)}`,
      operation: name,
      evidence: { otherId },
    },
  );
}

/**
 * The failure of a record that differs from what its operation requested, although the API confirmed the operation
 * earlier (I14): the record proves neither an amount nor a status.
 */
export function differingRecord(
  operation: Operation,
  { status }: Pick<ServiceRecord, "status">,
  different: string[],
): Failure {
  return recordFailure(operation, `(${status}) differs from what was requested`, different);
}

/** The failure of a record that differed before, and that hides or lacks a value now: it proves nothing (I14). */
export function unprovedRecord(
  operation: Operation,
  { status }: Pick<ServiceRecord, "status">,
  unclear: string[],
): Failure {
  const what = `(${status}) differed from what was requested, and does not show that it agrees now`;
  return recordFailure(operation, what, unclear);
}

function recordFailure(operation: Operation, what: string, problems: string[]): Failure {
  const { kind, id, reference } = operation;
  const remoteId = operation.remoteId ?? "";
  const name = reference === null || reference === remoteId ? "" : `${reference}, `;
  return new Failure("record.differs", `The API's record of ${kind} ${name}${remoteId} ${what}.`, {
    problems,
    hint: differingHint(operation),
    operation: reference ?? remoteId ?? id,
  });
}

function line(what: string, ours: string, theirs: string): string {
  return `${what}: requested ${ours}, the API has ${theirs || "none"}`;
}
