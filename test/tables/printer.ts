import fc from "fast-check";
import type { Cell } from "../../src/tables/cell.ts";

/** A way in which programs and people write a value. */
export type Style<Value> = [name: string, print: (value: Value) => Cell];

function grouped(taka: string, first: RegExp, mark: string): string {
  return taka.replace(first, mark);
}

/** The parts of an amount without its sign. */
function partsOf(paisa: bigint) {
  const digits = String(paisa < 0n ? -paisa : paisa).padStart(3, "0");
  const [taka, decimals] = [digits.slice(0, -2), digits.slice(-2)];
  const head = taka.slice(0, -3).replace(/\B(?=(?:\d{2})+$)/g, ",");
  return {
    taka,
    decimals,
    minus: paisa < 0n ? "-" : "",
    plain: `${taka}.${decimals}`,
    lakh: `${taka.length > 3 ? `${head},` : ""}${taka.slice(-3)}.${decimals}`,
    western: `${grouped(taka, /\B(?=(?:\d{3})+$)/g, ",")}.${decimals}`,
  };
}

function inDigits(text: string, zero: number): string {
  return text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
}

type Parts = ReturnType<typeof partsOf>;

function signed(print: (parts: Parts) => string): (paisa: bigint) => string {
  return (paisa) => {
    const parts = partsOf(paisa);
    return `${parts.minus}${print(parts)}`;
  };
}

const swapped = (text: string) => text.replace(/[.,]/g, (one) => (one === "." ? "," : "."));
const float = (paisa: bigint, noise: number) => String((Number(paisa) / 100) * noise);

export const amountStyles: Style<bigint>[] = [
  ["plain", signed(({ plain }) => plain)],
  ["lakh", signed(({ lakh }) => lakh)],
  ["western", signed(({ western }) => western)],
  ["whole taka", signed(({ taka, decimals, western }) => (decimals === "00" ? taka : western))],
  ["sign of the taka", signed(({ lakh }) => `৳ ${lakh}`)],
  ["Tk.", signed(({ lakh }) => `Tk.${lakh}`)],
  ["BDT behind", signed(({ western }) => `${western} BDT`)],
  ["Taka only", signed(({ lakh }) => `${lakh} Taka only`)],
  ["/-", signed(({ lakh }) => `${lakh}/-`)],
  ["/=", signed(({ lakh }) => `Tk ${lakh}/=`)],
  ["no-break spaces", signed(({ western }) => western.replaceAll(",", "\u00a0"))],
  ["thin spaces", signed(({ lakh }) => lakh.replaceAll(",", "\u2009"))],
  ["Bengali digits", signed(({ lakh }) => `৳${inDigits(lakh, 0x09e6)}`)],
  ["full-width digits", signed(({ plain }) => inDigits(plain, 0xff10))],
  ["an apostrophe", (paisa) => `'${signed(({ plain }) => plain)(paisa)}`],
  ["a formula of a text", (paisa) => `="${signed(({ lakh }) => lakh)(paisa)}"`],
  ["brackets", (paisa) => (paisa < 0n ? `(${partsOf(paisa).lakh})` : partsOf(paisa).lakh)],
  ["a trailing minus", (paisa) => `${partsOf(paisa).lakh}${partsOf(paisa).minus}`],
  ["a true minus", (paisa) => signed(({ plain }) => plain)(paisa).replace("-", "\u2212")],
  ["an en dash", (paisa) => signed(({ lakh }) => lakh)(paisa).replace("-", "–")],
  ["Dr and Cr", (paisa) => `${partsOf(paisa).lakh} ${paisa < 0n ? "Dr" : "Cr."}`],
  ["no zero before the point", signed(({ plain }) => plain.replace(/^0\./, "."))],
  ["four decimals", signed(({ plain }) => `${plain}00`)],
  ["three decimals", signed(({ plain }) => `${plain}0`)],
  ["three decimals in groups", signed(({ western }) => `${western}0`)],
  ["comma decimals", signed(({ plain }) => swapped(plain))],
  ["comma decimals in groups", signed(({ western }) => swapped(western))],
  ["comma decimals in spaces", signed(({ western }) => swapped(western.replaceAll(",", " ")))],
  [
    "points between thousands",
    signed(({ western, decimals }) => swapped(decimals === "00" ? western.slice(0, -3) : western)),
  ],
  ["a dash for zero", (paisa) => (paisa === 0n ? "-" : signed(({ lakh }) => lakh)(paisa))],
  ["a float", (paisa) => float(paisa, 1)],
  ["a computed float", (paisa) => float(paisa, 1 + Number.EPSILON)],
  ["a float with another error", (paisa) => String(((Number(paisa) / 100) * 1.1) / 1.1)],
  ["scientific", (paisa) => (Number(paisa) / 100).toExponential(4)],
  ["dollars", signed(({ western }) => `$${western}`)],
  ["a typed number", (paisa) => ({ kind: "number", text: signed(({ plain }) => plain)(paisa) })],
  ["a typed percentage", (paisa) => ({ kind: "number", text: String(paisa), unit: "%" })],
];

