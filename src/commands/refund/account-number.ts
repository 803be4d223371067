import type { Warning } from "../../cli/terminal/confirm.ts";
import { isAlmostMobile } from "../../domain/mobile.ts";

/**
 * The warnings about a refund's account number. The API accepts any text, so a number with a digit
 * missing would be sent as it is.
 */
export function accountNumberWarnings(accountNumber: unknown): Warning[] {
  if (typeof accountNumber !== "string" || !isAlmostMobile(accountNumber)) return [];
  return [
    {
      reason: "refund.account-number-length",
      message: `The account number "${accountNumber}" looks like a mobile number with a digit missing or added. A mobile number is 01XXXXXXXXX.`,
      question: `Send the refund to ${accountNumber} anyway?`,
    },
  ];
}
