import { asciiDigits, err, ok, quoted, type Result, withoutEnds } from "./result.ts";

/** How a mobile number is sent: docs/api.md §2 does not show the exact format. */
export const numberFormats = ["local", "e164", "as-is"] as const;
export type NumberFormat = (typeof numberFormats)[number];

/** A Bangladeshi mobile number: as it was typed, and as `01XXXXXXXXX`. */
export interface Mobile {
  typed: string;
  local: string;
  /** Sent as typed: of Rocket, all 12 digits (the mobile number and a check digit), or any other account number. */
  account?: string;
  /** True for a number that is neither a mobile number nor one of Rocket. */
  isOther?: boolean;
}

const example = "Example: 01712345678.";

/** Reads `01XXXXXXXXX`, `+8801…` or `8801…`, with spaces or hyphens between the digits. */
export function readMobile(text: string): Result<Mobile> {
  const typed = withoutEnds(text, " ");
  const digits = typed.replace(/[ -]/g, "");
  const match = /^(?:\+?88)?(01[0-9]{9})$/.exec(digits);
  if (match?.[1]) return ok({ typed, local: match[1] });
  return err(`${whatIsWrong(typed, digits)} ${example}`);
}

/** Reads the number of a recipient: a mobile number, or for Rocket also an account number of 12 digits. */
export function readRecipient(text: string, isRocket: boolean): Result<Mobile> {
  const account = accountIn(text);
  if (account === undefined) return readMobile(text);
  if (isRocket) return ok({ typed: account, local: account.slice(0, 11), account });
  return err(
    `The number ${quoted(withoutEnds(text, " "))} has 12 digits, as account numbers of Rocket have. Other methods need 11 digits. ${example}`,
  );
}

/**
 * Reads the number of a recipient that a person insists on: also one that is no mobile number. Such a number is sent as
 * typed, without spaces around it.
 */
export function readAnyRecipient(text: string, isRocket: boolean): Result<Mobile> {
  const reading = readRecipient(text, isRocket);
  const typed = withoutEnds(text, " ");
  const isOther = !reading.ok && /^\+?[0-9][0-9-]{2,31}$/.test(typed);
  return isOther ? ok({ typed, local: payeeOf(typed), account: typed, isOther }) : reading;
}

/** Other digits of that length, such as `88` and a short number, are none. */
function accountIn(text: string): string | undefined {
  const digits = text.replace(/[ -]/g, "");
  return isAccount(digits) ? digits : undefined;
}

/** True for the names and codes of Rocket, which is a service of DBBL. */
export function namesRocket(method: string): boolean {
  return /(?:^|[^a-z])(?:rocket|dbbl)(?:$|[^a-z])/i.test(method);
}

const wallets: [string, RegExp][] = [
  ["bkash", /bkash|বিকাশ/i],
  ["nagad", /nagad|নগদ/i],
  ["rocket", /rocket|dbbl|রকেট/i],
  ["upay", /upay/i],
];

/** The wallet that a heading or a method names; undefined if it names none, or more than one. */
export function walletIn(text: string): string | undefined {
  const [wallet, ...others] = wallets.filter(([, words]) => words.test(text.normalize("NFC")));
  return others.length > 0 ? undefined : wallet?.[0];
}

/**
 * True if a text that need not be a mobile number looks like one with a digit missing or added. It
 * may have a country code, or no leading zero.
 */
export function isAlmostMobile(text: string): boolean {
  const digits = text.replace(/-/g, "").replace(/^\+?88(?=0)/, "");
  return /^(?:01[0-9]{8}|01[0-9]{10}|1[0-9]{8,10})$/.test(digits);
}

/** The text that goes on the wire. A format has no place for a check digit. */
export function mobileText(mobile: Mobile, format: NumberFormat): string {
  if (mobile.account !== undefined) return mobile.account;
  if (format === "e164") return `+88${mobile.local}`;
  return format === "local" ? mobile.local : mobile.typed;
}

type Verdict = "same" | "different" | "unclear";