const english =
  "January February March April May June July August September October November December".split(
    " ",
  );
const bangla = "জানুয়ারি ফেব্রুয়ারি মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর".split(" ");
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** What a clock in Dhaka shows. */
function clockOf(ms: number) {
  const iso = new Date(ms + 6 * 3_600_000).toISOString();
  const [, y = "", m = "", d = "", hour = "", minute = "", second = ""] =
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/.exec(iso) ?? [];
  const half = Number(hour) < 12 ? "AM" : "PM";
  const name = english[Number(m) - 1] ?? "";
  const weekday = weekdays[new Date(ms + 6 * 3_600_000).getUTCDay()] ?? "";
  const clock12 = `${Number(hour) % 12 || 12}:${minute}:${second} ${half}`;
  const utc = new Date(ms).toISOString();
  return {
    ...{ y, m, d, hour, minute, second, half, name, weekday, clock12, utc },
    yy: y.slice(2),
  };
}

type Clock = ReturnType<typeof clockOf>;
const shows =
  (print: (clock: Clock) => string) =>
  (ms: number): string =>
    print(clockOf(ms));

/** Moments of whole seconds. Days are of the clock in Dhaka. */
export const dateStyles: Style<number>[] = [
  ["ISO day", shows(({ y, m, d }) => `${y}-${m}-${d}`)],
  [
    "ISO",
    shows(({ y, m, d, hour, minute, second }) => `${y}-${m}-${d}T${hour}:${minute}:${second}`),
  ],
  ["ISO UTC", shows(({ utc }) => utc)],
  [
    "ISO +06:00",
    shows(
      ({ y, m, d, hour, minute, second }) => `${y}-${m}-${d} ${hour}:${minute}:${second}+06:00`,
    ),
  ],
  ["basic", shows(({ y, m, d }) => `${y}${m}${d}`)],
  [
    "basic time",
    shows(({ y, m, d, hour, minute, second }) => `${y}${m}${d}T${hour}${minute}${second}`),
  ],
  [
    "RFC 2822",
    shows(
      ({ weekday, name, ...c }) =>
        `${weekday}, ${c.d} ${name.slice(0, 3)} ${c.y} ${c.hour}:${c.minute}:${c.second} +0600`,
    ),
  ],
  ["day first", shows(({ y, m, d }) => `${d}/${m}/${y}`)],
  ["day first, two digits", shows(({ yy, m, d }) => `${d}-${m}-${yy}`)],
  ["day first, short", shows(({ yy, m, d }) => `${Number(d)}.${Number(m)}.${yy}`)],
  ["day first, PM", shows(({ y, m, d, clock12 }) => `${d}/${m}/${y} ${clock12}`)],
  [
    "day first, points",
    shows(({ y, m, d, clock12 }) => `${d}/${m}/${y} ${clock12.replaceAll(":", ".")}`),
  ],
  ["month first", shows(({ y, m, d }) => `${m}/${d}/${y}`)],
  [
    "month first, two digits",
    shows(({ yy, m, d, clock12 }) => `${Number(m)}/${Number(d)}/${yy} ${clock12}`),
  ],
  ["year first, two digits", shows(({ yy, m, d }) => `${yy}/${m}/${d}`)],
  ["name", shows(({ y, d, name }) => `${d} ${name} ${y}`)],
  ["short name", shows(({ yy, d, name }) => `${d}-${name.slice(0, 3).toUpperCase()}-${yy}`)],
  ["name first", shows(({ y, d, name }) => `${name.slice(0, 3)} ${Number(d)}, ${y}`)],
  ["ordinal", shows(({ y, d, name }) => `${Number(d)}th ${name} ${y}`)],
  ["time first", shows(({ y, d, name, clock12 }) => `${clock12}, ${d} ${name} ${y}`)],
  ["Bangla", shows(({ y, m, d }) => inDigits(`${d} ${bangla[Number(m) - 1]} ${y}`, 0x09e6))],
  [
    "of a browser",
    shows(
      ({ weekday, name, ...c }) =>
        `${weekday} ${name.slice(0, 3)} ${c.d} ${c.y} ${c.hour}:${c.minute}:${c.second} GMT+0600 (Bangladesh Standard Time)`,
    ),
  ],
  [
    "a serial number",
    (ms) => ({
      kind: "number",
      text: String(25569 + Math.floor((ms + 6 * 3_600_000) / 86_400_000)),
    }),
  ],
  [
    "a typed date",
    (ms) => ({ kind: "date", text: new Date(ms + 6 * 3_600_000).toISOString().slice(0, 19) }),
  ],
];

