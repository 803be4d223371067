import { formatAmount } from "../domain/money.ts";
import type { CheckedRecord, StoredCallback } from "../ledger/callback.ts";
import type { Handled } from "./handle.ts";

/** A callback of the ledger as scripts get it in a list: without its request. */
export function listed(callback: StoredCallback) {
  const { number, source, receivedAt, count, method, target, judged } = callback;
  const { verdict = null, explanation = null, records = [] } = judged ?? {};
  return {
    number,
    source,
    receivedAt,
    count,
    method,
    target,
    forwarded: forwardedOf(callback),
    verdict,
    explanation,
    records,
  };
}

export type ListedCallback = ReturnType<typeof listed>;

/** Where it was forwarded, and the response as a text; null if it was not forwarded. */
function forwardedOf({ forwarded, judged }: StoredCallback) {
  if (!forwarded) return null;
  const { to, status, fault, finding } = forwarded;
  if (finding === null) return { to, status, response: "not sent yet" };
  const isOld = finding !== judged?.finding;
  return {
    to,
    status,
    response: `${status ?? fault ?? "no response"}${isOld ? ", to an earlier verdict" : ""}`,
  };
}

/** A callback and its result, as scripts get it: one document a line. */
export function eventOf({ callback, verdict, explanation, records, resolved }: Handled) {
  const { number, source, receivedAt, count, forwarded } = listed(callback);
  const handled = { verdict, explanation, records, resolved, forwarded };
  return { event: "callback" as const, number, source, receivedAt, count, ...handled };
}

export type CallbackEvent = ReturnType<typeof eventOf>;

/** `payment TX8F3K2Q` */
export function nameOf({ kind, id }: CheckedRecord): string {
  return kind ? `${kind} ${id}` : id;
}

export function claimText({ claimed: { status, amount } }: CheckedRecord): string {
  return [status, amount].filter((one) => one !== null).join(", ") || "nothing";
}

export function verifiedText({ verified }: CheckedRecord): string {
  if (!verified) return "nothing: unknown ID";
  const { status, amount, description } = verified;
  return [status, formatAmount(amount), description].filter((one) => one !== null).join(", ");
}
