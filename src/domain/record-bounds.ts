import { paisaOf } from "./amount.ts";
import { isTaka } from "./money.ts";
import { err, ok, quoted, type Result } from "./result.ts";
import { isStatus, type Resource, statuses } from "./statuses.ts";

/** What is stored of a record that lenden did not create. */
interface RecordValues {
  amount: number;
  status: string;
  merchantRef?: string | undefined;
  recipientNumber?: string | undefined;
  transactionId?: string | undefined;
  accountNumber?: string | null | undefined;
  currency?: unknown;
}

/** 256 characters that can be printed, and that are not only spaces. */
const printable = /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** Reads the reference of a payout that may have been created without lenden, such as one that begins with a hyphen. */
export function readRecordedReference(text: string): Result<string> {
  if (printable.test(text)) return ok(text);
  return err(`${quoted(text)} is not a reference of 1 to 256 printable characters.`);
}

/**
 * Why a record of the API is not adopted: a statement or a callback may name any record, and what is stored of it
 * counts in sums, guards and reports. Empty if the record may be adopted.
 */
export function outOfBounds(kind: Resource, id: string, record: RecordValues): string[] {
  const problems: string[] = [];
  const check = (isRight: boolean, field: string, value: unknown, rule: string) => {
    if (!isRight) problems.push(`${field} ${shown(value)} is not ${rule}`);
  };
  const checkText = (field: string, value: string | null | undefined) =>
    check(printable.test(value ?? ""), field, value ?? "", "1 to 256 printable characters");
  const { amount, status, merchantRef, recipientNumber, transactionId, accountNumber, currency } =
    record;
  const isAmount = (paisaOf(amount) ?? 0n) > 0n;
  check(isAmount, "amount", amount, "a positive amount with at most two decimals");
  check(isStatus(status), "status", status, statuses.join(", ").replace(/, (\w+)$/, " or $1"));
  const isOther = typeof currency === "string" && currency !== "" && !isTaka(currency);
  check(!isOther, "currency", currency, "BDT");
  checkText("ID", id);
  if (kind === "payout") checkText("reference", merchantRef);
  if (kind === "payout" && recipientNumber) checkText("recipient", recipientNumber);
  if (kind === "refund") checkText("payment", transactionId);
  if (kind === "refund" && accountNumber) checkText("account", accountNumber);
  return problems;
}

function shown(value: unknown): string {
  if (typeof value !== "string") return String(value);
  return quoted(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
