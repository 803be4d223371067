import { formatTime } from "../domain/local-time.ts";
import { isOfSameOrder } from "../domain/new-reference.ts";
import { isDiffering } from "../domain/state.ts";
import type { FoundOperation } from "../ledger/operation.ts";

const likeness: Partial<Record<FoundOperation["kind"], string>> = {
  payout: " of the same amount to this recipient",
  payment: " with the same values",
  refund: " of the same payment",
};

/**
 * What another login recorded of an earlier operation, without which this one would be rejected.
 *
 * @param by the reference of the payout that is to be sent
 */
export function describeDeclared(declared: FoundOperation, by: string | null): string {
  const { kind, id, reference, others } = declared;
  const isReplaced = reference !== by && isOfSameOrder(reference, by);
  const like = isReplaced ? `, which ${by} replaces,` : (likeness[kind] ?? "");
  const name = `${kind} ${reference ?? id}${like}`;
  return `${name} was recorded as ${outcomeText(declared)} by ${others?.login} on ${formatTime(others?.at ?? "")}`;
}

function outcomeText({ state, status, acceptedAt, others }: FoundOperation): string {
  if (others && isDiffering(others.without)) return "what was requested";
  if (state === "NOT_SENT") return "not created";
  if (state === "REFUSED") return "rejected";
  if (status === "Cancelled") return status;
  return `accepted on ${formatTime(acceptedAt ?? "")}`;
}

/** The warning about it, before the request is sent. */
export function declaredByOther(
  declared: FoundOperation,
  by: string | null,
): [message: string, reason: string] {
  const text = describeDeclared(declared, by);
  const message = `Possible duplicate: ${text}. To see its history, run 'lenden ledger show ${declared.id}'.`;
  return [message, `${declared.kind}.declared`];
}
