import { readMobile } from "../domain/mobile.ts";
import { type Fields, Rejection } from "./checks.ts";

/** What happens to a payout, payment or refund of a number, like the card numbers for tests of card networks. */
type Outcome = "rejected" | "slow" | "cancelled";

const outcomes: Record<string, Outcome> = {
  "01955500001": "rejected",
  "01955500002": "slow",
  "01955500003": "cancelled",
};

/** The fields of a request that name a mobile number. */
const numberFields = ["recipientNumber", "accountNumber", "suggestedPayerNumber"];

/** How long a response about the slow number takes. */
const slowMs = 5_000;

/** Rejects a request that names the number that is always rejected. */
export function requireOtherNumber(body: Fields): void {
  if (outcomeOf(body) !== "rejected") return;
  const message = "This number is the sandbox's test number that is always rejected.";
  throw new Rejection(422, "NUMBER_REJECTED", message);
}

/** True if a record is Cancelled right after it was created. */
export function isAlwaysCancelled(body: Fields): boolean {
  return outcomeOf(body) === "cancelled";
}

/** How long the response to a request is delayed. */
export function delayOf(body: Fields): number {
  return outcomeOf(body) === "slow" ? slowMs : 0;
}

function outcomeOf(body: Fields): Outcome | undefined {
  for (const field of numberFields) {
    const number = readMobile(String(body[field] ?? ""));
    const outcome = number.ok ? outcomes[number.value.local] : undefined;
    if (outcome) return outcome;
  }
  return undefined;
}
