import { asciiDigits, err, ok, quoted, type Result } from "./result.ts";

/**
 * Money as whole paisa (1 taka = 100 paisa). A bigint, so that it can neither lose a digit nor
 * slip into JSON or into floating-point arithmetic unnoticed.
 */
export type Paisa = bigint;

const shape = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,2}))?$/;

/** Reads what a person types: decimal taka, at most two decimals, above zero, below 10^12. */
export function readAmount(text: string): Result<Paisa> {
  const parts = shape.exec(text);
  if (!parts) return err(`${quoted(text)} is not a valid amount. ${whatWasMeant(text)}`);
  const [, taka = "", paisa = ""] = parts;
  const amountPaisa = BigInt(taka + paisa.padEnd(2, "0"));
  return amountPaisa > 0n ? ok(amountPaisa) : err("The amount must be above zero.");
}

/**
 * The one text of an amount: what JSON prints for the number, and therefore also what is signed
 * (`1250.50` → `1250.5`, docs/api.md §5).
 */
export function amountText(amountPaisa: Paisa): string {
  const digits = String(amountPaisa).padStart(3, "0");
  const [taka, rest] = [digits.slice(0, -2), digits.slice(-2)];
  return rest === "00" ? taka : `${taka}.${rest.replace(/0$/, "")}`;
}

/** The same with a minus sign if it takes money from a balance. */
export function signedText(paisa: Paisa): string {
  return paisa < 0n ? `-${amountText(-paisa)}` : amountText(paisa);
}

/** Always with two decimals; also of a difference below zero. */
export function decimalText(amountPaisa: Paisa): string {
  const digits = String(amountPaisa < 0n ? -amountPaisa : amountPaisa).padStart(3, "0");
  return `${amountPaisa < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export function magnitude(paisa: Paisa): Paisa {
  return paisa < 0n ? -paisa : paisa;
}

/** The JSON number of an amount. Asserted, because the signature covers these characters. */
export function amountNumber(amountPaisa: Paisa): number {
  const text = amountText(amountPaisa);
  const number = Number(text);
  if (String(number) !== text) {
    throw new RangeError("an amount that JSON cannot carry exactly");
  }
  return number;
}

/** The paisa of a JSON number, or undefined when it is no exact amount (negative, three decimals, too large). */
export function paisaOf(number: number): Paisa | undefined {
  const parts = /^([0-9]+)(?:\.([0-9]{1,2}))?$/.exec(String(number));
  if (!parts || number >= 1e12) return undefined;
  const [, taka = "", paisa = ""] = parts;
  return BigInt(taka + paisa.padEnd(2, "0"));
}

const example = "Example: 1250.50.";
/** Some patterns below take quadratic time, and nothing longer is a mistyped amount. */
const longestMeant = 100;

/** The message for an invalid amount suggests what was probably meant; the amount is never corrected silently. */
function whatWasMeant(text: string): string {
  if (text.length > longestMeant) return example;
  const plain = asciiDigits(text)
    .replace(/^(?:৳|BDT|Tk\.?)\s*|\s*(?:৳|BDT|Tk\.?|taka)$/giu, "")
    .replace(/^([0-9]+),(?=[0-9]{1,2}$)/, "$1.") // 1250,50 is no 125050
    .replace(/[,\s\u00a0_']/gu, "")
    .replace(/^\+|^0+(?=[0-9])/g, "");
  if (/\p{Cf}/u.test(text))
    return "The text contains an invisible character. Type the amount again.";
  if (shape.test(plain) && plain !== text && /[1-9]/.test(plain)) return `Did you mean ${plain}?`;
  const scientific = /^([1-9])(?:\.([0-9]+))?e\+?([0-9]{1,2})$/i.exec(plain);
  if (scientific) {
    const [, first = "", decimals = "", exponent = ""] = scientific;
    const meant = `${first}${decimals}`.padEnd(Number(exponent) + 1, "0");
    if (decimals.length <= Number(exponent) && shape.test(meant)) return `Did you mean ${meant}?`;
  }
  if (/^-[0-9.]+$/.test(plain)) return `An amount cannot be negative. ${example}`;
  if (/^[0-9]+\.[0-9]{3,}$/.test(plain)) return `Use at most two decimals. ${example}`;
  if (/^[0-9]{13,}(?:\.|$)/.test(plain)) return "The amount must be below 1000000000000.";
  return example;
}
