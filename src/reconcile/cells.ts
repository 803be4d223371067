import type { Paisa } from "../domain/amount.ts";
import { readMobile } from "../domain/mobile.ts";
import { isTaka } from "../domain/money.ts";
import { asciiDigits, err, ok, quoted, type Result } from "../domain/result.ts";
import { type Resource, type Status, statuses } from "../domain/statuses.ts";
import { whenClockShows } from "../domain/time-zone.ts";

/*
 * Reads the cells of a statement, as providers, banks and spreadsheets write them.
 */

/**
 * Reads an amount of a statement in paisa: `1,25,000.50`, `-500`, `(500.00)`, `BDT 500`, `৳৫০০`. Commas must group
 * digits: `1250,50` has more than one meaning.
 */
export function readMoney(cell: string): Result<Paisa> {
  const plain = asciiDigits(cell)
    .replace(/\u2212/g, "-")
    .replace(/\u00a0/g, " ")
    .trim();
  const bare = /^\((.*)\)$/.exec(plain)?.[1] ?? plain;
  const [, before = "", inner = "", digits = "", paisa = ""] =
    /^([+-]?) ?(?:BDT|Tk\.?|৳)? ?([+-]?)(\d[\d,]*)(?:\.(\d{1,2}))?(?: ?(?:BDT|Tk\.?|৳))?$/i.exec(
      bare,
    ) ?? [];
  const isGrouped = /^\d{1,15}$|^\d{1,3}(?:,\d{2,3})*,\d{3}$/.test(digits);
  const isSignedOnce = [before, inner, bare === plain ? "" : "-"].filter(Boolean).length < 2;
  if (!isGrouped || !isSignedOnce)
    return err(`${quoted(cell)} is not an amount. Examples: 1,25,000.50, -500, (500).`);
  const value = BigInt(digits.replaceAll(",", "") + paisa.padEnd(2, "0"));
  return ok(before === "-" || inner === "-" || bare !== plain ? -value : value);
}

export function magnitude(paisa: Paisa): Paisa {
  return paisa < 0n ? -paisa : paisa;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/** A date that begins with the day or the month. */
export const dayFirst = /^(\d{1,2})[-/. ](\d{1,2}|[a-z]{3})[a-z]*[-/. ,]+(\d{4})/i;
const isoDate =
  /^(\d{4}-\d\d-\d\d)(?:[T ,]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)? ?([ap]m)?(Z|[+-]\d\d:\d\d)?)?$/i;

/** Reads `2026-11-20 10:30:00`, `20/11/2026`, `20 Nov 2026 10:30 AM`: a day, a minute or a second. */
export function readDate(
  cell: string,
  zone: string,
  isMonthFirst = false,
): Result<{ fromMs: number; toMs: number }> {
  const two = (number: string | number) => String(number).padStart(2, "0");
  const iso = asciiDigits(cell)
    .replace(dayFirst, (_, first, second, year) => {
      const named = months.indexOf(second.toLowerCase()) + 1;
      const [day, month] = isMonthFirst && !named ? [second, first] : [first, second];
      return `${year}-${two(named || month)}-${two(day)}`;
    })
    .replace(/^(\d{4})\/(\d\d)\/(\d\d)/, "$1-$2-$3");
  const [, date = "", hour, minute = "00", second, half = "", offset] = isoDate.exec(iso) ?? [];
  const hours = half ? (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0) : Number(hour ?? 0);
  const ms = Date.parse(`${date}T${two(hours)}:${minute}:${second ?? "00"}${offset ?? "Z"}`);
  // Date.parse reads 30 February as 2 March.
  if (Number.isNaN(ms) || new Date(Date.parse(date)).toISOString().slice(0, 10) !== date)
    return err(`${quoted(cell)} is not a date. Examples: 2026-11-20 10:30, 20/11/2026.`);
  const lengthMs = hour === undefined ? 86_400_000 : second === undefined ? 60_000 : 1_000;
  const when = (shownMs: number) => (offset ? shownMs : whenClockShows(zone, shownMs));
  return ok({ fromMs: when(ms), toMs: when(ms + lengthMs) - 1 });
}

/** Whole texts: `Completed, then reversed` is none of them. */
const statusWords: Record<Status, RegExp> = {
  Completed:
    /^(?:complete|completed|success|successful|succeeded|paid|settled|done|processed)(?: successfully)?$/i,
  Cancelled: /^(?:cancell?ed|reversed|reversal|failed|failure|unsuccessful|declined)$/i,
  Processing: /^(?:processing|pending|in progress)$/i,
};