/**
 * Whether the API's text names our number. It may lack the check digit of Rocket, but not have another one. It may hide
 * some digits (`017*****678`): then those that it shows decide, if they are at least four.
 */
export function sameMobile(ours: string, theirs: string): Verdict {
  if (ours === theirs) return "same";
  const [one, other] = [readRecipient(ours, true), readRecipient(theirs, true)];
  if (!one.ok) return sameAccount(ours, theirs);
  const { local, account = local } = one.value;
  if (other.ok) {
    const [own, theirAccount] = [one.value.account, other.value.account];
    const isOther = own && theirAccount && own !== theirAccount;
    return local === other.value.local && !isOther ? "same" : "different";
  }
  const shown = theirs.replace(/[ -]/g, "").replace(/^\+?88(?=0)/, "");
  const isLong = shown.length >= local.length && shown.length <= account.length;
  return isLong ? sameShown(account, shown) : "unclear";
}

/** Compares an account number that is not a mobile number. One that has only more or fewer first digits proves nothing. */
function sameAccount(ours: string, theirs: string): Verdict {
  const [account, shown] = [ours.replace(/[ +-]/g, ""), theirs.replace(/[ +-]/g, "")];
  if (!/^\d+$/.test(account)) return "unclear";
  if (account === shown) return "same";
  if (shown.length === account.length) return sameShown(account, shown);
  const isPart = account.endsWith(shown) || shown.endsWith(account);
  return /^\d+$/.test(shown) && !isPart ? "different" : "unclear";
}

/** Compares the digits that a text of the same length shows. */
function sameShown(account: string, shown: string): Verdict {
  if (!/^[0-9*xX•#]+$/.test(shown) || digitsOf(shown).length < 4) return "unclear";
  const fits = [...shown].every((digit, index) => !/\d/.test(digit) || digit === account[index]);
  return fits ? "same" : "different";
}

/** The mobile numbers that a text contains as whole words, each once. */
export function mobilesIn(text: string): string[] {
  const found =
    text.match(/(?<![\p{L}\p{N}])(?:\+?88[ -]?)?01\d{3}[ -]?\d{6,7}(?![\p{L}\p{N}])/gu) ?? [];
  return [...new Set(found.map((one) => digitsOf(one).replace(/^88/, "")))];
}

/**
 * Identifies a recipient however the number is written, by its last eleven digits; without the check digit that
 * account numbers of Rocket have behind them.
 */
export function payeeOf(recipient: string): string {
  const digits = digitsOf(recipient);
  return isAccount(digits) ? digits.slice(0, 11) : digits.slice(-11);
}

/** The digits of a recipient that are sent, in whatever format: of an account number, all that were typed. */
export function numberOf(recipient: string): string {
  return digitsOf(recipient).replace(/^88(?=01[0-9]{9}$)/, "");
}

/** True if a reference that was used for one number may pay the other: all digits count, but for Rocket's check digit. */
export function isSameNumber(one: string, other: string): boolean {
  const compared = (recipient: string) => {
    const number = numberOf(recipient);
    return isAccount(number) ? number.slice(0, 11) : number;
  };
  return compared(one) === compared(other);
}

function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, "");
}

function isAccount(digits: string): boolean {
  return /^01[0-9]{10}$/.test(digits);
}

function whatIsWrong(typed: string, digits: string): string {
  const number = `The mobile number ${quoted(typed)}`;
  if (/^1[0-9]{9}$/.test(digits)) return `${number} has ten digits: a leading zero was lost.`;
  if (/^[0-9](?:\.[0-9]+)?e\+?[0-9]+$/i.test(digits)) {
    return `A spreadsheet rounded the mobile number (${quoted(typed)}).`;
  }
  if (/^['’]/.test(digits)) return "Remove the apostrophe before the mobile number.";
  if (/\p{Cf}/u.test(digits)) return "The mobile number contains an invisible character.";
  if (asciiDigits(digits) !== digits) return `${number} needs ASCII digits.`;
  return `${quoted(typed)} is not a mobile number. Use the form 01XXXXXXXXX.`;
}
