import type { Taken } from "../../callbacks/handle.ts";
import { formatTime } from "../../contract/local-time.ts";
import type { View } from "../../ui/view.ts";
import { claimText, nameOf, verifiedText } from "./verdict.ts";

/** A callback and what came of it, as scripts get it: one document a line. */
export function eventOf({ callback, verdict, because, records, resolved }: Taken) {
  const { number, source, receivedAt, count, forwarded } = callback;
  return {
    event: "callback" as const,
    ...{ number, source, receivedAt, count },
    ...{ verdict, because, records, resolved, forwarded },
  };
}

export type CallbackEvent = ReturnType<typeof eventOf>;

/** The same on one line: the verdict, and what was claimed beside what is so. */
export function eventLine(event: CallbackEvent): View {
  const { number, source, receivedAt, verdict, because, records, resolved, forwarded } = event;
  const parts = [
    formatTime(receivedAt),
    `#${number}${source === "polled" ? " (polled)" : ""}`,
    verdict,
    ...records.map(
      (one) => `${nameOf(one)}: claims ${claimText(one)}; the service says ${verifiedText(one)}`,
    ),
    ...(because === null ? [] : [because]),
    ...resolved.map((id) => `${id} is certain now`),
    ...(forwarded ? [`passed on: ${forwarded.status ?? "no answer"}`] : []),
  ];
  return { kind: "line", id: String(number), text: parts.join("  ") };
}
