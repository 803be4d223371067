import { formatTime } from "../domain/local-time.ts";
import type { FoundOperation } from "../ledger/operation.ts";

const likeness: Partial<Record<FoundOperation["kind"], string>> = {
  payout: " of the same amount to this recipient",
  payment: " with the same values",
  refund: " of the same payment",
};

/** What another login recorded of an earlier operation, without which this one would be rejected. */
export function describeDeclared(declared: FoundOperation): string {
  const { kind, id, reference, others } = declared;
  const name = `${kind} ${reference ?? id}${likeness[kind] ?? ""}`;
  return `${name} was recorded as ${outcomeText(declared)} by ${others?.login} on ${formatTime(others?.at ?? "")}`;
}

function outcomeText({ state, status, acceptedAt }: FoundOperation): string {
  if (state === "NOT_SENT") return "not created";
  if (state === "REFUSED") return "rejected";
  if (status === "Cancelled") return status;
  return `accepted on ${formatTime(acceptedAt ?? "")}`;
}

/** The warning about it, before the request is sent. */
export function declaredByOther(declared: FoundOperation): [message: string, reason: string] {
  const text = describeDeclared(declared);
  const message = `Possible duplicate: ${text}. To see its history, run 'lenden ledger show ${declared.id}'.`;
  return [message, `${declared.kind}.declared`];
}
