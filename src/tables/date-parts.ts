import { plainNumber } from "./plain.ts";

/** A date as it is written. */
export interface DateParts {
  day: { year: number; month: number; date: number } | DayNumbers;
  /** From 0: Sunday. */
  weekday?: number | undefined;
  /** Since midnight, and how long the time that is written lasts. */
  time?: { ms: number; lengthMs: number } | undefined;
  /** Minutes ahead of UTC, or the name of a zone. */
  zone?: number | string | undefined;
}

/** Three numbers whose order the text alone does not show. */
export interface DayNumbers {
  text: string;
  numbers: [string, string, string];
}

const english = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const bangla = [
  ...["জানু", "ফেব", "মার্চ", "এপ্রি", "মে", "জুন", "জুলাই"],
  ...["(?:আগ|অগা)", "সেপ", "অক্টো", "নভে", "ডিসে"],
].map((one) => one.normalize("NFC"));
const monthName = `(?<month>(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])|(?:${bangla.join("|")})[\\p{L}\\p{M}]*)\\.?`;
const date = "(?<date>\\d{1,2})(?:st|nd|rd|th|শে|ই|লা|রা|ঠা)?";
const year = "(?<year>\\d{4}|'?\\d{2})(?![\\d:])(?!\\.\\d)";
const between = "[-/. ,]{0,3}";

/** Dates with a year of four digits first, or with the name of a month. */
const certainDays = [
  /^(?<year>\d{4})(?<mark>[-/.])(?<number>\d{1,2})\k<mark>(?<date>\d{1,2})(?!\d)/,
  /^(?<year>(?:19|20|21)\d\d)(?<number>\d\d)(?<date>\d\d)(?!\d)/,
  new RegExp(`^${date}${between}(?:of )?${monthName}${between}${year}`, "u"),
  new RegExp(`^${monthName}${between}${date}[ ,/-]{1,3}${year}`, "u"),
  new RegExp(`^(?<year>\\d{4})${between}${monthName}${between}${date}(?!\\d)`, "u"),
];
const numbers = /^(\d{1,2})[-/. ](\d{1,2})[-/. ,]{1,3}(\d{4}|\d{2})(?![\d:])/;

const weekdays = /^(sun|mon|tue|wed|thu|fri|sat)[a-z]*\.?[ ,]{1,3}/;
const clock =
  /^(?<hour>\d{1,2})(?:[:.](?<minute>\d\d)(?:[:.](?<second>\d\d)(?:[.,]\d{1,9})?)?)?(?: ?(?<half>[ap])\.?m\b\.?)?/;
const compactClock = /^(?<hour>\d\d)(?<minute>\d\d)(?<second>\d\d)?(?![\d:.])/;
const zones =
  /^ ?(?:(?<utc>z|utc|gmt)?(?: ?(?<sign>[-+])(?<hours>\d{2}|(?<=[tc].)\d)(?::?(?<minutes>[0-5]\d))?)?)(?:\[(?<name>[^\]]+)\])?$/;

/** Most dates of exports: the rest is for the others. */
const ordinary = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?$/;
const ordinaryNumbers =
  /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?: (\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])m)?)?$/i;
const longest = 100;

/** Splits a date; undefined if the text is none. Whether such a day exists is not examined. */
export function partsOfDate(cell: string): DateParts | "empty" | undefined {
  const [whole, y, m, d, hour, minute, second] = ordinary.exec(cell) ?? [];
  if (whole !== undefined && hour === undefined) return { day: dayOf(y, m, d) };
  if (whole !== undefined) {
    const time = timeOf(hour, minute, second, undefined);
    return time && { day: dayOf(y, m, d), time };
  }
  if (cell.length > longest) return undefined;
  const usual = ordinaryNumbers.exec(cell);
  if (usual) return partsOfNumbers(usual);
  const plain = plainNumber(cell).normalize("NFC");
  if (plain === "" || /^[-\u2014]$/.test(plain)) return "empty";
  const text = inUsualOrder(plain.toLowerCase());
  const weekday = weekdays.exec(text);
  const rest = text.slice(weekday?.[0].length ?? 0);
  const found = dayIn(rest);
  const timed = found && timeIn(rest.slice(found.length), plain);
  if (!timed) return undefined;
  const at = weekday && "sunmontuewedthufrisat".indexOf(weekday[1] ?? "") / 3;
  return { day: found.day, ...timed, ...(at === null ? {} : { weekday: at }) };
}

