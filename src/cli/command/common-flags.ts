import { readAmount } from "../../domain/amount.ts";
import { accepted, type Reading, rejected } from "../../domain/reading.ts";
import { readUrl } from "../../domain/url.ts";
import { flag } from "./flag.ts";

/** Flags that several commands take, each declared once. */
export const amount = flag.required(
  "--amount <bdt>",
  "The amount in taka, for example 1250.50",
  readAmount,
);

/** `--method`, or `--method-id` for an id that is to be sent as it is. */
export const method = {
  method: flag.either(
    "--method <id|code|name>",
    "The payment method, as 'lenden methods' shows it; a profile can hold it",
    readWord,
    { fallback: (settings) => settings.method?.value, unless: "methodId", names: "method" },
  ),
  methodId: flag.optional(
    "--method-id <id>",
    "The method's id, sent without looking it up",
    readWord,
  ),
};

export const redirectUrl = flag.setting(
  "--redirect-url <url>",
  "Where the customer goes after paying; a profile can hold it",
  readUrl,
  (settings) => settings.redirectUrl?.value,
);

export const callbackUrl = flag.setting(
  "--callback-url <url>",
  "Where the service reports changes of status; a profile can hold it",
  readUrl,
  (settings) => settings.callbackUrl?.value,
);

export const note = flag.optional("--note <text>", "A note, kept with it", readText);

export const again = flag.toggle("--again", "Send it even if the ledger already has the same one");

/** For commands that write CSV which a program reads. */
export const exact = flag.toggle(
  "--exact",
  "Write CSV cells unchanged; a spreadsheet may run them as formulas",
);

/** Any text that is not blank, and in which nothing hides that would be read otherwise than it is. */
export function readText(text: string): Reading<string> {
  if (text.trim() === "") return rejected("This is empty.");
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return rejected("This holds control characters.");
  return reorders.test(text)
    ? rejected("This holds invisible characters that change the order of what is read.")
    : accepted(text);
}

/** Bidirectional controls. The joiners U+200C and U+200D belong to Bangla words, and stay. */
const reorders = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** A text on one line, without spaces at its ends. */
export function readWord(text: string): Reading<string> {
  const read = readText(text);
  return read.ok ? accepted(read.value.trim()) : read;
}

/** A whole number from 1 on. */
export function readCount(most: number): (text: string) => Reading<number> {
  return (text) =>
    /^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= most
      ? accepted(Number(text))
      : rejected(`This is not a whole number from 1 to ${most}.`);
}

/** A whole number from 0 on. */
export function readWhole(most: number): (text: string) => Reading<number> {
  return (text) =>
    /^[0-9]{1,10}$/.test(text) && Number(text) <= most
      ? accepted(Number(text))
      : rejected(`This is not a whole number from 0 to ${most}.`);
}

/** Reads `@last`, `@2` and so on: 1 is the newest, 2 the one before it. Undefined of any other text. */
export function placeIn(text: string): number | undefined {
  const place = /^@(last|[1-9]\d{0,5})$/.exec(text)?.[1];
  if (place === undefined) return undefined;
  return place === "last" ? 1 : Number(place);
}
