import type { AccountType } from "../../api/contract/index.ts";
import { notOneOf, takes } from "../../cli/command/flag.ts";
import { err, ok, type Result } from "../../domain/result.ts";

const accountTypes = ["personal", "business"];

/** Reads `personal` and `business`, and the API's own values. */
export const readAccountType = takes(accountTypes, (typed): Result<AccountType> => {
  const word = typed.toLowerCase().replace(/_account$/, "");
  if (word === "personal") return ok("PERSONAL_ACCOUNT");
  return word === "business" ? ok("BUSINESS_ACCOUNT") : err(notOneOf(typed, accountTypes));
});
