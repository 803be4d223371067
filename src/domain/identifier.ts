import { isAlmostMobile } from "./mobile.ts";
import { err, ok, quoted, type Result, withoutEnds } from "./result.ts";

/** Reads an id that becomes one segment of a path; what could lead elsewhere is refused. */
export function readIdentifier(text: string): Result<string> {
  if (/^[^\s/\\\p{C}]{1,256}$/u.test(text) && text !== "." && text !== "..") return ok(text);
  return err(
    `${quoted(text)} is not a valid ID. An ID is one word without slashes, for example TX8F3K2Q.`,
  );
}

/** Reads a refund's account number: sent as typed, trimmed; its exact format is not shown (docs/api.md §2). */
export function readAccountNumber(text: string): Result<string> {
  const trimmed = withoutEnds(text, " ");
  if (/[^0-9\P{Nd}]/u.test(trimmed))
    return err("Use ASCII digits for an account number, for example 01812345678.");
  if (trimmed === "") return err("The value is empty. Example: 01812345678.");
  if (placeIn(trimmed) !== undefined)
    return err(`${quoted(trimmed)} names an operation, and not an account. Example: 01812345678.`);
  if (/^[^\s\p{C}]{1,256}$/u.test(trimmed)) return ok(trimmed);
  return err(`${quoted(text)} has a space or a control character. Example: 01812345678.`);
}

/** What is wrong with an account number that is probably a mobile number; undefined of any other one. */
export function almostMobileProblem(accountNumber: string): string | undefined {
  if (!isAlmostMobile(accountNumber)) return undefined;
  return `${quoted(accountNumber)} looks like a mobile number with a digit missing or added. A mobile number is 01XXXXXXXXX.`;
}

/** Reads an account number that receives a refund. `asIs`: one that is probably a mobile number is accepted too. */
export function readRefundAccount(text: string, { asIs }: { asIs: boolean }): Result<string> {
  const reading = readAccountNumber(text);
  const problem = reading.ok && !asIs ? almostMobileProblem(reading.value) : undefined;
  return problem === undefined ? reading : err(`${problem} ${asIsAdvice}`);
}

const asIsAdvice = "If the number is right, add --account-number-as-is.";

/** Reads `@last`, `@2` and so on: 1 is the newest, 2 the one before it. Undefined of any other text. */
export function placeIn(text: string): number | undefined {
  const place = /^@(last|[1-9]\d{0,5})$/.exec(text)?.[1];
  if (place === undefined) return undefined;
  return place === "last" ? 1 : Number(place);
}

/** True for the form of the IDs that the ledger gives operations. No reference has it. */
export function isOperationId(text: string): boolean {
  return /^OP[0-9A-Z]{26}$/.test(text);
}
