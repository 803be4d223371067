import type { Taken } from "../../callbacks/handle.ts";
import type { CheckedRecord } from "../../callbacks/verify.ts";
import type { View } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { forwardedOf } from "./kept.ts";
import { claimText, nameOf, verifiedText } from "./verdict.ts";

/** A callback and what came of it, as scripts get it: one document a line. */
export function eventOf({ callback, verdict, because, records, resolved }: Taken) {
  const { number, source, receivedAt, count } = callback;
  return {
    event: "callback" as const,
    ...{ number, source, receivedAt, count },
    ...{ verdict, because, records, resolved, forwarded: forwardedOf(callback) },
  };
}

export type CallbackEvent = ReturnType<typeof eventOf>;

/** The same on one line: the verdict, and what was claimed beside what is so. */
export function eventLine(event: CallbackEvent): View {
  const { number, source, receivedAt, verdict, because, records, resolved, forwarded } = event;
  const isWrong = verdict === "forged" || verdict === "mismatched";
  const parts = [
    formatTime(receivedAt),
    `#${number}${source === "polled" ? " (polled)" : ""}`,
    verdict,
    ...records.map((one) => recordText(one, isWrong)),
    ...(because === null || verdict === "forged" ? [] : [because]),
    ...resolved.map((id) => `${id} is certain now`),
    ...(forwarded ? [`passed on: ${forwarded.answer}`] : []),
  ];
  return { kind: "line", id: String(number), text: parts.join("  ") };
}

/** Where nothing is claimed wrongly, only what the service has is said. */
function recordText(one: CheckedRecord, isWrong: boolean): string {
  const { claimed, verified } = one;
  const isPlain = verified && (!isWrong || (claimed.status === null && claimed.amount === null));
  if (isPlain) return `${nameOf(one)}: ${verifiedText(one)}`;
  return `${nameOf(one)}: claims ${claimText(one)}; the service says ${verifiedText(one)}`;
}
