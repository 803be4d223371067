import type { Handled } from "../../callbacks/handle.ts";
import type { Checked, CheckedRecord } from "../../callbacks/verify.ts";
import { type Field, field, text, type View } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { formatAmount } from "../../domain/money.ts";
import type { StoredCallback } from "../../ledger/callback.ts";

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
  const { number, source, receivedAt, count } = callback;
  return {
    event: "callback" as const,
    number,
    source,
    receivedAt,
    count,
    verdict,
    explanation,
    records,
    resolved,
    forwarded: forwardedOf(callback),
  };
}

export type CallbackEvent = ReturnType<typeof eventOf>;

/** The same on one line: the verdict, the claim and the record. */
export function eventLine(event: CallbackEvent): View {
  const { number, source, receivedAt, verdict, explanation, records, resolved, forwarded } = event;
  const isWrong = verdict === "forged" || verdict === "mismatched";
  const parts = [
    formatTime(receivedAt),
    `#${number}${source === "polled" ? " (polled)" : ""}`,
    verdict,
    ...records.map((one) => recordText(one, isWrong)),
    ...(explanation === null || verdict === "forged" ? [] : [explanation]),
    ...resolved.map((id) => `resolved ${id}`),
    ...(forwarded ? [forwardedText(forwarded)] : []),
  ];
  return { kind: "line", id: String(number), text: parts.join("  ") };
}

/** A handler that could not be reached got nothing. */
function forwardedText({ status, response }: NonNullable<CallbackEvent["forwarded"]>): string {
  return `${status === null ? "not forwarded" : "forwarded"}: ${response}`;
}

/** Without a wrong claim, only the API's record is shown. */
function recordText(one: CheckedRecord, isWrong: boolean): string {
  const { claimed, verified } = one;
  const isPlain = verified && (!isWrong || (claimed.status === null && claimed.amount === null));
  if (isPlain) return `${nameOf(one)}: ${verifiedText(one)}`;
  return `${nameOf(one)}: claims ${claimText(one)}; the API returns ${verifiedText(one)}`;
}

/** The rows of a card with the claim and the record. */
export function verdictFields({
  verdict,
  explanation,
  records,
}: Omit<ListedCallback, "number"> | Checked): Field[] {
  return [
    field("verdict", "Verdict", text(verdict)),
    field("explanation", "Reason", text(explanation)),
    ...records.flatMap((record, index) => [
      field(`records.${index}.id`, "About", text(nameOf(record))),
      field(`records.${index}.claimed`, "Claimed", text(claimText(record))),
      field(`records.${index}.verified`, "Actual", text(verifiedText(record))),
    ]),
  ];
}

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

/** How a check ends for a script. */
export function endingOf({ verdict }: Checked): "unreachable" | "unverified" | undefined {
  if (verdict === "verified") return undefined;
  return verdict === "unchecked" ? "unreachable" : "unverified";
}
