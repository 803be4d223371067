import { readWord } from "../../cli/command/common-flags.ts";
import { flag, oneOf } from "../../cli/command/flag.ts";
import { amountText, readAmount } from "../../domain/amount.ts";
import { environments } from "../../domain/api-keys.ts";
import { numberFormats } from "../../domain/mobile.ts";
import { accepted, type Reading, rejected } from "../../domain/reading.ts";
import { readUrl } from "../../domain/url.ts";

/** Reads a profile's name. No dots: they would become paths in the file. */
export function readProfileName(text: string): Reading<string> {
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(text)
    ? accepted(text)
    : rejected("A profile's name is 1 to 32 small letters, digits, - or _, for example shop.");
}

/** What a profile holds beside its secrets; `profile set` takes the same names. */
export const profileFlags = {
  environment: flag.optional(
    `--environment <${environments.join("|")}>`,
    "What the key must be for; taken from the key if left out",
    oneOf(environments),
  ),
  redirectUrl: flag.optional("--redirect-url <url>", "Where customers go after paying", readUrl),
  callbackUrl: flag.optional(
    "--callback-url <url>",
    "Where the service reports changes of status",
    readUrl,
  ),
  method: flag.optional("--method <code>", "The usual payment method", readWord, "method"),
  numberFormat: flag.optional(
    `--number-format <${numberFormats.join("|")}>`,
    "How mobile numbers are sent",
    oneOf(numberFormats),
  ),
  confirmAbove: flag.optional(
    "--confirm-above <bdt>",
    "Real money above this sum is sent when the sum is typed (10000, if left out)",
    readLimit,
  ),
};

/** Reads a sum, and keeps it as the text that a profile holds. */
function readLimit(text: string): Reading<string> {
  const reading = readAmount(text);
  return reading.ok ? accepted(amountText(reading.value)) : reading;
}
