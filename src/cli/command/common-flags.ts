import { resolve } from "node:path";
import { readAmount } from "../../domain/amount.ts";
import { err, mapped, ok, quoted, type Result } from "../../domain/result.ts";
import { readUrl } from "../../domain/url.ts";
import { flag } from "./flag.ts";

/** Flags that several commands accept. */
export const amount = flag.required("--amount <bdt>", "Amount in BDT, such as 1250.50", readAmount);

/** `--method`, or `--method-id` for an ID that is sent as given. */
export const method = {
  method: flag.either("--method <method>", "Method ID, code or name", readText, {
    fallback: (settings) => settings.method?.value,
    unless: "methodId",
    names: "method",
  }),
  methodId: flag.optional(
    "--method-id <id>",
    "Method ID, sent without checking it, instead of --method",
    readText,
  ),
};

export const redirectUrl = flag.setting(
  "--redirect-url <url>",
  "URL the customer returns to after paying",
  readUrl,
  { fallback: (settings) => settings.redirectUrl?.value },
);

export const callbackUrl = flag.setting(
  "--callback-url <url>",
  "URL that receives callbacks (webhooks)",
  readUrl,
  { fallback: (settings) => settings.callbackUrl?.value },
);

export const note = flag.optional("--note <text>", "Your note, stored by the API", readText);

export const again = flag.toggle("--again", "Send even if lenden finds a duplicate", {
  needsPerson: "only a person accepts a duplicate",
});

/** Why an agent may not record an operation as not created. */
export const notCreatedNeedsPerson = "only a person can check the merchant dashboard";

export const accountNumberAsIs = flag.toggle(
  "--account-number-as-is",
  "Accept any account number, and send it as typed",
  { needsPerson: "only a person decides that an unusual number is right" },
);

/** How to log in to a ledger on PostgreSQL that the command line names. */
export const ledgerLoginFlags = {
  ledgerPasswordCommand: flag.optional(
    "--ledger-password-command <command>",
    "Program that prints the password of the PostgreSQL login",
    readText,
  ),
  ledgerCa: flag.optional(
    "--ledger-ca <file>",
    "CA certificate of the PostgreSQL server",
    (typed) => mapped(readText(typed), (path) => resolve(path)), // commands run in any directory
    "file",
  ),
};

export const exact = flag.toggle(
  "--exact",
  "Write CSV cells unchanged; a spreadsheet may run formulas in them",
);

/** A text that is not blank and contains nothing invisible, without spaces at its ends. */
export function readText(text: string): Result<string> {
  if (text.trim() === "") return err("The text is empty.");
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return err("The text contains control characters.");
  return reorders.test(text)
    ? err("The text contains invisible characters that change its order.")
    : ok(text.trim());
}

/** Bidirectional controls. The joiners U+200C and U+200D belong to Bangla words and are accepted. */
const reorders = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** A whole number of at least 1. */
export function readCount(most: number): (text: string) => Result<number> {
  return readWhole(most, 1);
}

export function readWhole(most: number, least = 0): (text: string) => Result<number> {
  return (text) =>
    /^(?:0|[1-9][0-9]{0,9})$/.test(text) && Number(text) >= least && Number(text) <= most
      ? ok(Number(text))
      : err(`${quoted(text)} is not a whole number from ${least} to ${most}.`);
}