function partsOfNumbers(found: RegExpExecArray): DateParts | undefined {
  const [, first = "", mark = "", second = "", third = "", hour, minute, behind, half] = found;
  const text = [first, second, third].join(mark);
  const day: DayNumbers = { text, numbers: [first, second, third] };
  if (hour === undefined) return { day };
  const time = timeOf(hour, minute, behind, half?.toLowerCase());
  return time && { day, time };
}

/** With the time behind the date: `10:30 PM, 28 Nov 2026`, `Sat Nov 28 10:30:15 GMT+0600 2026`. */
function inUsualOrder(text: string): string {
  return text
    .replace(/ \([^)]*\)$/, "")
    .replace(/^((?:19|20|21)\d{6})(\d{6})(?!\d)/, "$1 $2")
    .replace(
      /^(\d{1,2}[:.]\d\d(?::\d\d)? ?[ap]\.?m\.?|\d{1,2}:\d\d(?::\d\d)?)[ ,]{1,3}(.+)$/,
      "$2 $1",
    )
    .replace(/^(.*[a-z] \d{1,2}) (\d\d:\d\d:\d\d)((?: [a-z]{3}\S*)?) (\d{4})$/, "$1 $4 $2$3");
}

function dayIn(text: string): { day: DateParts["day"]; length: number } | undefined {
  for (const pattern of certainDays) {
    const found = pattern.exec(text);
    if (!found) continue;
    const { year: written = "", month, number } = found.groups ?? {};
    const digits = written.replace("'", "");
    const day = dayOf(fullYear(digits), month ? monthOf(month) : number, found.groups?.date);
    return { day, length: found[0].length };
  }
  const found = numbers.exec(text);
  if (!found) return undefined;
  const [written, first = "", second = "", third = ""] = found;
  return { day: { text: written, numbers: [first, second, third] }, length: written.length };
}

/** Of two digits: 1970 to 2069. */
export function fullYear(digits: string): string {
  if (digits.length > 2) return digits;
  return `${digits < "70" ? 20 : 19}${digits}`;
}

function dayOf(year = "", month: string | number = 0, date = "") {
  return { year: Number(year), month: Number(month), date: Number(date) };
}

function monthOf(name: string): number {
  const at = english.indexOf(name.slice(0, 3));
  return 1 + (at >= 0 ? at : bangla.findIndex((one) => new RegExp(`^${one}`, "u").test(name)));
}

/** Undefined if the rest is no time. */
function timeIn(rest: string, cell: string): Pick<DateParts, "time" | "zone"> | undefined {
  const [, before = "", behind = ""] = /^((?:[ ,t]{1,3}(?:at )?(?=\d))?)(.*)$/.exec(rest) ?? [];
  if (before === "" && /^\d/.test(behind)) return undefined;
  const found = before === "" ? null : (compactClock.exec(behind) ?? clock.exec(behind));
  const zone = zones.exec(behind.slice(found?.[0].length ?? 0));
  if (!zone) return undefined;
  const { hour, minute, second, half } = found?.groups ?? {};
  const time = found ? timeOf(hour, minute, second, half) : undefined;
  if (Number(zone.groups?.hours ?? 0) > 14) return undefined;
  if (found && (!time || (minute === undefined && half === undefined))) return undefined;
  return { time, zone: zoneOf(zone.groups ?? {}, cell) };
}

function timeOf(
  hour = "",
  minute: string | undefined,
  second: string | undefined,
  half: string | undefined,
): DateParts["time"] {
  const [shown, minutes, seconds] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  if (shown > 23 || minutes > 59 || seconds > 59 || (half === "a" && shown > 12)) return undefined;
  const hours = half ? (shown % 12) + (half === "p" ? 12 : 0) : shown;
  const lengthMs = second !== undefined ? 1_000 : minute !== undefined ? 60_000 : 3_600_000;
  return { ms: ((hours * 60 + minutes) * 60 + seconds) * 1_000, lengthMs };
}

function zoneOf(
  { utc, sign, hours, minutes, name }: Record<string, string | undefined>,
  cell: string,
): DateParts["zone"] {
  if (sign) return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0));
  if (utc) return 0;
  // Names of zones have capitals.
  const at = name === undefined ? -1 : cell.toLowerCase().indexOf(`[${name}]`);
  return at < 0 ? undefined : cell.slice(at + 1, at + 1 + (name?.length ?? 0));
}