export function statusIn(text: string): Status | undefined {
  const word = text.replace(/^(?:payment|payout|transaction|transfer) |[.!]$/gi, "");
  return statuses.find((one) => statusWords[one].test(word));
}

const kindWords: [Resource | "fee", RegExp][] = [
  ["fee", /\b(?:fees?|charges?|commission)\b/i],
  ["refund", /refund/i],
  ["payout", /pay-?out|disburse|withdraw|cash ?out|send money|\bb2c\b/i],
  ["payment", /payment|collect|receive|cash ?in|sale/i],
];

export function kindIn(text: string): Resource | "fee" | undefined {
  return kindWords.find(([, words]) => words.test(text))?.[0];
}

/** A number with a currency, a direction or an end mark, or a short ID. */
const numberLike =
  /^(?:\p{L}{1,3}\.?|\p{Sc})? ?[-+\u2212(]?\d[\d,]*(?:\.\d+)?\)?(?: ?(?:\p{L}{1,4}\.?|\p{Sc}|\/[-=]))?$/u;

/** The value of a cell that is certainly not a heading. */
export function valueIn(cell: string): "mobile" | "date" | "number" | undefined {
  const plain = asciiDigits(cell);
  if (readMobile(plain).ok) return "mobile";
  if (readDate(plain, "UTC").ok || readDate(plain, "UTC", true).ok) return "date";
  return numberLike.test(plain) ? "number" : undefined;
}

export function hasDigit(cell: string): boolean {
  return /\d/.test(asciiDigits(cell));
}

