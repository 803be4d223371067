import type { RawOutcome } from "../cli/command/context.ts";
import { Failure } from "../domain/failure.ts";
import { toleratedClockMs } from "../domain/timestamp.ts";
import { isLoopback } from "../domain/url.ts";
import { failed, passed, skipped, type Verdict, warning } from "./finding.ts";
import type { Patient } from "./patient.ts";

/** What the service said to a question that changes nothing, and how far its clock is ahead. */
export interface Answered {
  answer: RawOutcome["answer"];
  clockAheadMs: number | undefined;
}

const patienceMs = 5_000;

/** Asks for the payment methods, with the key, once. */
export async function askService({ raw, host }: Patient): Promise<Answered> {
  const over = new AbortController();
  const tooLong = host.sleep(patienceMs, over.signal).then(() => {
    throw new Failure("unreachable", `The service gave no answer in ${patienceMs / 1000} s.`, {
      hint: "Try again; if it stays so, ask the service's support.",
    });
  });
  const beforeMs = host.now();
  const call = raw({ method: "GET", path: "/payment/methods", body: undefined });
  const { answer, headers } = await Promise.race([call, tooLong]).finally(() => over.abort());
  const dateMs = Date.parse(String(headers.date));
  const nowMs = (beforeMs + host.now()) / 2;
  return { answer, clockAheadMs: Number.isNaN(dateMs) ? undefined : dateMs - nowMs };
}

/** Whether the key is accepted. */
export function accessOf({ answer }: Answered): Verdict {
  if (answer.kind === "data") return accepted(answer.data);
  const status = answer.status === undefined ? "" : ` (${answer.status})`;
  const said = answer.complaint.message ? `: ${answer.complaint.message}` : "";
  if (answer.kind === "refused" && answer.why === "access") {
    return failed(
      `The service refused the key${status}${said}`,
      "Compare the key with the dashboard's, Settings → Development Info. There, too, this machine's IP address must be on the whitelist before payouts go out.",
    );
  }
  return failed(
    `The service's answer is not usable${status}: ${answer.why}${said}`,
    "Check the base URL and its path; if it is right, ask the service's support.",
  );
}

function accepted(data: unknown): Verdict {
  const count = Array.isArray(data) ? data.length : 0;
  return count > 0
    ? passed(`the key is accepted; ${count === 1 ? "1 method is" : `${count} methods are`} enabled`)
    : warning(
        "The key is accepted, but no payment method is enabled.",
        "Enable one in the merchant dashboard.",
      );
}

/** From here on a clock should be set right, before payouts fail. */
const doubtfulClockMs = 60_000;

export function clockOf({ clockAheadMs }: Answered): Verdict {
  if (clockAheadMs === undefined) return skipped("the answer has no Date");
  const offMs = Math.abs(clockAheadMs);
  const side = clockAheadMs > 0 ? "behind" : "ahead of";
  const says = `${Math.round(offMs / 1000)} s ${side} the service's`;
  const todo = "Set it right, best by NTP: with more than 4 minutes no payout is sent.";
  const sentence = `This machine's clock is ${says}.`;
  if (offMs > toleratedClockMs) return failed(sentence, todo);
  if (offMs > doubtfulClockMs) return warning(sentence, todo);
  // The answer's Date counts whole seconds.
  return passed(offMs <= 2_000 ? "the same as the service's" : says);
}

/** No answer shows who is on it (service.md §5), so that all there can be is a reminder. */
export function whitelistOf(url: URL): Verdict {
  if (isLoopback(url)) return skipped("a service on this machine takes payouts from it");
  return {
    ...skipped("whether payouts are taken from this machine's IP address, only a payout shows"),
    todo: "Put the address on the whitelist of the merchant dashboard, Settings → Development Info.",
  };
}