/** Of a mobile number of eleven digits, or of an account number of Rocket. */
export const numberStyles: Style<string>[] = [
  ["plain", (digits) => digits],
  ["+88", (digits) => `+88${digits}`],
  ["88", (digits) => `88${digits}`],
  ["spaces", (digits) => `${digits.slice(0, 5)} ${digits.slice(5)}`],
  ["hyphens", (digits) => `+880-${digits.slice(1, 5)}-${digits.slice(5)}`],
  ["a lost zero", (digits) => digits.slice(1)],
  ["a typed number", (digits) => ({ kind: "number", text: digits.slice(1) })],
  ["a float", (digits) => `${digits.slice(1)}.0`],
  ["a float with 88", (digits) => `88${digits}.0`],
  ["scientific", (digits) => Number(`88${digits}`).toExponential(2).toUpperCase()],
  ["Bengali digits", (digits) => inDigits(digits, 0x09e6)],
  ["an apostrophe", (digits) => `'${digits}`],
  ["a digit lost", (digits) => digits.slice(0, -1)],
  ["a digit added", (digits) => `${digits}7`],
];

export const idStyles: Style<string>[] = [
  ["plain", (id) => id],
  ["a formula of a text", (id) => `="${id}"`],
  ["an apostrophe", (id) => `'${id}`],
  ["invisible marks", (id) => `\u200b${id}\ufeff `],
  ["a rounded number", (id) => (/^[1-9]\d*$/.test(id) ? Number(id).toExponential(5) : id)],
  [
    "a typed number",
    (id) => {
      const isNumber = /^[1-9]\d{0,17}$/.test(id);
      return isNumber ? { kind: "number", text: id.slice(0, 15).padEnd(id.length, "0") } : id;
    },
  ],
];

/** A column in one style, or in two. */
export function printed<Value>(value: fc.Arbitrary<Value>, styles: Style<Value>[]) {
  const style = fc.constantFrom(...styles);
  const cell = (one: Style<Value>, other: Style<Value>) =>
    fc.tuple(value, fc.constantFrom(one, one, other)).map(([meant, [name, print]]) => {
      return { meant, name, cell: print(meant) };
    });
  return fc
    .tuple(style, style, fc.boolean())
    .chain(([one, other, isMixed]) =>
      fc.array(cell(one, isMixed ? other : one), { minLength: 1, maxLength: 12 }),
    );
}