/** True for `Ref 2`, `Address2`, `Amount (2026)`, `VAT 15%`, `Date (UTC+6)`, `B2C`; not for `BDT 50`, `INV-7`. */
export function isHeadingWithNumber(cell: string): boolean {
  const plain = asciiDigits(cell)
    .replace(/\b[a-z]2[a-z]\b/gi, "to")
    .replace(/\b(?:utc|gmt) ?[-+]\d{1,2}(?::?\d\d)?\b/i, "");
  if (!/\d/.test(plain)) return true;
  const [, words = ""] =
    /^(\D+?)[ _#]?(?:\d{1,2}|\(20[2-9]\d\)|\(?\d+(?:\.\d+)?%\)?)$/.exec(plain) ?? [];
  const isMoney = words
    .split(/[\s.:]+/)
    .some((word) => isTaka(word) || codes.has(word.toUpperCase()));
  return /^\p{L}[\p{L}\p{M}./_ ]{2,}$/u.test(words) && !isMoney && !directionIn(words);
}

/** Words of the lines above a table. One of an amount has other words, such as a reference or a name. */
const labels = new Set(
  `a ac acc account address amount and as at available balance branch by c client closing count credit credits currency
  current customer date debit debits download downloaded email for from generated holder id in ledger merchant mobile
  name no number of on opening page period phone print printed report since statement summary tel time title to total
  transactions type until wallet ঠিকানা তারিখ থেকে নং নম্বর নাম পর্যন্ত প্রারম্ভিক ব্যালেন্স মোট মোবাইল শাখা সমাপনী স্থিতি হিসাব`
    .normalize("NFC")
    .split(/\s+/),
);
const onlyNumber = /^\D{0,4}\d[\d\s.,'’]*\D{0,5}$/;

/** True if the filled cells are a title, or a label such as `Account No.`, `Period: …`, `Closing balance` with values. */
export function isAboutStatement(cells: string[]): boolean {
  const [first = "", ...others] = cells.map((cell) => asciiDigits(cell).normalize("NFC"));
  if (others.length === 0) return !onlyNumber.test(first) || /^\d{10,}$/.test(first);
  const words = first.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const isLabel = words.length > 0 && words.every((one) => labels.has(one)) && !directionIn(first);
  return isLabel || /^[^\d:]{3,}:/.test(first);
}

/** The directions of an amount. */
const directionWords = {
  out: /^(?:dr?|db|debit(?:ed|s)?|out|outgoing|outward|outflow|withdraw(?:n|als?)?|w\/?d|sent|minus|(?:money|paid)out|moneysent|-|ডেবিট|খরচ|উত্তোলন|প্রদান)$/,
  in: /^(?:cr?|credit(?:ed|s)?|in|incoming|inward|inflow|deposit(?:ed|s)?|dep|received|plus|(?:money|paid)in|moneyreceived|\+|ক্রেডিট|জমা|প্রাপ্তি)$/,
};
export type Direction = keyof typeof directionWords;

/** Reads `Dr`, `CR.`, `(C)`, `Debit`, `OUT`, `Deposit`, `+`, `জমা`: from the merchant's account, or to it. */
export function directionIn(text: string): Direction | undefined {
  const word = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[.()\s]/g, "")
    .replace(/^[\u2212\u2013]$/, "-");
  if (directionWords.out.test(word)) return "out";
  return directionWords.in.test(word) ? "in" : undefined;
}

/** Words that show a direction only together, or beside others. */
const directionPhrases = {
  out: /\b(?:w\/d|outgoing|outward|outflow|(?:money|cash|funds?|amount) sent|(?:sent|paid|transferred) to|(?:money|cash|funds?|paid|transfer|trf) out(?= *(?:$|[^\w ])))(?!\w)/i,
  in: /\b(?:c2b|incoming|inward|inflow|(?:money|cash|funds?|amount|payment) received(?! by)|(?:received|transferred) from|(?:money|cash|funds?|paid|transfer|trf) in(?= *(?:$|[^\w ])))(?!\w)/i,
};

/** The direction in `Credit Transfer` or `Withdrawal to bank`; undefined without one, or with both. */
export function directionAmong(text: string): Direction | undefined {
  const words = text.normalize("NFC").match(/[\p{L}\p{M}]+/gu) ?? [];
  const found = new Set(words.filter(isClearDirection).flatMap((word) => directionIn(word) ?? []));
  if (directionPhrases.out.test(text)) found.add("out");
  if (directionPhrases.in.test(text)) found.add("in");
  const [direction] = found;
  return found.size === 1 && !/card/i.test(text) ? direction : undefined;
}

/** Of the words of a text, `in` and `sent` may mean anything. */
function isClearDirection(word: string): boolean {
  return /^(?:dr|cr|debit|credit|withdraw|deposit|ডেবিট|ক্রেডিট|উত্তোলন|জমা)/i.test(word);
}

/**
 * What the words of a cell show of the direction: that of the amount; or a reversal, which is the opposite of what the
 * operation is. A refund is one unless the operation is a refund.
 */
export function wordsIn(text: string): Direction | "reversal" | "refund" | undefined {
  const plain = text.normalize("NFC");
  if (reversalWords.test(plain)) return "reversal";
  if (/\brefund|ফেরত/i.test(plain)) return "refund";
  return (text.length > 1 ? directionIn(text) : undefined) ?? directionAmong(plain);
}

const reversalWords =
  /\b(?:revers|return|bounce|charge ?back|cancel|fail|declin|reject|unsuccess)|\b(?:sent|paid|came|gave|given) back\b/i;

const besideDirections = /^(?:or|and|amount|flag|indicator|ind|mark|side|sign|type)$/;

/** True for `Dr/Cr`, `D/C`, `Debit or Credit`, `+/-`, `In/Out`, `Withdrawal / Deposit`, `জমা/উত্তোলন`. */
export function namesBothDirections(heading: string): boolean {
  const plain = heading.normalize("NFC").toLowerCase();
  const words = plain.match(/[\p{L}\p{M}]+/gu) ?? plain.match(/[-+\u2212]/g) ?? [];
  const named = words.filter((word) => !besideDirections.test(word));
  const directions = named.map(directionIn);
  // In `Debit in $`, no direction is in.
  const isPair = !named.includes("in") || named.includes("out");
  const hasBoth = directions.includes("out") && directions.includes("in");
  return (isPair && hasBoth && !directions.includes(undefined)) || /^w ?\/ ?d$/.test(plain);
}

/** Currency names, codes and signs, in any case and beside other words. */
const otherCurrencies =
  /\b(?:usd|eur|gbp|inr|pkr|aed|sar|qar|kwd|omr|bhd|myr|sgd|thb|cny|rmb|jpy|hkd|aud|cad|chf|dollars?|euros?|pounds?|rupees?|riyals?|dirhams?|ringgits?)\b|(?!৳)\p{Sc}/iu;
const codes = new Set(Intl.supportedValuesOf("currency"));

/** True for `BDT`, `USD`, `Tk`, `৳`. */
export function isCurrency(text: string): boolean {
  return isTaka(text) || codes.has(text.toUpperCase()) || /^(?:us)?\p{Sc}$/iu.test(text);
}

/** The currency of a cell if it is not BDT. */
export function otherCurrencyOf(cell: string): string | undefined {
  return cell === "" || isTaka(cell) ? undefined : cell;
}

/** The currency that the heading of a column has if it is not BDT: `Debit (USD)`, `Amount in $`. */
export function currencyOfHeading(heading: string): string | undefined {
  const inBrackets = /[([]\s*([a-z]{3})\s*[)\]]/i.exec(heading)?.[1] ?? "";
  if (codes.has(inBrackets.toUpperCase()) && !isTaka(inBrackets)) return inBrackets;
  return otherCurrencies.exec(heading)?.[0];
}
